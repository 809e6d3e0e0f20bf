"""What the supervisor gathers during a run, and the outcome that follows from it."""

import errno
import os
import time
from collections.abc import Iterator

from sbc_runtime import classify
from sbc_runtime.backends.interface import Backend, Ended
from sbc_runtime.contents import Bundle
from sbc_runtime.errors import OF_RESOURCES
from sbc_runtime.job import Job
from sbc_runtime.outcome import (
    LOST,
    Absent,
    Failure,
    Isolation,
    Kind,
    LimitReport,
    Outcome,
    ReadBack,
    Replaced,
    RunLoss,
    Stream,
    Timings,
    Usage,
)
from sbc_runtime.prepared import LimitValue, Prepared
from sbc_runtime.rlimits import reports
from sbc_runtime.streams import Pump
from sbc_runtime.touched import touched
from sbc_runtime.watching import Loop


class Story:
    """Filled in as the run goes on; whatever is missing did not come to pass."""

    def __init__(self, job: Job, bundle: Bundle, enforcement: str) -> None:
        self.job = job
        self.bundle = bundle
        self.enforcement = enforcement
        self.begun = self.started = self.stopped = self.released = time.monotonic()
        self.prepared: Prepared | None = None
        self.backend: Backend | None = None
        self.read_back: ReadBack | None = None
        self.isolation: Isolation | None = None
        self.loop: Loop | None = None
        self.failure: Failure | None = None
        self.losses: tuple[RunLoss, ...] = ()
        self.absent: tuple[Absent, ...] | None = None
        self.replaced: tuple[Replaced, ...] = ()
        self.notes: list[str] = []
        self.cgroup: str | None = None
        self.cgroup_enforces: frozenset[str] = frozenset()
        self.cgroup_usage = Usage()
        self.oom_killed = False
        self.processes_refused = False
        self.ran = False

    def isolates(self) -> bool:
        """Whether the backend makes mounts and namespaces of the command's own; True where none was chosen yet."""
        return self.backend is None or self.backend.level != "none"


def outcome(story: Story) -> Outcome:
    """Give the outcome; its captured streams are put in by the host process."""
    prepared, loop = story.prepared, story.loop
    ended = None if loop is None else loop.ended
    kind = _kind(story, ended)
    by_command = kind in {"exited", "signalled"} and (ended is None or ended.exec_errno == 0)
    code = classify.code(kind, ended)
    absent = story.absent if story.absent is not None else (() if prepared is None else prepared.absent)
    failure = story.failure
    changed = touched(absent, story.replaced)
    if changed is not None and failure is None:
        failure = changed
        by_command = False
        code = code or classify.EXIT_SETUP_FAILED
    elif ended is not None and ended.exec_errno and failure is None:
        why = f"`{story.job.argv[0]}`: {os.strerror(ended.exec_errno)}"
        remedy = OF_RESOURCES.get(ended.exec_errno, "name a program that is visible in the sandbox")
        failure = Failure("command", why, remedy, ended.exec_errno)
    elif kind == "sandbox-failed" and failure is None:
        failure = Failure("supervisor", "what watched the command was lost", "run it again")
    signalled = ended is not None and os.WIFSIGNALED(ended.status)
    return Outcome(
        kind=kind,
        by="command" if by_command else "sandbox",
        code=code,
        status=os.WEXITSTATUS(ended.status) if ended is not None and not signalled else None,
        signal=os.WTERMSIG(ended.status) if ended is not None and signalled else None,
        stdout=_stream(loop, 1),
        stderr=_stream(loop, 2),
        isolation=story.isolation or isolation(story),
        failure=failure,
        run_id=story.job.run_id,
        profile=story.bundle.profile,
        bundle=story.bundle.address,
        enforcement=story.enforcement,
        usage=_usage(story),
        limits=() if prepared is None else _limits(story, prepared),
        absent=absent,
        losses=story.losses,
        # Nothing is covered where there are no mounts.
        covered=prepared.covered if prepared is not None and story.isolates() else (),
        notes=(*story.notes, *_events(story, kind), *_lost(loop), *(() if prepared is None else prepared.notes)),
        timings=_timings(story),
        environment=tuple(name for name, _ in story.job.environment),
        cgroup=story.cgroup,
        replaced=story.replaced,
    )


def _kind(story: Story, ended: Ended | None) -> Kind:
    loop = story.loop
    if story.failure is not None:
        return "sandbox-failed" if story.ran else "setup-failed"
    if loop is None:
        return "setup-failed"
    limits = story.prepared.limits if story.prepared is not None else LimitValue()
    killed: Kind | None = "cancelled" if loop.host_gone else loop.kind
    return classify.kind(
        ended,
        classify.Seen(
            killed,
            loop.sampler.cpu,
            limits.cpu,
            loop.sampler.memory,
            limits.memory,
            story.oom_killed,
            story.processes_refused,
        ),
    )


def _events(story: Story, kind: Kind) -> list[str]:
    """Give what the kernel counted in the run's cgroup, where the kind of end does not say it."""
    notes: list[str] = []
    if story.oom_killed and kind != "memory-limit":
        notes.append("the kernel killed processes of the run at its memory limit (memory.events)")
    if story.processes_refused and kind != "process-limit":
        notes.append("the kernel refused to make a process at the run's limit of processes (pids.events)")
    return notes


def _stream(loop: Loop | None, index: int) -> Stream:
    if loop is None or len(loop.pumps) <= index:
        return Stream(b"", 0, False)
    pump: Pump = loop.pumps[index]
    return Stream(b"", pump.total, pump.cut)


def _lost(loop: Loop | None) -> Iterator[str]:
    """Say what of the output was not passed on, where no limit of the profile's tells."""
    for name, pump in zip(("stdout", "stderr"), () if loop is None else loop.pumps[1:], strict=False):
        if pump.error not in {0, errno.EPIPE}:
            yield f"{name}: {os.strerror(pump.error)}: what came after {pump.written} bytes{LOST}"
        elif pump.kept is not None and pump.total > pump.kept and not pump.over:
            yield f"{name}: {pump.total} bytes came, and the first {pump.kept} are kept"


def isolation(story: Story) -> Isolation | None:
    """Give what was in force, once it has been read back."""
    if story.read_back is None or story.backend is None or story.prepared is None:
        return None
    back, prepared = story.read_back, story.prepared
    entries = tuple(mask.entry for mask in prepared.masks)
    present = tuple(one for one in entries if os.path.lexists(f"/proc/{one}"))
    return Isolation(
        story.backend.name,
        story.backend.level,
        back.verified,
        back.protections,
        back.filter_bytes,
        back.contradictions,
        prepared.host_root,
        prepared.network,
        present if back.protections.proc_masks else (),
        tuple(one for one in entries if one not in present),
    )


def _usage(story: Story) -> Usage:
    loop = story.loop
    if loop is None or story.prepared is None:
        return Usage()
    if not loop.sampler.needed:  # nobody has looked
        return story.cgroup_usage
    sampler, limits, known = loop.sampler, story.prepared.limits, story.cgroup_usage.cpu
    return Usage(
        known if limits.cpu is None else max(sampler.cpu, known or 0),
        story.cgroup_usage.memory or (sampler.memory if limits.memory is not None else None),
        story.cgroup_usage.tasks or (sampler.tasks if sampler.tasks else None),
    )


def _limits(story: Story, prepared: Prepared) -> tuple[LimitReport, ...]:
    """Say how each limit was enforced. Without namespaces nothing tells whose processes to sample."""
    return reports(prepared, os.uname().release, story.cgroup_enforces, sampled=story.isolates())


def _timings(story: Story) -> Timings:
    now = time.monotonic()
    milliseconds = [
        round(1000 * value, 3)
        for value in (
            (story.released if story.ran else now) - story.begun,
            story.stopped - story.released if story.ran else 0.0,
            now - story.stopped if story.ran else 0.0,
            now - story.begun,
        )
    ]
    return Timings(*milliseconds)
