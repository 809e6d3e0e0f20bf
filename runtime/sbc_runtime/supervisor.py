"""The supervisor of one run: a process of one thread that starts, watches, ends and reports.

It is forked from the helper for one run and ends with it. Everything is decided in one poll loop; the host process only
waits for the outcome, and its end, seen through the socket and by its pid, ends the run.
"""

import contextlib
import os
import resource
import signal
import socket
import time
from collections.abc import Callable
from typing import NamedTuple, NoReturn

from sbc_runtime import cgroup, libc, nest, orders, readback
from sbc_runtime.backends.interface import Backend, Cgroup, ChildDescriptors, Sandbox, Watch
from sbc_runtime.backends.registry import AUTO, backend
from sbc_runtime.errors import SetupFailed
from sbc_runtime.job import Job
from sbc_runtime.loader import Loaded
from sbc_runtime.outcome import Absent, Failure, ReadBack, RunLoss
from sbc_runtime.outcome_codec import encode
from sbc_runtime.pipes import Pipes, Streams
from sbc_runtime.plan import IdRange
from sbc_runtime.prepare.run import prepare
from sbc_runtime.prepared import Prepared
from sbc_runtime.report_place import check_place
from sbc_runtime.rlimits import rlimits
from sbc_runtime.seccomp import needs_supervisor
from sbc_runtime.story import Story, outcome
from sbc_runtime.watching import Callers, Loop
from sbc_runtime.wire import decode_job

_EDQUOT = 122
_CGROUP_KNOWN = 10.0
"""For how many seconds it holds that no base for cgroups can be used."""

_WITH_NEST = frozenset({"auto", "namespace"})
_FALLS_THROUGH = frozenset({"namespaces", "id maps"})
"""Steps whose failure tells that a backend does not work here at all: `auto` then tries the next one."""


class Given(NamedTuple):
    """Descriptors that came with a request.

    `host`: a pidfd of the host process. `control`: the socket to it. `lifeline`: only the host has its other end.
    """

    host: int
    control: int
    lifeline: int
    streams: Streams


def main(job: Job, loaded: Loaded, given: Given) -> NoReturn:
    """Carry out one run, tell its outcome, and end."""
    try:
        _begin()
        with socket.socket(fileno=given.control) as control:
            told = _run(job, loaded, given, control)
            control.setblocking(True)
            control.sendall(told)
            # The host need not wait until this process is gone.
            control.shutdown(socket.SHUT_WR)
    finally:
        os._exit(0)


def get_ready(last: bytes, job: Job, loaded: Loaded, asked: Callable[[], bool]) -> None:
    """Do what can be done for a run like `job`, of the request `last`, before it is `asked` for; rehearse the rest.

    The first use of a page of memory after a fork copies it: what a run will touch is touched here. Nothing is changed
    that is seen from outside this process and its children.
    """
    # A range of host ids would be locked. What the caller has changed of itself is taken over when the run comes.
    if any(isinstance(one.value, IdRange) for one in loaded.bundle.plan.identity) or _takes_over(job):
        return
    with contextlib.suppress(SetupFailed, OSError):
        _begin()
        _keyring()
        program = None if loaded.filter is None else loaded.filter.program
        prepared = prepare(loaded.bundle, program, job)
        sample = orders.Orders(prepared, rlimits(prepared, os.uname().release), ())
        if job.options.backend in _WITH_NEST:
            nest.keep(sample)
        if asked():
            return
        _cgroup_refusal(job, prepared)
        _caller(decode_job(last)[1])
        _refuse_answers(loaded)
        story = Story(job, loaded.bundle, loaded.enforcement)
        story.prepared = prepare(loaded.bundle, program, job)
        if asked():
            return
        orders.rehearse(sample)
        readback.rehearse(story.prepared)
        pipes = Pipes(job, prepared, Streams(-1, -1, -1))
        pipes.close_child()
        if not prepared.terminal:
            pipes.attach(-1)
            pipes.close()
        encode(outcome(story))


def _begin() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)


def _run(job: Job, loaded: Loaded, given: Given, control: socket.socket) -> bytes:
    story = Story(job, loaded.bundle, loaded.enforcement)
    try:
        if _caller(job) or job.options.backend not in _WITH_NEST:
            nest.forget()
        _keyring()
        _refuse_answers(loaded)
        program = None if loaded.filter is None else loaded.filter.program
        story.prepared = prepare(loaded.bundle, program, job)
        if job.options.report is not None:
            check_place(story.prepared, job.options.report)
        _execute(story, story.prepared, given, control)
    except SetupFailed as failed:
        story.failure = failed.failure
    except OSError as error:
        story.failure = SetupFailed.of("supervisor", error).failure
    except Exception as error:
        story.failure = Failure("supervisor", repr(error), "this is a fault of the program: please report it")
    return encode(outcome(story))


def _refuse_answers(loaded: Loaded) -> None:
    """Refuse a filter that waits for answers which nobody gives."""
    if loaded.filter is not None and loaded.arch is not None:
        word = needs_supervisor(loaded.filter.program, loaded.arch)
        if word is not None:
            why = f"the profile says `{word}`, which needs a supervisor that answers"
            raise SetupFailed("filter", why, "use `deny`, `log` or a kill action")


def _differences(job: Job) -> list[tuple[int, int, int]]:
    """Give the caller's limits that are not this process's."""
    return [one for one in job.caller.limits if resource.getrlimit(one[0]) != one[1:]]


def _takes_over(job: Job) -> bool:
    """Tell whether the caller has other limits or another niceness than this process."""
    return bool(_differences(job)) or os.getpriority(os.PRIO_PROCESS, 0) != job.caller.nice


def _caller(job: Job) -> bool:
    """Take over what the caller has now: its limits, as far as they are lower than ours, and its niceness.

    Gives whether any of them was another one.
    """
    os.umask(job.caller.umask)
    if not _takes_over(job):
        return False
    for number, soft, hard in _differences(job):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(number, (soft, hard))
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, job.caller.nice)
    return True


class _Done:
    """What this process has done, or found out, ahead of its run."""

    keyring = False
    no_cgroup: tuple[object, float, str] | None = None


def _keyring() -> None:
    """Leave the caller's session keyring. A kernel without keys, or a filter around us, leaves nothing to reach."""
    for attempt in range(0 if _Done.keyring else 50):
        try:
            libc.new_session_keyring()
        except OSError as error:
            if error.errno == _EDQUOT and attempt < 49:
                time.sleep(0.01)  # keys of runs that have ended are collected a little later
                continue
            if error.errno not in {1, 38}:
                raise SetupFailed.of("keyring", error, "raise kernel.keys.maxkeys") from None
        _Done.keyring = True
        return


def _execute(story: Story, prepared: Prepared, given: Given, control: socket.socket) -> None:
    job = story.job
    story.started = time.monotonic()
    group = _cgroup(job, prepared, story)
    if group is not None:
        story.cgroup, story.cgroup_enforces = group.path, group.enforces
    try:
        pipes = Pipes(job, prepared, given.streams)
        sandbox = _start(story, prepared, pipes.child, Watch(given.lifeline, group))
        try:
            pipes.close_child()
            if not prepared.terminal:
                pipes.attach(-1)
            back = sandbox.read_back()
            story.read_back = back
            _check(back)
            if prepared.terminal:
                pipes.attach(sandbox.terminal)
            loop = Loop(prepared, sandbox, pipes.pumps, Callers(control, given.host), group)
            story.loop = loop
            sandbox.release()
            story.released = time.monotonic()
            story.ran = True
            loop.run()
        finally:
            story.stopped = time.monotonic()
            sandbox.kill()
            sandbox.wait()
        loop.drain()
        story.absent = _created(prepared.absent)
    finally:
        if group is not None:
            story.oom_killed = group.oom_killed()
            story.cgroup_usage = group.usage()
            group.kill()
            group.remove()


def _cgroup(job: Job, prepared: Prepared, story: Story) -> Cgroup | None:
    """Give a cgroup for the run, where one can be made; the story tells why not."""
    if prepared.limits.memory is None and prepared.limits.processes is None:
        return None
    known = _Done.no_cgroup
    if known is not None and known[0] == _cgroup_wanted(job, prepared) and time.monotonic() - known[1] < _CGROUP_KNOWN:
        story.notes.append(f"no cgroup: {known[2]}")
        return None
    try:
        own = 0 if job.options.backend == "process" else 1
        return cgroup.create(job.run_id, job.options.cgroup_base, prepared.limits, own, prepared.mounts)
    except SetupFailed as failed:
        story.notes.append(f"no cgroup: {failed.failure.why}")
        return None


def _cgroup_wanted(job: Job, prepared: Prepared) -> tuple[str | None, tuple[str, ...]]:
    """Give what of a run decides which base it can use; what of the host does, the helper has in common with it."""
    return job.options.cgroup_base, cgroup.needed(prepared.limits.memory, prepared.limits.processes)


def _cgroup_refusal(job: Job, prepared: Prepared) -> None:
    """Find out ahead, for a moment, that no base can be used."""
    option, controllers = wanted = _cgroup_wanted(job, prepared)
    if controllers:
        try:
            cgroup.find_base(option, os.environ, controllers)
        except SetupFailed as failed:
            _Done.no_cgroup = (wanted, time.monotonic(), failed.failure.why)


def _start(story: Story, prepared: Prepared, child: ChildDescriptors, watch: Watch) -> Sandbox:
    job = story.job
    names = AUTO if job.options.backend == "auto" else (job.options.backend,)
    reasons: list[str] = []
    for name in names:
        try:
            one = backend(name, job, story.bundle)
            story.backend = one
            story.losses = _accepted(prepared, one, job.options.allow_wider)
            return one.start(prepared, child, watch)
        except SetupFailed as failed:
            if failed.failure.step not in _FALLS_THROUGH | {"backend"} or len(names) == 1:
                raise
            reasons.append(f"{name}: {failed.failure.why}; {failed.failure.remedy}")
    raise SetupFailed("backend", "no backend works here: " + " / ".join(reasons), "`sbc doctor` tells more")


def _accepted(prepared: Prepared, one: Backend, allow_wider: bool) -> tuple[RunLoss, ...]:
    losses = (*prepared.losses, *one.losses(prepared))
    for loss in losses:
        if loss.direction == "wider" and not allow_wider:
            why = f"`{loss.text}` cannot be enforced: {loss.why}"
            raise SetupFailed(
                "losses", why, "accept it with `--allow-wider`, or change the statement", where=loss.where
            )
    return losses


def _check(back: ReadBack) -> None:
    """Refuse to run anything where the kernel does not show what was promised."""
    if back.verified:
        return
    if back.contradictions:
        raise SetupFailed("read-back", "; ".join(back.contradictions[:5]), "`sbc doctor` tells more")
    missing = [name for name in back.expected if getattr(back.protections, name) is not True]
    unread = [name for name in missing if getattr(back.protections, name) is None]
    why = f"not in force: {', '.join(missing)}" if not unread else f"could not be read: {', '.join(unread)}"
    raise SetupFailed("read-back", why, "`sbc doctor` tells more")


def _created(absent: tuple[Absent, ...]) -> tuple[Absent, ...]:
    """Look again at protected paths that were not there, and that the command could create."""
    return tuple(one._replace(created=one.could_be_created and os.path.lexists(one.path)) for one in absent)
