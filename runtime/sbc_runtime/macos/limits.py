"""The limits that macOS holds, and what of a profile it does not (setrlimit(2) of macOS)."""

import resource

from sbc_runtime.contents import Bundle
from sbc_runtime.outcome import How, LimitReport, RunLoss
from sbc_runtime.prepare.select import on_system
from sbc_runtime.prepared import LimitValue

_HOW: dict[str, tuple[How, ...]] = {
    "wall": ("timer",),
    "cpu": ("rlimit",),
    "memory": ("none",),
    "processes": ("none",),
    "open_files": ("rlimit",),
    "file_size": ("rlimit",),
    "output": ("counted",),
    "core_size": ("rlimit",),
}
_NOTES = {
    "wall": "who leaves the session of the command lives on",
    "cpu": "RLIMIT_CPU holds for each process alone",
}
_LOST = {
    "cpu": "counted for each process alone",
    "memory": "macOS limits no process's memory",
    "processes": "RLIMIT_NPROC of macOS counts all processes of the user",
}
_NO_SYSCALLS = "no `syscalls` block"
"""What stands for a block that nobody wrote: it is about Linux, and its absence asks nothing of a Mac."""


def rlimits(limits: LimitValue) -> list[tuple[int, int, int]]:
    """Give (resource, soft, hard) of each limit that is held by the kernel for each process."""
    found: list[tuple[int, int, int]] = []
    if limits.cpu is not None:
        seconds = -(-limits.cpu // 1000)
        most = resource.getrlimit(resource.RLIMIT_CPU)[1]
        hard = seconds + 1 if most == resource.RLIM_INFINITY else min(seconds + 1, most)
        found.append((resource.RLIMIT_CPU, min(seconds, hard), hard))
    for value, number in (
        (limits.open_files, resource.RLIMIT_NOFILE),
        (limits.file_size, resource.RLIMIT_FSIZE),
        (limits.core_size, resource.RLIMIT_CORE),
    ):
        if value is not None:
            most = resource.getrlimit(number)[1]
            least = value if most == resource.RLIM_INFINITY else min(value, most)
            found.append((number, least, least))
    return found


def reports(limits: LimitValue) -> tuple[LimitReport, ...]:
    """Say of each limit how it is enforced."""
    return tuple(
        LimitReport(key.replace("_", "-"), value, _HOW[key], _NOTES.get(key, ""))
        for key, value in limits._asdict().items()
        if value is not None
    )


def losses(bundle: Bundle, limits: LimitValue) -> tuple[RunLoss, ...]:
    """Give what this run does not enforce as written. The one loss that SBPL defers, a terminal, is no loss here."""
    found = [
        RunLoss(one.direction, one.statement.where(), one.statement.text, one.why)
        for one in bundle.losses
        if one.target == "sbpl" and not (one.deferred and one.statement.block == "files")
    ]
    for limit in on_system(bundle.plan.limits, "macos"):
        said = limit.statement
        key = limit.key.replace("-", "_")
        if key in _LOST and getattr(limits, key) is not None:
            found.append(RunLoss("wider", said.where(), said.text, _LOST[key]))
    if bundle.filters is not None and not any(row.statement.text == _NO_SYSCALLS for row in bundle.coverage.rows):
        found.append(RunLoss("wider", "default", "syscalls", "macOS has no filters of system calls"))
    for one in on_system(bundle.plan.identity, "macos"):
        said = one.statement
        if one.key not in {"host-user", "host-group"}:
            found.append(RunLoss("wider", said.where(), said.text, "macOS shows the command the host's own"))
    return tuple(found)
