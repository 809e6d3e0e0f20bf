"""The limits that the kernel holds for each process (getrlimit(2)), and what is left to sampling."""

import resource

from sbc_runtime import cpu_total, sampler
from sbc_runtime.outcome import How, LimitReport
from sbc_runtime.prepared import Prepared
from sbc_runtime.records import NamedTuple

DATA_FACTOR = 1.25
"""RLIMIT_DATA stands this far above the memory limit: sampling comes first, this holds where it is too slow."""

DATA_EXTRA = 32 << 20

OWN_TASKS = 1
"""Tasks of ours under the command's user id and namespace: init."""

COUNTS_PER_NAMESPACE = (5, 14)
"""From this kernel on RLIMIT_NPROC counts per user namespace (`kernel/ucount.c`)."""


class Rlimit(NamedTuple):
    """One resource (as `resource` numbers it) and what it is set to, in the kernel's unit."""

    resource: int
    soft: int
    hard: int


def counts_per_namespace(release: str) -> bool:
    """Tell from uname(2)'s `release` whether RLIMIT_NPROC of a namespace counts only what is in it."""
    numbers = release.split("-", maxsplit=1)[0].split(".")
    try:
        return (int(numbers[0]), int(numbers[1])) >= COUNTS_PER_NAMESPACE
    except (ValueError, IndexError):
        return False


def rlimits(prepared: Prepared, release: str, cgroup: frozenset[str] = frozenset()) -> tuple[Rlimit, ...]:
    """Give the rlimits of the command, the same for each of its processes.

    `cgroup`: what one enforces. Where that is the number of processes, no rlimit comes before it: the cgroup tells
    when it has refused one, and the rlimit does not.
    """
    limits = prepared.limits
    # A caller that may be scheduled before others (limits.conf(5): `rtprio`, `nice`) does not pass that on: who has it
    # can keep the supervisor from its processor.
    found = [Rlimit(resource.RLIMIT_NICE, 0, 0), Rlimit(resource.RLIMIT_RTPRIO, 0, 0)]
    if limits.cpu is not None:
        seconds = -(-limits.cpu // 1000)
        # SIGXCPU at the soft limit, SIGKILL at the hard one.
        found.append(Rlimit(resource.RLIMIT_CPU, seconds, seconds + 1))
    if limits.memory is not None:
        most = int(limits.memory * DATA_FACTOR) + DATA_EXTRA
        found.append(Rlimit(resource.RLIMIT_DATA, most, most))
    if limits.processes is not None and "processes" not in cgroup and processes_by_rlimit(prepared, release):
        most = limits.processes + OWN_TASKS
        found.append(Rlimit(resource.RLIMIT_NPROC, most, most))
    if limits.open_files is not None:
        found.append(Rlimit(resource.RLIMIT_NOFILE, limits.open_files, limits.open_files))
    if limits.file_size is not None:
        found.append(Rlimit(resource.RLIMIT_FSIZE, limits.file_size, limits.file_size))
    if limits.core_size is not None:
        # 1 and not 0: a program that core dumps are piped to (core_pattern) is started at 0, and not at 1
        # (`do_coredump`, `fs/coredump.c`).
        size = limits.core_size or 1
        found.append(Rlimit(resource.RLIMIT_CORE, size, size))
    return tuple(found)


def lowered(wanted: tuple[Rlimit, ...], caller: tuple[tuple[int, int, int], ...]) -> tuple[Rlimit, ...]:
    """Give the limits less what the caller's own hard limits forbid: the lower of both holds."""
    hard = {number: most for number, _, most in caller}

    def least(value: int, most: int) -> int:
        return value if most == resource.RLIM_INFINITY else min(value, most)

    return tuple(
        Rlimit(one.resource, *(least(value, hard.get(one.resource, resource.RLIM_INFINITY)) for value in one[1:]))
        for one in wanted
    )


def processes_by_rlimit(prepared: Prepared, release: str) -> bool:
    """Tell whether RLIMIT_NPROC works: never for the host's uid 0 (`copy_process`, `kernel/fork.c`)."""
    return prepared.ids.host_user != 0 and counts_per_namespace(release)


def reports(
    prepared: Prepared, release: str, cgroup: frozenset[str], *, sampled: bool = True
) -> tuple[LimitReport, ...]:
    """Say of each limit how it is enforced. `cgroup`: those that one enforces. `sampled`: whether any is sampled."""
    how: dict[str, tuple[How, ...]] = {
        "wall": ("timer",),
        "cpu": ("rlimit", "sampled"),
        "memory": ("cgroup",) if "memory" in cgroup else ("sampled", "rlimit"),
        "processes": ("rlimit",) if processes_by_rlimit(prepared, release) else ("sampled",),
        "open_files": ("rlimit",),
        "file_size": ("rlimit",),
        "output": ("counted",),
        "core_size": ("rlimit",),
    }
    if "processes" in cgroup:
        how["processes"] = ("cgroup",)
    notes = {
        "memory": "" if "memory" in cgroup else sampler.NOT_SEEN,
        "cpu": "RLIMIT_CPU holds for each process, sampling for all together: "
        + ("the cgroup's own count" if cgroup else cpu_total.NOT_SEEN),
    }
    if not sampled:
        how = {key: tuple(one for one in ways if one != "sampled") or ("none",) for key, ways in how.items()}
        notes = {"cpu": "RLIMIT_CPU holds for each process alone"}
        if "memory" not in cgroup:
            notes["memory"] = "RLIMIT_DATA holds for each process alone"
    values = prepared.limits._asdict()
    return tuple(
        LimitReport(key.replace("_", "-"), value, how[key], notes.get(key, ""))
        for key, value in values.items()
        if value is not None
    )
