"""One sandbox of the namespace backend, from its orders to its end."""

import contextlib
import os
import select
import signal
import time

from sbc_runtime import init, kernel_view, messages, readback, sweep
from sbc_runtime.backends.interface import Ended
from sbc_runtime.command_filters import command_filters
from sbc_runtime.errors import SetupFailed
from sbc_runtime.mount_check import wanted
from sbc_runtime.nest import SETUP_SECONDS, Nest
from sbc_runtime.outcome import ReadBack
from sbc_runtime.prepared import Prepared
from sbc_runtime.rlimits import Rlimit

INIT_FILTERS = 1
"""How many filters init has: its own."""

OOM_SCORE = 500
"""oom_score_adj of the command, at least: when memory runs out, it goes before the rest of the machine."""


class NamespaceSandbox:
    """One sandbox made of namespaces."""

    def __init__(self, prepared: Prepared, made: Nest, limits: tuple[Rlimit, ...]) -> None:
        self._prepared = prepared
        self._nest = made
        self._limits = limits
        self._open: list[int] = []
        self._reaped = False
        self._exec_errno = 0
        self._command_folder = -1
        self.init_pid = made.init_pid
        self.command_pid = made.command_pid
        self.status = made.status
        self.proc = -1
        self.system_v = made.system_v
        self.terminal = -1

    def _make_ready(self) -> None:
        """Wait until the command's process is complete; `SetupFailed` where it will never be."""
        until = time.monotonic() + SETUP_SECONDS
        word = ""
        while word != "waits":
            message = self._nest.next(until)
            self._open += message.descriptors
            word = message.word
            if word == "terminal":
                self.terminal = message.descriptors[0]
        self._init_folder = self._kept(kernel_view.folder(self.init_pid))
        self._command_folder = self._kept(kernel_view.folder(self.command_pid))
        self._await_filters(until)
        with contextlib.suppress(OSError):
            self.proc = self._kept(
                os.open("root/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self._command_folder)
            )
        self._raise_oom_score()

    def _kept(self, descriptor: int) -> int:
        self._open.append(descriptor)
        return descriptor

    def _await_filters(self, until: float) -> None:
        """Wait until both processes have their filters: after that they only read and wait."""
        wanted = [
            (self._command_folder, len(command_filters(self._prepared))),
            (self._init_folder, INIT_FILTERS),
        ]
        pause = 0.00005
        for process, own in wanted:
            most = self._nest.host.filters + own
            while kernel_view.status(process).get("Seccomp_filters", most) < most:
                if select.select([self._nest.to_init, self._nest.to_command], [], [], pause)[0]:
                    self._nest.next(until)
                    raise SetupFailed("filter", "the sandbox ended before its filter was loaded")
                if time.monotonic() > until:
                    raise SetupFailed("filter", "the filter was not loaded in time")
                pause = min(pause * 2, 0.005)

    def _raise_oom_score(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            if int(kernel_view.content(self._command_folder, "oom_score_adj")) < OOM_SCORE:
                descriptor = os.open("oom_score_adj", os.O_WRONLY | os.O_CLOEXEC, dir_fd=self._command_folder)
                try:
                    os.write(descriptor, str(OOM_SCORE).encode())
                finally:
                    os.close(descriptor)

    def read_back(self) -> ReadBack:
        """Wait until the command's process is complete, `SetupFailed` where it will never be; then ask the kernel."""
        plan = wanted(self._prepared)
        self._make_ready()
        folders = (self._init_folder, self._command_folder)
        reader = readback.Reader(self._prepared, self._nest.host, *folders, INIT_FILTERS)
        reader.plan = plan
        return reader.read(self.command_pid, self._limits)

    def release(self) -> None:
        """Tell init to open the gate."""
        try:
            self._nest.to_init.send(b"g")
        except OSError as error:
            raise SetupFailed.of("start", error) from None

    def ended(self) -> Ended | None:
        """Read what init has told, and believe it only where the command's process is indeed gone."""
        told = os.read(self.status, init.STATUS.size)
        if len(told) != init.STATUS.size or not self._command_is_gone():
            return None
        self._nest.to_command.settimeout(1.0)
        with contextlib.suppress(OSError):
            while (message := messages.receive(self._nest.to_command)) is not None:
                if message.word == "not executed":
                    self._exec_errno = messages.number("".join(message.told))
                elif message.word == "failed":
                    raise messages.failure(message.told)
        return Ended(init.STATUS.unpack(told)[0], self._exec_errno)

    def _command_is_gone(self) -> bool:
        try:
            state = kernel_view.content(self._command_folder, "stat").rpartition(b")")[2].split()[0]
        except OSError:
            return True
        return state in {b"Z", b"X"}

    def kill(self) -> None:
        """Kill init: the kernel kills every other process of its PID namespace with it."""
        if not self._reaped:
            os.kill(self.init_pid, signal.SIGKILL)

    def wait(self) -> None:
        """Wait for init, which the kernel lets end last of all."""
        if not self._reaped:
            # Not reaped yet, so the pid is still its own.
            process = os.pidfd_open(self.init_pid)
            sweep.until_ended(process, self.proc)
            os.close(process)
            os.waitpid(self.init_pid, 0)
            self._reaped = True
            self._nest.close()
        for one in self._open:
            os.close(one)
        self._open = []
