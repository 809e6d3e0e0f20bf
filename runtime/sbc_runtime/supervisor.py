"""The supervisor of one run: a process of one thread that starts, watches, ends and reports.

It is forked from the helper for one run and ends with it. Everything is decided in one poll loop; the host process only
waits for the outcome, and its end, seen through the socket and by its pid, ends the run.
"""

import _socket as socket
import contextlib
import os
import time

from sbc_runtime import doctor_cache, inherit, late_sockets, nest, run_cgroup
from sbc_runtime.backends.interface import Backend, ChildDescriptors, Sandbox, Watch
from sbc_runtime.backends.registry import AUTO, backend
from sbc_runtime.containment import check_level
from sbc_runtime.errors import SetupFailed
from sbc_runtime.job import Job
from sbc_runtime.loaded import Loaded
from sbc_runtime.outcome import Failure, ReadBack, RunLoss
from sbc_runtime.outcome_codec import encode
from sbc_runtime.pipes import Pipes, Streams
from sbc_runtime.prepare.ids import release
from sbc_runtime.prepare.run import prepare
from sbc_runtime.prepared import Prepared
from sbc_runtime.protected import Protected
from sbc_runtime.records import NamedTuple
from sbc_runtime.report_place import check_place
from sbc_runtime.seccomp import needs_supervisor
from sbc_runtime.story import Story, isolation, outcome
from sbc_runtime.watching import Callers, Loop
from sbc_runtime.words import NoReturn

WITH_NEST = frozenset({"auto", "namespace"})
"""Choices of a backend that take what `nest` keeps."""

_FALLS_THROUGH = frozenset({"namespaces", "id maps", "backend"})
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
        inherit.set_signals()
        with contextlib.closing(socket.socket(fileno=given.control)) as control:
            told = _run(job, loaded, given, control)
            release()
            control.setblocking(True)
            control.sendall(told)
            # The host need not wait until this process is gone.
            control.shutdown(socket.SHUT_WR)
    finally:
        os._exit(0)


def refuse(job: Job, loaded: Loaded, control: int, error: OSError) -> None:
    """Tell of a run that could not even begin, on `control`, which stays open.

    Nothing is opened for that, and the host is not waited for: what is told is small.
    """
    story = Story(job._replace(environment=()), loaded.bundle, loaded.enforcement)
    story.failure = SetupFailed.of("helper", error).failure
    end = socket.socket(fileno=control)
    with contextlib.suppress(OSError):
        end.send(encode(outcome(story)), socket.MSG_NOSIGNAL | socket.MSG_DONTWAIT)
    end.detach()


def _run(job: Job, loaded: Loaded, given: Given, control: socket.socket) -> bytes:
    story = Story(job, loaded.bundle, loaded.enforcement)
    try:
        if inherit.take_over(job.caller) or job.options.backend not in WITH_NEST:
            nest.forget()
        inherit.leave_keyring()
        refuse_answers(loaded)
        program = None if loaded.filter is None else loaded.filter.program
        kept = inherit.kept_keyring(program, loaded.arch)
        if kept is not None:
            story.notes.append(kept)
        story.prepared = prepare(loaded.bundle, program, job)
        if job.options.report is not None:
            check_place(story.prepared, job.options.report)
        _execute(story, story.prepared, given, control)
    except SetupFailed as failed:
        story.failure = _explained(failed)
    except OSError as error:
        story.failure = SetupFailed.of("supervisor", error).failure
    except Exception as error:
        story.failure = Failure("supervisor", repr(error), "this is a fault of the program: please report it")
    return encode(outcome(story))


def _explained(failed: SetupFailed) -> Failure:
    """Add what this machine says of the reason."""
    from sbc_runtime.doctor_reasons import explained, machine  # noqa: PLC0415 - runs that start need none

    return explained(failed.failure, machine())


def refuse_answers(loaded: Loaded) -> None:
    """Refuse a filter that waits for answers which nobody gives."""
    if loaded.filter is not None and loaded.arch is not None:
        word = needs_supervisor(loaded.filter.program, loaded.arch)
        if word is not None:
            why = f"the profile says `{word}`, which needs a supervisor that answers"
            raise SetupFailed("filter", why, "use `deny`, `log` or a kill action")


def _execute(story: Story, prepared: Prepared, given: Given, control: socket.socket) -> None:
    job = story.job
    story.started = time.monotonic()
    protected = Protected(prepared)
    group = run_cgroup.choose(job, prepared, story.notes)
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
            # While the command starts: nothing of it depends on how that goes on.
            story.isolation = isolation(story)
            loop.run()
        finally:
            story.stopped = time.monotonic()
            sandbox.kill()
            sandbox.wait()
        loop.drain()
        story.absent, story.replaced = protected.absent(), protected.replaced()
        if story.isolates():
            story.notes += late_sockets.notes(prepared)
    finally:
        protected.close()
        if group is not None:
            story.oom_killed, story.processes_refused = group.oom_killed(), group.processes_refused()
            story.cgroup_usage = group.usage()
            group.kill()
            group.remove()


def _start(story: Story, prepared: Prepared, child: ChildDescriptors, watch: Watch) -> Sandbox:
    job = story.job
    names = doctor_cache.order(AUTO, job.caller.home) if job.options.backend == "auto" else (job.options.backend,)
    if names[0] != AUTO[0] and len(names) > 1:
        story.notes.append(
            f"the backend {names[0]} was tried first: `sbc doctor` found that {AUTO[0]} does not work here"
        )
    failures: dict[str, Failure] = {}
    for name in names:
        try:
            one = backend(name, job, story.bundle)
            story.backend = one
            check_level(story.bundle.plan, one.name, one.level)
            story.losses = _accepted(prepared, one, job.options.allow_wider)
            sandbox = one.start(prepared, child, watch)
        except SetupFailed as failed:
            failures[name] = _explained(failed)
            if failed.failure.step not in _FALLS_THROUGH:
                break
        else:
            story.notes += [
                f"the backend {first} was not used: {why.step}: {why.why}" for first, why in failures.items()
            ]
            return sandbox
    raise _no_backend(failures)


def _no_backend(failures: dict[str, Failure]) -> SetupFailed:
    """Give the one failure, or all of them as one: each backend's reason with its own remedy."""
    if len(failures) == 1:
        return SetupFailed(*next(iter(failures.values())))
    told = [
        (f"{name}: {one.step}: {one.why}" + (f" ({one.where})" if one.where else ""), f"for {name}: {one.remedy}")
        for name, one in failures.items()
    ]
    why, remedy = (" / ".join(part) for part in zip(*told, strict=True))
    return SetupFailed("backend", f"no backend works here: {why}", remedy, next(iter(failures.values())).errno)


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
