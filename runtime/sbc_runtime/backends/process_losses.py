"""What a run without namespaces does not keep of a plan, beside what `landlock_losses` says."""

import os

from sbc_runtime.arch import native_arch
from sbc_runtime.landlock_losses import DEFAULT
from sbc_runtime.landlock_losses import losses as landlock_losses
from sbc_runtime.outcome import RunLoss
from sbc_runtime.prepared import Prepared
from sbc_runtime.socket_filters import SOCKET_CALLS

_ALWAYS = (
    ("isolation", "the command shares every namespace with its caller"),
    ("process", "what a service of the host starts for the command (at, systemd-run) is not found and lives on"),
    ("ipc", "System V segments, semaphores and queues and POSIX queues of the host are shared"),
)
_KILLABLE = "the command can kill what watches it, and a process that has left its session then lives on"
_FOREIGN = "programs of another ABI than the machine's own are killed at their first call"
_SOCKETCALL = "`socketcall` is absent: a C library that makes sockets by it makes none, not even AF_UNIX ones"
_SUMS = {
    "cpu": "counted for each process alone",
    "memory": "RLIMIT_DATA holds for each process alone; only a cgroup limits the sum",
    "processes": "RLIMIT_NPROC counts all tasks of the user: as many as there were at the start, and these more",
}


def losses(prepared: Prepared, version: int) -> tuple[RunLoss, ...]:
    """Give every loss of a run under Landlock's ABI `version` (0: none)."""
    found = [RunLoss("wider", DEFAULT, text, why) for text, why in _ALWAYS]
    found += landlock_losses(prepared, version)
    ids, limits = prepared.ids, prepared.limits._asdict()
    if not ids.mapped_by_root and version < 6:
        found.append(RunLoss("wider", DEFAULT, "process", _KILLABLE))
    if prepared.network == "none":
        found.append(RunLoss("narrower", DEFAULT, "network none", _FOREIGN))
        arch = native_arch(os.uname().machine)
        if arch is not None and SOCKET_CALLS[arch.name].socketcall:
            found.append(RunLoss("narrower", DEFAULT, "network none", _SOCKETCALL))
    found += [RunLoss("wider", DEFAULT, key, why) for key, why in _SUMS.items() if limits[key] is not None]
    if limits["processes"] is not None and ids.host_user == 0:
        found.append(RunLoss("wider", DEFAULT, "processes", "RLIMIT_NPROC does not hold for uid 0"))
    if (ids.user, ids.group) != (ids.host_user, ids.host_group):
        why = f"the command sees the host's ids, {ids.host_user} and {ids.host_group}"
        found.append(RunLoss("wider", DEFAULT, f"identity user {ids.user} group {ids.group}", why))
    found.append(RunLoss("wider", DEFAULT, f"hostname {prepared.hostname}", "the host's own name is seen"))
    return tuple(found)
