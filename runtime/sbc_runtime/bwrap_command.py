"""The process that becomes the command, while it is held at its execve(2)."""

import errno
import os
import resource
import sys
from struct import Struct

from sbc_runtime import bwrap_trace, kernel_view, readback
from sbc_runtime.bwrap_devices import forbid_running
from sbc_runtime.bwrap_start import MARK, environment
from sbc_runtime.classify import NOT_EXECUTABLE, NOT_FOUND
from sbc_runtime.errors import SetupFailed
from sbc_runtime.prepared import Prepared
from sbc_runtime.rlimits import Rlimit

ENDED = Struct("=ii")
"""What the keeper writes once: the command's status, as waitpid(2) gives it, and the errno of a failed execve(2)."""

OOM_SCORE = b"500"
"""oom_score_adj of the command: when memory runs out, it goes before the rest of the machine."""

_MISSING = frozenset({errno.ENOENT, errno.ENOTDIR})
_ENV_START, _ENV_END = 47, 48
"""Places in /proc/PID/stat, counted from the state (proc(5))."""


def code(told: bytes) -> int:
    """Read a status that the kernel put into a process's memory."""
    return int.from_bytes(told, sys.byteorder, signed=True)


class Command:
    """Steps one process from its fork to its exec.

    `at_exec`: it stands before its first execve(2). `inner`: its pid in the sandbox. `exec_status`, `exec_errno`: what
    is to be told where it could not be executed.
    """

    def __init__(self, pid: int, numbers: bwrap_trace.Numbers) -> None:
        self.pid = pid
        self.inner = 0
        self.at_exec = False
        self.exec_status = 0
        self.exec_errno = 0
        self._numbers = numbers
        self._entry: bwrap_trace.Entry | None = None
        self._tried = 0
        self._traced = True
        self._prepared: Prepared | None = None

    def step(self, number: int, event: int) -> bool:
        """Act on a stop; True: it could not be executed, and that is to be told."""
        if event == bwrap_trace.EVENT_EXEC:
            bwrap_trace.detach(self.pid)
            self._traced = False
            return False
        if event or number != bwrap_trace.SYSCALL_STOP:
            bwrap_trace.resume(self.pid, 0 if event else number, calls=True)
            return False
        seen = bwrap_trace.system_call(self.pid)
        if isinstance(seen, bwrap_trace.Entry):
            is_exec = seen.number == self._numbers.execve
            if is_exec and not self.at_exec:
                self.at_exec = True
                self._entry = seen
                return False  # held here until `go`
            if self.at_exec and not is_exec:
                # Bubblewrap has given up, and would complain on the command's own stderr.
                self.exec_errno = self._tried
                self.exec_status = (NOT_FOUND if self._tried in _MISSING else NOT_EXECUTABLE) << 8
                return True
        elif isinstance(seen, bwrap_trace.Exit) and self.at_exec and seen.result < 0:
            self._failed(-seen.result)
        bwrap_trace.resume(self.pid, calls=True)
        return False

    def _failed(self, number: int) -> None:
        """Keep the errno that tells best: what is there and may not be executed outranks what is not (execvp(3))."""
        if self._tried in {0, *_MISSING} or number not in _MISSING:
            self._tried = number

    def go(self) -> None:
        """Let the held process execute the command."""
        bwrap_trace.resume(self.pid, calls=True)

    def prepare(self, prepared: Prepared, limits: tuple[Rlimit, ...]) -> None:
        """Give the held process what bubblewrap cannot give: limits, its exact environment, no blocked signal."""
        self._prepared = prepared
        folder = kernel_view.folder(self.pid)
        try:
            self.inner = _inner_pid(kernel_view.content(folder, "status"))
            self._set_environment(folder, prepared)
            if prepared.terminal:
                bwrap_trace.unblock_signals(self.pid)
            _raise_oom_score(folder)
        except OSError as error:
            raise SetupFailed.of("environment", error) from None
        finally:
            os.close(folder)
        if prepared.devices != "none":
            forbid_running(self.pid)
        for one in limits:
            try:
                resource.prlimit(self.pid, one.resource, (one.soft, one.hard))
            except (OSError, ValueError) as error:
                raise SetupFailed("limits", str(error)) from None

    def _set_environment(self, folder: int, prepared: Prepared) -> None:
        """Point execve(2) at the variables as they were given, without their mark and without bubblewrap's own."""
        if self._entry is None:
            raise SetupFailed("environment", "the command is not at its exec")
        fields = kernel_view.content(folder, "stat").rpartition(b") ")[2].split()
        start, end = int(fields[_ENV_START]), int(fields[_ENV_END])
        memory = bwrap_trace.read_memory(self.pid, start, end - start)
        pointers: list[int] = []
        found: list[bytes] = []
        at = 0
        for one in memory.split(b"\0")[:-1]:
            # The first is PATH, where execvp(3) looks for the command.
            if at:
                pointers.append(start + at + len(MARK))
                found.append(one[len(MARK) :])
            at += len(one) + 1
        if found != environment(prepared):
            raise SetupFailed("environment", "bubblewrap did not pass it on")
        bwrap_trace.write_pointers(self.pid, self._entry.arguments[2], pointers)

    def filter_bytes(self) -> bool | None:
        """Tell whether the filters are those that were given: for uid 0 that no filter covers; else None."""
        if self._prepared is None or self._prepared.program is None or os.geteuid() != 0:
            return None
        try:
            return readback.are_loaded(self.pid, self._prepared)
        except OSError:
            return None


def _inner_pid(status: bytes) -> int:
    """Give the pid in the innermost namespace (`NSpid`, proc(5))."""
    line = next(line for line in status.splitlines() if line.startswith(b"NSpid:"))
    return int(line.split()[-1])


def _raise_oom_score(folder: int) -> None:
    descriptor = os.open("oom_score_adj", os.O_WRONLY | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.write(descriptor, OOM_SCORE)
    except PermissionError:
        return  # it is above that already, and may not be lowered
    finally:
        os.close(descriptor)
