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
from typing import NamedTuple, NoReturn

from sbc_runtime import libc, readback
from sbc_runtime.backends.interface import Backend, Cgroup, ChildDescriptors, Sandbox, Watch
from sbc_runtime.backends.registry import AUTO, backend
from sbc_runtime.errors import SetupFailed
from sbc_runtime.job import Job
from sbc_runtime.loader import Loaded
from sbc_runtime.outcome import Absent, Failure, ReadBack, RunLoss
from sbc_runtime.outcome_codec import encode
from sbc_runtime.plan import IdRange
from sbc_runtime.prepare.run import prepare
from sbc_runtime.prepared import Prepared
from sbc_runtime.report_place import check_place
from sbc_runtime.seccomp import needs_supervisor
from sbc_runtime.story import Story, outcome
from sbc_runtime.streams import CAPTURE_MOST, Pump, Sink
from sbc_runtime.watching import Callers, Loop, set_size

_EDQUOT = 122
_FALLS_THROUGH = frozenset({"namespaces", "id maps"})
"""Steps whose failure tells that a backend does not work here at all: `auto` then tries the next one."""


class Given(NamedTuple):
    """Descriptors that came with a request.

    `control`: the socket to the host. `lifeline`: only the host has its other end. `stdin`, `stdout`, `stderr`: what
    the streams lead to or come from, -1 for nothing. `host`: a pidfd of the host process.
    """

    host: int
    control: int
    lifeline: int
    stdin: int
    stdout: int
    stderr: int


def main(job: Job, loaded: Loaded, given: Given) -> NoReturn:
    """Carry out one run, tell its outcome, and end."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        with socket.socket(fileno=given.control) as control:
            told = _run(job, loaded, given, control)
            control.setblocking(True)
            control.sendall(told)
            # The host need not wait until this process is gone.
            control.shutdown(socket.SHUT_WR)
    finally:
        os._exit(0)


def rehearse(job: Job, loaded: Loaded) -> None:
    """Go through what a run does that changes nothing, so that its memory is in place when a run comes."""
    with contextlib.suppress(SetupFailed, OSError):
        program = None if loaded.filter is None else loaded.filter.program
        story = Story(job, loaded.bundle, loaded.enforcement)
        # A range of host ids would be locked.
        if not any(isinstance(one.value, IdRange) for one in loaded.bundle.plan.identity):
            story.prepared = prepare(loaded.bundle, program, job)
            readback.rehearse(story.prepared)
        encode(outcome(story))


def _run(job: Job, loaded: Loaded, given: Given, control: socket.socket) -> bytes:
    story = Story(job, loaded.bundle, loaded.enforcement)
    try:
        _caller(job)
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


def _caller(job: Job) -> None:
    """Take over what the caller has now: its limits, as far as they are lower than ours, and its niceness."""
    for number, soft, hard in job.caller.limits:
        with contextlib.suppress(OSError, ValueError):
            if resource.getrlimit(number) != (soft, hard):
                resource.setrlimit(number, (soft, hard))
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, job.caller.nice)
    os.umask(job.caller.umask)


def _keyring() -> None:
    """Leave the caller's session keyring. A kernel without keys, or a filter around us, leaves nothing to reach."""
    for attempt in range(50):
        try:
            libc.new_session_keyring()
        except OSError as error:
            if error.errno == _EDQUOT and attempt < 49:
                time.sleep(0.01)  # keys of runs that have ended are collected a little later
                continue
            if error.errno not in {1, 38}:
                raise SetupFailed.of("keyring", error, "raise kernel.keys.maxkeys") from None
        return


def _execute(story: Story, prepared: Prepared, given: Given, control: socket.socket) -> None:
    job = story.job
    story.started = time.monotonic()
    cgroup = _cgroup(job, prepared, story)
    if cgroup is not None:
        story.cgroup, story.cgroup_enforces = cgroup.path, cgroup.enforces
    try:
        pipes = _Pipes(job, prepared, given)
        sandbox = _start(story, prepared, pipes.child, Watch(given.lifeline, cgroup))
        try:
            pipes.close_child()
            back = sandbox.read_back()
            story.read_back = back
            _check(back)
            pipes.attach(sandbox.terminal)
            loop = Loop(prepared, sandbox, pipes.pumps, Callers(control, given.host), cgroup)
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
        if cgroup is not None:
            story.oom_killed = cgroup.oom_killed()
            story.cgroup_usage = cgroup.usage()
            cgroup.kill()
            cgroup.remove()


def _cgroup(job: Job, prepared: Prepared, story: Story) -> Cgroup | None:
    """Give a cgroup for the run, where one can be made; the story tells why not."""
    if prepared.limits.memory is None and prepared.limits.processes is None:
        return None
    try:
        from sbc_runtime.cgroup import create  # noqa: PLC0415
    except ImportError:
        return None
    try:
        own = 0 if job.options.backend == "process" else 1
        return create(job.run_id, job.options.cgroup_base, prepared.limits, own, prepared.mounts)
    except SetupFailed as failed:
        story.notes.append(f"no cgroup: {failed.failure.why}")
        return None


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


class _Pipes:
    """The run's own pipes, and what moves bytes through them."""

    def __init__(self, job: Job, prepared: Prepared, given: Given) -> None:
        self._given = given
        self._limit = prepared.limits.output
        self._options = job.options
        self._ours: list[int] = []
        self.pumps: list[Pump] = []
        if prepared.terminal:
            self.child = ChildDescriptors(-1, -1, -1)
            return
        stdin, self._in = os.pipe()
        self._out, stdout = os.pipe()
        self._err, stderr = os.pipe()
        self.child = ChildDescriptors(stdin, stdout, stderr)

    def close_child(self) -> None:
        """Close the command's ends: now only the command has them."""
        for one in self.child:
            if one >= 0:
                os.close(one)

    def attach(self, terminal: int) -> None:
        """Make the pumps: input first, then output, then errors."""
        if terminal >= 0:
            copy = os.dup(terminal)
            set_size(terminal, self._options.rows, self._options.columns)
            os.set_blocking(terminal, False)
            self.pumps = [
                Pump(self._given.stdin, Sink(terminal, ours=True), limit=None, kept=None),
                self._out_pump(copy, self._given.stdout, captured=False),
            ]
            return
        if self._given.stdin >= 0:
            self.pumps.append(
                Pump(self._given.stdin, Sink(self._in, ours=True), limit=None, kept=None, close_sink=True)
            )
        else:
            os.close(self._in)
            self.pumps.append(Pump(-1, None, limit=None, kept=None))
            self.pumps[0].open = False
        self.pumps.append(self._out_pump(self._out, self._given.stdout, captured=self._options.stdout == "capture"))
        self.pumps.append(self._out_pump(self._err, self._given.stderr, captured=self._options.stderr == "capture"))

    def _out_pump(self, source: int, target: int, *, captured: bool) -> Pump:
        sink = None if target < 0 else Sink(target, ours=captured)
        return Pump(source, sink, limit=self._limit, kept=CAPTURE_MOST if captured else None)
