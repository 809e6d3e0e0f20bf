"""A cgroup v2 for each run: limits that the kernel itself enforces on the whole sandbox.

`create` makes an empty folder of a random name in a base, sets its limits, and first removes what killed runners left:
folders of ours whose lock it can take. `probe` does the whole thing once with a process of its own.
"""

import os
import sys
from collections.abc import Iterable

from sbc_runtime.backends.interface import Readiness
from sbc_runtime.cgroup_base import check_outside, find_base, needed
from sbc_runtime.cgroup_files import REMEDY, STEP, write
from sbc_runtime.cgroup_group import Group, lock_of
from sbc_runtime.errors import SetupFailed
from sbc_runtime.prepared import LimitValue, Mount

__all__ = ["Group", "check_outside", "create", "find_base", "needed", "probe", "reclaim"]

PREFIX = "sbc-run-"
_DIGITS = frozenset("0123456789abcdef")
_LENGTH = 16

_TRIES = 100
"""Names to try: between mkdir(2) and flock(2) a folder looks abandoned, and another run may remove it."""

_RECLAIM = 1.0
"""Seconds that a run spends at most on each folder that a dead runner left."""


def create(run_id: str, base: str | None, limits: LimitValue, own: int = 1, mounts: Iterable[Mount] = ()) -> Group:
    """Make the cgroup of a run in `base`, else in the base that `find_base` finds.

    `own`: tasks of ours that will be in it beside the command's. `mounts`: the run's, none of which may let the command
    write to the base. `SetupFailed` where the base cannot be used: nothing of it is left then.
    """
    home = find_base(base, os.environ, needed(limits.memory, limits.processes))
    check_outside(home, mounts)
    reclaim(home)
    path, lock = _new_folder(home)
    try:
        return Group(path, lock, _limited(path, limits, own))
    except SetupFailed as failed:
        Group(path, lock, frozenset()).remove()
        failure = failed.failure
        raise SetupFailed(failure.step, failure.why, failure.remedy, failure.errno, f"run {run_id}") from None


def _new_folder(base: str) -> tuple[str, int]:
    for _ in range(_TRIES):
        path = f"{base}/{PREFIX}{os.urandom(8).hex()}"
        try:
            os.mkdir(path, 0o755)
        except OSError as error:
            why = f"no folder can be made in {base}: {os.strerror(error.errno or 0)}"
            raise SetupFailed(STEP, why, REMEDY, error.errno or 0) from None
        lock = lock_of(path)
        if lock is not None:
            return path, lock
    raise SetupFailed(STEP, f"every new folder in {base} was locked by another process at once", REMEDY)


def _limited(path: str, limits: LimitValue, own: int) -> frozenset[str]:
    enforced: set[str] = set()
    if limits.memory is not None:
        write(f"{path}/memory.max", str(limits.memory))
        # Present only where the kernel accounts for swap: without the file there is no limit on it to set.
        _put_if_there(f"{path}/memory.swap.max", "0")
        # One killed process of a run leaves the rest in a state that nobody wrote: all go together (Linux 4.19).
        _put_if_there(f"{path}/memory.oom.group", "1")
        enforced.add("memory")
    if limits.processes is not None:
        write(f"{path}/pids.max", str(limits.processes + own))
        enforced.add("processes")
    # An empty folder stays one: whoever could make folders in it could spread out of sight.
    _put_if_there(f"{path}/cgroup.max.descendants", "0")
    return frozenset(enforced)


def _put_if_there(path: str, text: str) -> None:
    if os.path.exists(path):
        write(path, text)


def _is_ours(name: str) -> bool:
    digits = name.removeprefix(PREFIX)
    return digits != name and len(digits) == _LENGTH and _DIGITS.issuperset(digits)


def reclaim(base: str) -> tuple[str, ...]:
    """Remove the folders that dead runners left in `base`, killing what is in them; give those that are gone.

    Only folders of our name and of the caller's uid, and only where nobody holds the lock: a living runner does.
    """
    gone: list[str] = []
    with os.scandir(base) as entries:
        names = [entry.name for entry in entries if _is_ours(entry.name)]
    for name in names:
        path = f"{base}/{name}"
        try:
            if os.stat(path, follow_symlinks=False).st_uid != os.geteuid():
                continue
        except FileNotFoundError:
            continue
        lock = lock_of(path)
        if lock is not None:
            group = Group(path, lock, frozenset())
            group.remove(_RECLAIM)
            if group.removed:
                gone.append(path)
    return tuple(gone)


def probe(base: str | None) -> Readiness:
    """Tell whether runs can have a cgroup in `base` (None: in the one that is found): both limits, a process moved
    into it, killed by it, and the folder removed.
    """
    import subprocess  # noqa: PLC0415 - a run needs none of it

    try:
        group = create("probe", base, LimitValue(memory=1 << 30, processes=64))
    except SetupFailed as failed:
        return Readiness(False, failed.failure.why, failed.failure.remedy)
    try:
        with subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE
        ) as process:
            try:
                group.add(process.pid)
            finally:
                group.kill()
                process.kill()
    except SetupFailed as failed:
        return Readiness(False, failed.failure.why, failed.failure.remedy)
    except OSError as error:
        return Readiness(False, f"no process could be started to be moved: {error}", "")
    finally:
        group.remove()
    if not group.removed:
        return Readiness(False, f"{group.path} could not be removed", "end what is in it")
    return Readiness(True, "", "")
