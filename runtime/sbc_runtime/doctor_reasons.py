"""Why a set-up failed, and the exact remedy: the step and its errno, held against what the machine says of itself.

A reason is given only for a failure that happened. Where several could explain it, the first one found is named; where
none does, the failure stands as it is.
"""

import errno
import os
from collections.abc import Callable, Iterator

from sbc_runtime.backends.interface import Readiness
from sbc_runtime.outcome import Failure
from sbc_runtime.records import NamedTuple


class Machine(NamedTuple):
    """What explanations are looked up in. `read`: a file's content, None where it cannot be read; `uid`: who asks."""

    read: Callable[[str], str | None]
    uid: int


def read_file(path: str) -> str | None:
    """Read a small file of the kernel's."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(1 << 20)
    except OSError:
        return None


def machine() -> Machine:
    """Give this machine."""
    return Machine(read_file, os.geteuid())


def explain(failure: Failure, here: Machine) -> Readiness:
    """Explain why a backend does not work."""
    told = explained(failure, here)
    return Readiness(False, f"{told.step}: {told.why}", told.remedy)


def explained(failure: Failure, here: Machine) -> Failure:
    """Give a failure with its reason and the remedy, where one is known that it does not have already."""
    for reason in (procfs, _proc_covered, _lost, _ids, _namespaces, _counts, _tracing):
        found = reason(failure, here)
        if found is not None:
            known = found[0] in failure.why
            return failure if known else failure._replace(why=f"{failure.why}: {found[0]}", remedy=found[1])
    return failure


_Found = tuple[str, str] | None


def procfs(_: Failure, here: Machine) -> _Found:
    """Explain everything by a missing /proc, where it is missing."""
    if here.read("/proc/self/status") is not None:
        return None
    return "no procfs is mounted at /proc", "mount -t proc proc /proc"


def _proc_covered(failure: Failure, here: Machine) -> _Found:
    """A new procfs is refused where the present one is covered in part (`mount_too_revealing`, `fs/namespace.c`)."""
    refused = failure.errno in {errno.EPERM, errno.EACCES} or "not permitted" in failure.why
    if not (failure.step.startswith("/proc") or "mount proc" in failure.why) or not refused:
        return None
    covers = [place for place in _mount_points(here) if place.startswith("/proc/")]
    if not covers:
        return None
    shown = ", ".join(f"`{one}`" for one in covers[:3]) + (" ..." if len(covers) > 3 else "")
    return (
        f"/proc is covered in part here ({shown}), so the kernel allows no new one: sandboxes cannot be nested here",
        "run it outside, or start the container with an unmasked /proc "
        "(`docker run --security-opt systempaths=unconfined`, `podman run --security-opt unmask=ALL`)",
    )


def _mount_points(here: Machine) -> Iterator[str]:
    for line in (here.read("/proc/self/mountinfo") or "").splitlines():
        fields = line.split(" ")
        if len(fields) > 4:
            yield fields[4]


def _lost(failure: Failure, here: Machine) -> _Found:
    """Explain a run of which nothing was heard: even its first fork is by clone3(2)."""
    if failure.step != "supervisor" or "without an outcome" not in failure.why or _status(here, "Seccomp") != "2":
        return None
    return (
        "this process runs under a seccomp filter, which may deny clone3(2)",
        "allow clone3, and the other calls that make namespaces, in the container's seccomp profile, or run outside",
    )


def _ids(failure: Failure, here: Machine) -> _Found:
    """Explain why uid 0 cannot map the command's ids: it is uid 0 of a user namespace that lacks them."""
    if failure.step != "id maps" or here.uid != 0:
        return None
    ranges = [[int(one) for one in line.split()] for line in (here.read("/proc/self/uid_map") or "").splitlines()]
    nobody = 65534
    if not ranges or any(first <= nobody < first + count for first, _, count in ranges):
        return None
    return (
        f"this is uid 0 of a user namespace in which uid {nobody} is not mapped",
        "give the container more ids (/etc/subuid), name mapped ones by `host-user` and `host-group`, or run it as "
        "another uid",
    )


_STEPS = frozenset({"namespaces", "id maps", "mount namespace", "staging", "bwrap", "init", "start"})


def _namespaces(failure: Failure, here: Machine) -> _Found:
    """Explain EPERM, EACCES and ENOSYS of making namespaces, mapping ids and mounting in them."""
    denied = failure.errno in {errno.EPERM, errno.EACCES, errno.ENOSYS} or any(
        part in failure.why for part in ("ermission denied", "No permissions", "not permitted", "not implemented")
    )
    if failure.step not in _STEPS or not denied:
        return None
    if here.uid != 0 and _number(here, "/proc/sys/kernel/unprivileged_userns_clone") == 0:
        return (
            "kernel.unprivileged_userns_clone is 0, so only root may make user namespaces",
            "sysctl -w kernel.unprivileged_userns_clone=1",
        )
    if here.uid != 0 and _number(here, "/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == 1:
        return (
            "AppArmor restricts unprivileged user namespaces (kernel.apparmor_restrict_unprivileged_userns is 1)",
            "give the interpreter, or bwrap, an AppArmor profile with `userns,`, or "
            "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        )
    if _status(here, "Seccomp") == "2":
        return (
            "this process runs under a seccomp filter, which denies unshare(2), clone(2), clone3(2) or mount(2)",
            "allow them in the container's seccomp profile (`--security-opt seccomp=FILE`), or run outside of it",
        )
    if failure.errno == errno.ENOSYS:
        return "this kernel is built without what was asked for", "use a kernel with CONFIG_USER_NS and its siblings"
    return None


_COUNTERS = ("user", "mnt", "pid", "ipc", "uts", "cgroup", "net")


def _counts(failure: Failure, here: Machine) -> _Found:
    """Explain ENOSPC: a count of /proc/sys/user is used up, or namespaces are nested 32 deep (namespaces(7))."""
    full = failure.errno in {errno.ENOSPC, errno.EUSERS} or "ENOSPC" in failure.why or "No space left" in failure.why
    if failure.step not in _STEPS or not full:
        return None
    values = {name: _number(here, f"/proc/sys/user/max_{name}_namespaces") for name in _COUNTERS}
    empty = [name for name, value in values.items() if value == 0]
    names = [f"user.max_{name}_namespaces" for name in empty or ("user",)]
    used = "a count in /proc/sys/user is used up, or namespaces are nested too deep"
    why = f"{', '.join(names)} is 0" if empty else used
    return why, "; ".join(f"sysctl -w {name}=15000" for name in names)


def _tracing(failure: Failure, here: Machine) -> _Found:
    if failure.step != "trace":
        return None
    scope = _number(here, "/proc/sys/kernel/yama/ptrace_scope")
    if scope is not None and scope >= 2 and (here.uid != 0 or scope == 3):
        return f"kernel.yama.ptrace_scope is {scope}", "sysctl -w kernel.yama.ptrace_scope=1 (after 3: restart)"
    if _status(here, "Seccomp") == "2":
        return "this process runs under a seccomp filter, which denies ptrace(2)", "allow ptrace in it, or run outside"
    return None


def _number(here: Machine, path: str) -> int | None:
    content = here.read(path)
    try:
        return None if content is None else int(content)
    except ValueError:
        return None


def _status(here: Machine, name: str) -> str | None:
    for line in (here.read("/proc/self/status") or "").splitlines():
        key, _, value = line.partition(":")
        if key == name:
            return value.strip()
    return None
