"""Reads back from the kernel what holds for a command that waits, and compares it with the plan."""

import contextlib
import errno
import os
import resource

from sbc_runtime import kernel_view, libc
from sbc_runtime.command_filters import command_filters
from sbc_runtime.kernel_view import MountLine
from sbc_runtime.mount_check import Wanted, compare, not_mounted
from sbc_runtime.outcome import Protections, ReadBack, State
from sbc_runtime.prepared import Prepared
from sbc_runtime.records import NamedTuple
from sbc_runtime.rlimits import Rlimit

_FIELDS = {
    "user": "user_namespace",
    "mnt": "mount_namespace",
    "pid": "pid_namespace",
    "ipc": "ipc_namespace",
    "uts": "uts_namespace",
    "cgroup": "cgroup_namespace",
    "net": "network_namespace",
}
_SECCOMP_FILTER = 2
_PTRACE_SEIZE = 0x4206
_PTRACE_INTERRUPT = 0x4207
_PTRACE_DETACH = 17
_WALL = 0x40000000


class Own(NamedTuple):
    """What holds for the supervisor itself, to compare with: namespaces, and how many filters it already has."""

    namespaces: dict[str, str]
    filters: int


def own() -> Own:
    """Read what holds for the calling process."""
    process = kernel_view.folder(os.getpid())
    try:
        return Own(kernel_view.namespaces(process), kernel_view.status(process).get("Seccomp_filters", 0))
    finally:
        os.close(process)


def rehearse(prepared: Prepared) -> None:
    """Read back this very process, and throw the result away."""
    process = kernel_view.folder(os.getpid())
    try:
        # Without a program no process is traced.
        Reader(prepared._replace(program=None), own(), process, process, 0).read(os.getpid(), ())
    finally:
        os.close(process)


class Reader:
    """Reads back one sandbox; what fails to be read is None, and says why nowhere else."""

    def __init__(self, prepared: Prepared, host: Own, init: int, command: int, init_filters: int) -> None:
        self.prepared = prepared
        self.host = host
        self.init = init
        self.command = command
        self.init_filters = init_filters
        self.plan: dict[str, Wanted] | None = None
        self._traced = False
        self.wrong: list[str] = []
        self.found: dict[str, State] = {}

    def read(self, command_pid: int, limits: tuple[Rlimit, ...]) -> ReadBack:
        """Read everything. `command_pid`: the process of the folder `command`."""
        self._stop(command_pid)
        try:
            self._namespaces()
            self._status()
            self._mounts()
            self._maps()
            self._limits(command_pid, limits)
            bytes_equal = self._filter_bytes(command_pid)
        finally:
            if self._traced:
                _let_go(command_pid)
        expected = [*_FIELDS.values(), "read_only_root", "mounts", "no_new_privs", "capabilities", "rlimits"]
        if self.prepared.network == "host":
            expected.remove("network_namespace")
        shown = next((mount for mount in self.prepared.mounts if mount.place == "/"), None)
        if shown is not None and not shown.read_only:
            expected.remove("read_only_root")
        if not self.prepared.host_root and shown is None:
            expected.append("private_root")
        if self.prepared.program is not None:
            expected.append("seccomp")
        if self.prepared.masks:
            expected.append("proc_masks")
        return ReadBack(Protections(**self.found), tuple(expected), bytes_equal, tuple(self.wrong))

    def _namespaces(self) -> None:
        of_command, of_init = (kernel_view.namespaces(one) for one in (self.command, self.init))
        for name, field in _FIELDS.items():
            mine, inner, outer = of_command.get(name), of_init.get(name), self.host.namespaces.get(name)
            if mine is None or inner is None or outer is None:
                self.found[field] = None
                continue
            self.found[field] = mine == inner != outer
            if mine != inner:
                self.wrong.append(f"init and the command are in two {name} namespaces")

    def _status(self) -> None:
        try:
            both = [kernel_view.status(one) for one in (self.command, self.init)]
        except OSError:
            return
        self.found["no_new_privs"] = all(one.get("NoNewPrivs") == 1 for one in both)
        self.found["capabilities"] = all(one.get(name) == 0 for one in both for name in kernel_view.CAPABILITY_SETS)
        command, init = both
        filtered = self._has(command, len(command_filters(self.prepared))) and self._has(init, self.init_filters)
        if not filtered:
            self.wrong.append("init or the command has not exactly the filters that it was given")
        self.found["seccomp"] = filtered and self.prepared.program is not None

    def _has(self, status: dict[str, int], filters: int) -> bool:
        """Tell whether a process has so many filters of ours. Kernels before 5.9 do not count: then by mode alone."""
        most = self.host.filters + filters
        return status.get("Seccomp") == _SECCOMP_FILTER and status.get("Seccomp_filters", most) == most

    def _mounts(self) -> None:
        try:
            lines = kernel_view.mountinfo(self.command)
            root = os.open("root", os.O_PATH | os.O_CLOEXEC, dir_fd=self.command)
        except OSError:
            return
        try:
            wrong, masked = self._compared(lines)
            vanished = {not_mounted(one) for one in self._vanished(root)}
            wrong = [one for one in wrong if one not in vanished] + self._identities(root)
            absent = {mask.entry for mask in self.prepared.masks} - masked
            bare = [entry for entry in absent if _is_there(root, f"proc/{entry}")]
        finally:
            os.close(root)
        top = [line for line in lines if line.place == "/"]
        self.found["read_only_root"] = bool(top) and "ro" in top[-1].options
        self.found["private_root"] = not self.prepared.host_root and bool(top) and top[-1].kind == "tmpfs"
        self.found["mounts"] = not wrong
        self.found["proc_masks"] = not bare
        self.wrong += wrong + [f"/proc/{entry} is not protected" for entry in bare]

    def _compared(self, lines: tuple[MountLine, ...]) -> tuple[list[str], set[str]]:
        """Hold the mounts against the plan: what is wrong, and the entries of /proc that are protected."""
        return compare(lines, self.prepared, self.plan)

    def _vanished(self, root: int) -> list[str]:
        """Give the places of covers that have nothing left to cover: the host's sockets there have been removed."""
        covers = [mount.place for mount in self.prepared.mounts if mount.may_vanish]
        return [place for place in covers if not _is_there(root, place.lstrip("/"))]

    def _identities(self, root: int) -> list[str]:
        """Compare each bind with what was found before the start."""
        wrong: list[str] = []
        for mount in self.prepared.mounts:
            if mount.kind != "bind":
                continue
            try:
                seen = os.stat(mount.place.lstrip("/") or ".", dir_fd=root, follow_symlinks=False)
            except OSError as error:
                wrong.append(f"{mount.place} cannot be looked at: {error.strerror}")
                continue
            if (seen.st_dev, seen.st_ino) != (mount.device, mount.inode):
                wrong.append(f"{mount.place} is not `{mount.source}`")
        return wrong

    def _maps(self) -> None:
        ids = self.prepared.ids
        for name, inside, outside in (("uid_map", ids.user, ids.host_user), ("gid_map", ids.group, ids.host_group)):
            try:
                shown = kernel_view.content(self.command, name).split()
            except OSError:
                self.found["user_namespace"] = None
                continue
            if shown != [str(one).encode() for one in (inside, outside, 1)]:
                self.wrong.append(f"{name} is not {inside} {outside} 1")

    def _limits(self, pid: int, limits: tuple[Rlimit, ...]) -> None:
        try:
            shown = [(one, resource.prlimit(pid, one.resource)) for one in limits]
        except OSError:
            return
        self.found["rlimits"] = all((one.soft, one.hard) == is_now for one, is_now in shown)

    def _stop(self, pid: int) -> None:
        """Have the command's process stop, if its filters can be read, while the rest is read.

        They can by uid 0 that no filter covers (PTRACE_SECCOMP_GET_FILTER).
        """
        if self.prepared.program is not None and os.geteuid() == 0 and not self.host.filters:
            self._traced = _stopped(pid)

    def _filter_bytes(self, pid: int) -> State:
        """Compare the loaded filters' bytes."""
        if not self._traced:
            return None
        try:
            os.waitpid(pid, _WALL)
            equal = are_loaded(pid, self.prepared)
        except OSError:
            return None
        if not equal:
            self.wrong.append("the loaded filters are not the bundle's and the runtime's own")
            self.found["seccomp"] = False
        return equal


def _stopped(pid: int) -> bool:
    """Have a process stop, which is waited for later; False where it cannot be traced."""
    try:
        libc.ptrace(_PTRACE_SEIZE, pid)
    except OSError:
        return False
    with contextlib.suppress(OSError):
        libc.ptrace(_PTRACE_INTERRUPT, pid)
    return True


def _let_go(pid: int) -> None:
    # One that has been killed meanwhile is not traced any more.
    with contextlib.suppress(OSError):
        libc.ptrace(_PTRACE_DETACH, pid)


def are_loaded(pid: int, prepared: Prepared) -> bool:
    """Compare all filters of a process that is traced and stopped, by bytes; `OSError` where they cannot be read."""
    return all(libc.loaded_filter(pid, at) == one for at, one in enumerate(command_filters(prepared)))


def _is_there(root: int, path: str) -> bool:
    try:
        seen = os.stat(path, dir_fd=root, follow_symlinks=False)
    except OSError as error:
        return error.errno not in {errno.ENOENT, errno.ENOTDIR}
    # One without a name is just being removed: mounts on it go before its name does (`vfs_unlink`, `fs/namei.c`).
    return seen.st_nlink > 0
