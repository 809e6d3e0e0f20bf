"""A command that waits, runs or has ended as an ordinary process."""

import _socket as socket
import contextlib
import os
import resource
import select
import time

from sbc_runtime import kernel_view, messages
from sbc_runtime.backends import process_tree
from sbc_runtime.backends.interface import Cgroup, Ended
from sbc_runtime.backends.process_start import Start
from sbc_runtime.errors import SetupFailed
from sbc_runtime.init import STATUS
from sbc_runtime.outcome import Protections, ReadBack, State
from sbc_runtime.records import NamedTuple
from sbc_runtime.rlimits import Rlimit

SETUP_SECONDS = 30.0
"""How long the set-up may take before it is given up."""

_MODE_FILTER = 2

_LIMITS = {
    resource.RLIMIT_CPU: "Max cpu time",
    resource.RLIMIT_FSIZE: "Max file size",
    resource.RLIMIT_DATA: "Max data size",
    resource.RLIMIT_CORE: "Max core file size",
    resource.RLIMIT_NPROC: "Max processes",
    resource.RLIMIT_NOFILE: "Max open files",
    resource.RLIMIT_NICE: "Max nice priority",
    resource.RLIMIT_RTPRIO: "Max realtime priority",
}
"""What /proc/PID/limits calls them."""


class Held(NamedTuple):
    """What the supervisor holds of a run: the watcher, ends of pipes, the cgroup, and children that are none of it."""

    watcher: int
    channel: socket.socket
    status: int
    terminal: int
    cgroup: Cgroup | None
    spared: frozenset[int]


class ProcessSandbox:
    """A command that is not isolated, and its watcher. A `Sandbox`."""

    def __init__(self, start: Start, held: Held, filters: int) -> None:
        """`filters`: how many the calling process has, which the command inherits."""
        self._start = start
        self._held = held
        self._own_filters = (start.prepared.program is not None) + (start.sockets is not None)
        self._filters = filters + self._own_filters
        self._landlock: State = None
        self._reaped = False
        self._closed = False
        self.init_pid = held.watcher
        self.command_pid = 0
        self.status = held.status
        self.proc = -1
        self.system_v: tuple[int, ...] = ()
        self.terminal = held.terminal

    def make_ready(self) -> None:
        """Wait until the command's process is complete, and put it into the cgroup."""
        until = time.monotonic() + SETUP_SECONDS
        self._held.channel.settimeout(SETUP_SECONDS)
        while self.command_pid == 0:
            self._hear()
        if self._held.cgroup is not None:
            self._held.cgroup.add(self.command_pid)
        pause = 0.0001
        while self._status_field("Seccomp_filters", self._filters) < self._filters:
            if select.select([self._held.channel], [], [], pause)[0]:
                self._hear()
            elif time.monotonic() > until:
                raise SetupFailed("filter", "the filter was not loaded in time")

    def _hear(self) -> None:
        try:
            message = messages.receive(self._held.channel)
        except TimeoutError:
            raise SetupFailed("start", f"the set-up took longer than {SETUP_SECONDS:.0f} s") from None
        if message is None:
            raise SetupFailed("start", "the watcher ended before the command was ready")
        if message.word == "failed":
            raise messages.failure(message.told)
        if message.word == "landlock":
            self._landlock = messages.answer("".join(message.told))
        elif message.word == "waits":
            self.command_pid = message.pid

    def _status_field(self, name: str, absent: int) -> int:
        """Give a field of the command's status; kernels before 5.9 do not count filters."""
        process = kernel_view.folder(self.command_pid)
        try:
            return kernel_view.status(process).get(name, absent)
        finally:
            os.close(process)

    def read_back(self) -> ReadBack:
        """Ask the kernel for the little that it shows: there are no namespaces, mounts or roots to read."""
        found: dict[str, State] = {"landlock": self._landlock}
        wanted = self._own_filters > 0
        with contextlib.suppress(OSError):
            found["no_new_privs"] = self._status_field("NoNewPrivs", 0) == 1
            counted = self._status_field("Seccomp_filters", self._filters) == self._filters
            found["seccomp"] = wanted and counted and self._status_field("Seccomp", 0) == _MODE_FILTER
            sets = [self._status_field(name, 1) for name in kernel_view.CAPABILITY_SETS]
            found["capabilities"] = not any(sets)
        with contextlib.suppress(OSError):
            found["rlimits"] = all(one in self._limits_shown() for one in self._start.limits)
        expected = ["no_new_privs", "rlimits"]
        if wanted:
            expected.append("seccomp")
        if self._start.version:
            expected.append("landlock")
        return ReadBack(Protections(**found), tuple(expected), None, ())

    def _limits_shown(self) -> frozenset[Rlimit]:
        """Read /proc/PID/limits (proc_pid_limits(5)): prlimit(2) of another user's process needs a capability."""
        process = kernel_view.folder(self.command_pid)
        try:
            lines = kernel_view.content(process, "limits").decode().splitlines()
        finally:
            os.close(process)
        return frozenset(
            Rlimit(number, *(_amount(word) for word in line.removeprefix(name).split()[:2]))
            for number, name in _LIMITS.items()
            for line in lines
            if line.startswith(name)
        )

    def release(self) -> None:
        """Tell the watcher to open the gate."""
        try:
            self._held.channel.send(b"g")
        except OSError as error:
            raise SetupFailed.of("start", error) from None

    def ended(self) -> Ended | None:
        """Read what the watcher has told; None where it was killed."""
        told = os.read(self.status, STATUS.size)
        if len(told) != STATUS.size:
            return None
        number = 0
        self._held.channel.settimeout(0)
        with contextlib.suppress(OSError):
            while (message := messages.receive(self._held.channel)) is not None:
                if message.word == "failed":
                    raise messages.failure(message.told)
                if message.word == "not executed":
                    number = messages.number("".join(message.told))
        return Ended(STATUS.unpack(told)[0], number)

    def kill(self) -> None:
        """Kill what is in the cgroup, and all that is found by ancestry, the watcher too."""
        if self._closed:
            return
        if self._held.cgroup is not None:
            self._held.cgroup.kill()
        process_tree.kill_below(os.getpid(), self._held.spared)

    def wait(self) -> None:
        """Wait for the watcher, and end and reap what fell to this process."""
        if not self._reaped:
            os.waitpid(self.init_pid, 0)
            self._reaped = True
        process_tree.kill_below(os.getpid(), self._held.spared)
        process_tree.reap(self._held.spared)
        if not self._closed:
            self._closed = True
            self._held.channel.close()
            for one in (self.status, self.terminal):
                if one >= 0:
                    os.close(one)


def _amount(word: str) -> int:
    return resource.RLIM_INFINITY if word == "unlimited" else int(word)
