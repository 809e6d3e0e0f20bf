"""The namespace backend: no helper binary, only system calls.

The supervisor forks init into new user, mount, PID, IPC, UTS, cgroup and (unless `network host`) network namespaces,
writes its id maps, and waits until the command's process says that it is complete. See `init` for what happens inside.
"""

import contextlib
import errno
import os
import select
import signal
import socket
import time
from typing import NamedTuple

from sbc_runtime import init, kernel_view, libc, messages, readback
from sbc_runtime.arch import native_arch
from sbc_runtime.backends.interface import ChildDescriptors, Ended, Readiness, Watch
from sbc_runtime.errors import SetupFailed
from sbc_runtime.job import Job
from sbc_runtime.mount_options import settable
from sbc_runtime.mounts import clone_sources
from sbc_runtime.outcome import Level, ReadBack, RunLoss
from sbc_runtime.prepared import Prepared
from sbc_runtime.rlimits import Rlimit, lowered, rlimits
from sbc_runtime.seccomp import init_filter

SETUP_SECONDS = 30.0
"""How long the set-up may take before it is given up."""

_NAMESPACES = libc.CLONE_NEWUSER | libc.CLONE_NEWNS | libc.CLONE_NEWPID | libc.CLONE_NEWIPC | libc.CLONE_NEWUTS
"""The cgroup namespace is left out: init unshares it once it has been put into the run's cgroup."""

OOM_SCORE = 500
"""oom_score_adj of the command, at least: when memory runs out, it goes before the rest of the machine."""

_REMEDIES = {
    errno.EPERM: "allow unprivileged user namespaces (`sbc doctor` says how), or run outside the container",
    errno.ENOSPC: "raise user.max_user_namespaces and its siblings (`sbc doctor` says which)",
    errno.EUSERS: "raise user.max_user_namespaces",
    errno.ENOSYS: "use a kernel with namespaces, or a container that lets clone3 through",
}


class NamespaceBackend:
    """Makes sandboxes out of namespaces."""

    name = "namespace"
    level: Level = "namespaces"

    def __init__(self, caller: tuple[tuple[int, int, int], ...] = ()) -> None:
        """`caller`: the caller's rlimits (resource, soft, hard), above which none can be set."""
        self._caller = caller

    def losses(self, prepared: Prepared) -> tuple[RunLoss, ...]:
        """Everything that a plan says is enforced; what no namespace can, `prepared.losses` says already."""
        return ()

    def start(self, prepared: Prepared, child: ChildDescriptors, watch: Watch) -> "NamespaceSandbox":
        """Make the sandbox up to the waiting command."""
        host = readback.own()
        try:
            trees = _sources(prepared) if prepared.ids.mapped_by_root else {}
        except OSError as error:
            raise SetupFailed.of("mounts", error, "run as root with CAP_SYS_ADMIN, or as an ordinary user") from None
        machine = os.uname()
        arch = native_arch(machine.machine)
        own_filter = None if arch is None else init_filter(arch)
        limits = lowered(rlimits(prepared, machine.release), self._caller)
        channel, inner = messages.pair()
        status, status_inner = os.pipe()
        start = init.Start(
            prepared,
            child,
            inner.fileno(),
            status_inner,
            watch.lifeline,
            trees,
            limits,
            _last_capability(),
            own_filter,
        )
        try:
            flags = _NAMESPACES | (libc.CLONE_NEWNET if prepared.network == "none" else 0)
            pid = libc.clone(flags)
        except OSError as error:
            channel.close()
            for one in (inner.detach(), status, status_inner, *trees.values()):
                os.close(one)
            raise SetupFailed.of("namespaces", error, _REMEDIES.get(error.errno or 0, "see `sbc doctor`")) from None
        if pid == 0:
            init.main(start)
        inner.close()
        for one in (status_inner, *trees.values()):
            os.close(one)
        sandbox = NamespaceSandbox(prepared, host, Made(pid, channel, status, limits, own_filter is not None))
        try:
            if watch.cgroup is not None:
                watch.cgroup.add(pid)
            sandbox.make_ready()
        except BaseException:
            sandbox.kill()
            sandbox.wait()
            raise
        return sandbox


class Made(NamedTuple):
    """What was made: init, the socket to it, the pipe with its one status, the command's limits."""

    pid: int
    channel: socket.socket
    status: int
    limits: tuple[Rlimit, ...]
    init_has_filter: bool


class NamespaceSandbox:
    """One sandbox made of namespaces."""

    def __init__(self, prepared: Prepared, host: readback.Own, made: Made) -> None:
        self._prepared = prepared
        self._host = host
        self._channel = made.channel
        self._limits = made.limits
        self._init_has_filter = made.init_has_filter
        self._open: list[int] = []
        self._reaped = False
        self._exec_errno = 0
        self._command_folder = -1
        self.init_pid = made.pid
        self.command_pid = 0
        self.status = made.status
        self.proc = -1
        self.shared_memory = -1
        self.terminal = -1

    def make_ready(self) -> None:
        """Map the ids, and wait until the command's process is complete; `SetupFailed` where it will never be."""
        _write_maps(self.init_pid, self._prepared)
        self._channel.send(b"m")
        until = time.monotonic() + SETUP_SECONDS
        self._channel.settimeout(SETUP_SECONDS)
        while self.command_pid == 0:
            try:
                message = messages.receive(self._channel)
            except TimeoutError:
                raise SetupFailed("start", f"the set-up took longer than {SETUP_SECONDS:.0f} s") from None
            if message is None:
                raise SetupFailed("start", "the sandbox's init ended before it was ready", "see `sbc doctor`")
            self._open += message.descriptors
            if message.word == "failed":
                raise messages.failure(message.content)
            if message.word == "terminal":
                self.terminal = message.descriptors[0]
            elif message.word == "shared memory":
                self.shared_memory = message.descriptors[0]
            elif message.word == "waits":
                self.command_pid = message.pid
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
            (self._command_folder, self._prepared.program is not None),
            (self._init_folder, self._init_has_filter),
        ]
        pause = 0.00005
        for process, has in wanted:
            while has and kernel_view.status(process).get("Seccomp_filters", 1) <= self._host.filters:
                if select.select([self._channel], [], [], pause)[0]:
                    message = messages.receive(self._channel)
                    if message is not None and message.word == "failed":
                        raise messages.failure(message.content)
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
        """Ask the kernel."""
        filters = 1 if self._init_has_filter else 0
        reader = readback.Reader(self._prepared, self._host, self._init_folder, self._command_folder, filters)
        return reader.read(self.command_pid, self._limits)

    def release(self) -> None:
        """Tell init to open the gate."""
        try:
            self._channel.send(b"g")
        except OSError as error:
            raise SetupFailed.of("start", error) from None

    def ended(self) -> Ended | None:
        """Read what init has told, and believe it only where the command's process is indeed gone."""
        told = os.read(self.status, init.STATUS.size)
        if len(told) != init.STATUS.size or not self._command_is_gone():
            return None
        self._channel.settimeout(1.0)
        with contextlib.suppress(OSError):
            while (message := messages.receive(self._channel)) is not None:
                if message.word == "not executed" and isinstance(message.content, int):
                    self._exec_errno = message.content
                elif message.word == "failed":
                    raise messages.failure(message.content)
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
            os.waitpid(self.init_pid, 0)
            self._reaped = True
        self._channel.close()
        for one in (self.status, *self._open):
            os.close(one)
        self._open = []


def backend(job: Job) -> NamespaceBackend:
    """Give the backend for a job."""
    return NamespaceBackend(job.caller.limits)


def readiness() -> Readiness:
    """Tell whether the namespaces can be made: makes them once, for nothing."""
    try:
        pid = libc.clone(_NAMESPACES | libc.CLONE_NEWCGROUP | libc.CLONE_NEWNET)
    except OSError as error:
        return Readiness(False, str(error.strerror), _REMEDIES.get(error.errno or 0, "see `sbc doctor`"))
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return Readiness(True, "", "")


def _sources(prepared: Prepared) -> dict[str, int]:
    root = os.open("/", os.O_PATH | os.O_CLOEXEC)
    can = settable(root)
    os.close(root)
    return clone_sources(prepared.mounts, prepared.host_root, options=can)


def _write_maps(pid: int, prepared: Prepared) -> None:
    ids = prepared.ids
    try:
        if not ids.mapped_by_root:
            # Without this an ordinary user may not map a group (user_namespaces(7)).
            _write(f"/proc/{pid}/setgroups", "deny")
        _write(f"/proc/{pid}/uid_map", f"{ids.user} {ids.host_user} 1")
        _write(f"/proc/{pid}/gid_map", f"{ids.group} {ids.host_group} 1")
    except OSError as error:
        remedy = "choose `host-user` and `host-group` that exist in the caller's own user namespace"
        raise SetupFailed.of("id maps", error, remedy) from None


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def _last_capability() -> int:
    with contextlib.suppress(OSError, ValueError), open("/proc/sys/kernel/cap_last_cap", "rb") as file:
        return int(file.read())
    return 40
