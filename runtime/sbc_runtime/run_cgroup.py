"""The cgroup of a run, or why it has none; for a moment it is remembered that no base can be used."""

import os
import time

from sbc_runtime import cgroup
from sbc_runtime.backends.interface import Cgroup
from sbc_runtime.errors import SetupFailed
from sbc_runtime.job import Job
from sbc_runtime.prepared import Prepared

_KNOWN = 10.0
"""For how many seconds it holds that no base can be used."""


class _Refused:
    """What was wanted, when, and why there was none."""

    last: tuple[object, float, str] | None = None


def choose(job: Job, prepared: Prepared, notes: list[str]) -> Cgroup | None:
    """Give a cgroup for the run, where one can be made; `notes` tell why not."""
    if prepared.limits.memory is None and prepared.limits.processes is None:
        return None
    known = _Refused.last
    if known is not None and known[0] == _wanted(job, prepared) and time.monotonic() - known[1] < _KNOWN:
        notes.append(f"no cgroup: {known[2]}")
        return None
    try:
        own = 0 if job.options.backend == "process" else 1
        return cgroup.create(job.run_id, job.options.cgroup_base, prepared.limits, own, prepared.mounts)
    except SetupFailed as failed:
        notes.append(f"no cgroup: {failed.failure.why}")
        return None


def _wanted(job: Job, prepared: Prepared) -> tuple[str | None, tuple[str, ...]]:
    """Give what of a run decides which base it can use; what of the host does, the helper has in common with it."""
    return job.options.cgroup_base, cgroup.needed(prepared.limits.memory, prepared.limits.processes)


def look_ahead(job: Job, prepared: Prepared) -> None:
    """Find out whether no base can be used for a run like this."""
    option, controllers = wanted = _wanted(job, prepared)
    if controllers:
        try:
            cgroup.find_base(option, os.environ, controllers)
        except SetupFailed as failed:
            _Refused.last = (wanted, time.monotonic(), failed.failure.why)
