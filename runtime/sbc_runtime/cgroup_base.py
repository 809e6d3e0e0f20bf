"""Which folder of cgroup v2 can hold a run's cgroup, and why another cannot.

Rules of the kernel (`Documentation/admin-guide/cgroup-v2.rst`): a folder gives controllers to its children only while
it has no processes itself, the root excepted ("No Internal Process Constraint"); a user who owns a folder may move a
process into it only from below a folder whose `cgroup.procs` is his as well ("Delegation Containment").
"""

import os
from collections.abc import Iterable, Mapping

from sbc_runtime.cgroup_files import REMEDY, STEP, read, words, write
from sbc_runtime.errors import SetupFailed
from sbc_runtime.prepared import Mount
from sbc_runtime.records import NamedTuple

VARIABLE = "SBC_CGROUP_BASE"
"""The environment variable that names a base where no option does."""

CONTROLLERS = {"memory": "memory", "processes": "pids"}
"""The controller of each limit that a cgroup can enforce, by the limit's word."""

_SYSTEMD = "/run/systemd/system"
_DELEGATED = ("trusted.delegate", "user.delegate")


class Hierarchy(NamedTuple):
    """A place where cgroup v2 is mounted: the folder, which cgroup it shows there, and the device's number."""

    folder: str
    root: str
    device: int


def hierarchies() -> tuple[Hierarchy, ...]:
    """Give every mount of cgroup v2 (proc_pid_mountinfo(5))."""
    found: list[Hierarchy] = []
    for line in (read("/proc/self/mountinfo") or "").splitlines():
        head, _, tail = line.partition(" - ")
        fields = head.split()
        if tail.startswith("cgroup2 "):
            major, minor = fields[2].split(":")
            found.append(Hierarchy(_plain(fields[4]), _plain(fields[3]), os.makedev(int(major), int(minor))))
    return tuple(found)


def _plain(text: str) -> str:
    """Undo the octal escapes of blanks and backslashes."""
    first, *rest = text.split("\\")
    return first + "".join(chr(int(part[:3], 8)) + part[3:] for part in rest)


def folder_of(pid: int | str = "self") -> str | None:
    """Give the folder of the cgroup v2 that a process is in (cgroups(7)); None where no mount shows it."""
    lines = (read(f"/proc/{pid}/cgroup") or "").splitlines()
    shown = next((line[3:] for line in lines if line.startswith("0::")), None)
    if shown is None or shown.startswith("/.."):
        return None
    for hierarchy in hierarchies():
        root = hierarchy.root.rstrip("/")
        if shown == root or shown.startswith(f"{root}/"):
            folder = os.path.normpath(f"{hierarchy.folder}/{shown.removeprefix(root)}")
            if os.path.exists(f"{folder}/cgroup.procs"):
                return folder
    return None


def needed(memory: int | None, processes: int | None) -> tuple[str, ...]:
    """Give the controllers that these limits need."""
    return tuple(CONTROLLERS[key] for key, value in (("memory", memory), ("processes", processes)) if value is not None)


def find_base(option: str | None, environment: Mapping[str, str], controllers: tuple[str, ...]) -> str:
    """Give the base to use, ready to have a folder made in it.

    The option decides, else the variable; else the calling process's own cgroup or the one above it, where delegated
    to the caller. `SetupFailed`: none can be used, with the reason for each.
    """
    named = option if option is not None else environment.get(VARIABLE)
    if named:
        return make_ready(named, controllers)
    own = folder_of()
    if own is None:
        raise SetupFailed(STEP, "no mount of cgroup v2 shows the caller's own cgroup", REMEDY)
    reasons: list[str] = []
    for candidate in (own, os.path.dirname(own)):
        if not os.path.exists(f"{candidate}/cgroup.procs"):
            continue
        try:
            if not _delegated(candidate):
                raise SetupFailed(STEP, f"{candidate} is not delegated to uid {os.geteuid()}")
            return make_ready(candidate, controllers)
        except SetupFailed as failed:
            reasons.append(failed.failure.why)
    raise SetupFailed(STEP, "; ".join(reasons), REMEDY)


def _delegated(folder: str) -> bool:
    """Tell whether a folder is the caller's to divide.

    A user owns what was delegated to him. Root owns everything: where systemd runs, only what it marked is taken from
    under its hands (`systemd.resource-control(5)`, `Delegate=`).
    """
    if os.stat(folder).st_uid != os.geteuid():
        return False
    if os.geteuid() or not os.path.exists(_SYSTEMD):
        return True
    return any(_attribute(folder, name) == b"1" for name in _DELEGATED)


def _attribute(folder: str, name: str) -> bytes | None:
    try:
        return os.getxattr(folder, name)
    except OSError:
        return None


def make_ready(named: str, controllers: tuple[str, ...]) -> str:
    """Give the real path of a base, its children's controllers enabled; `SetupFailed` where it cannot be used."""
    if not named.startswith("/"):
        raise SetupFailed(STEP, f"the base `{named}` is no absolute path", REMEDY)
    base = os.path.realpath(named)
    try:
        device = os.stat(base).st_dev
    except OSError as error:
        raise SetupFailed(STEP, f"{named}: {os.strerror(error.errno or 0)}", REMEDY, error.errno or 0) from None
    if device not in {hierarchy.device for hierarchy in hierarchies()}:
        raise SetupFailed(STEP, f"{named} is no folder of cgroup v2", REMEDY)
    missing = [name for name in controllers if name not in words(f"{base}/cgroup.controllers")]
    if missing:
        raise SetupFailed(STEP, f"{base}/cgroup.controllers does not list {_listed(missing)}{_v1(missing)}", REMEDY)
    if not os.access(base, os.W_OK | os.X_OK, effective_ids=True):
        raise SetupFailed(STEP, f"{base} may not be written by uid {os.geteuid()}", REMEDY)
    off = [name for name in controllers if name not in words(f"{base}/cgroup.subtree_control")]
    if off:
        write(f"{base}/cgroup.subtree_control", " ".join(f"+{name}" for name in off))
    return base


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _v1(missing: list[str]) -> str:
    """Say which of the controllers are taken by cgroup v1 (cgroups(7): one hierarchy has a controller)."""
    lines = (read("/proc/self/cgroup") or "").splitlines()
    taken = {name for line in lines for name in line.split(":")[1].split(",")}
    old = [name for name in missing if name in taken]
    return f": {_listed(old)} of this machine {'is' if len(old) == 1 else 'are'} mounted as cgroup v1" if old else ""


def check_outside(base: str, mounts: Iterable[Mount]) -> None:
    """Raise `SetupFailed` where the command could write to the base: it would lift its own limits.

    So it could through any writable path that is part of, or has below it, a mount of cgroup v2.
    """
    shown = hierarchies()
    devices = {hierarchy.device for hierarchy in shown}
    for mount in mounts:
        if mount.kind not in ("bind", "root") or mount.read_only:
            continue
        above = mount.source.rstrip("/") + "/"
        if mount.device in devices or any(f"{one}/".startswith(above) for one in (base, *(h.folder for h in shown))):
            why = f"the command can write to {mount.source}, which shows cgroup v2 and so the base {base}"
            raise SetupFailed(STEP, why, "leave cgroup v2 out of writable paths", where=mount.where)
