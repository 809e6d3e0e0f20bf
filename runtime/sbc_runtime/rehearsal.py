"""What a spare supervisor does before its run is asked for: what can be done ahead, and a rehearsal of the rest.

The first use of a page of memory after a fork copies it: what a run will touch is touched here. Nothing is changed that
is seen from outside this process and its children.
"""

import _socket as socket
import contextlib
import os
from collections.abc import Callable

from sbc_runtime import doctor_cache, inherit, nest, orders, readback, run_cgroup, wire
from sbc_runtime.backends.interface import Ended
from sbc_runtime.backends.registry import AUTO
from sbc_runtime.errors import SetupFailed
from sbc_runtime.job import Job
from sbc_runtime.loaded import Loaded
from sbc_runtime.mounts import Frame, shm_size
from sbc_runtime.outcome_codec import encode
from sbc_runtime.pipes import Pipes, Streams
from sbc_runtime.plan import IdRange, ParamRef
from sbc_runtime.prepare.ids import ids
from sbc_runtime.prepare.run import prepare
from sbc_runtime.prepare.select import devices, identity, limits, masks, setting
from sbc_runtime.prepared import WITH_TERMINALS, Prepared
from sbc_runtime.protected import Protected
from sbc_runtime.records import NamedTuple
from sbc_runtime.rlimits import rlimits
from sbc_runtime.story import Story, outcome
from sbc_runtime.supervisor import WITH_NEST, refuse_answers
from sbc_runtime.watching import Callers, Loop
from sbc_runtime.wire import decode_job


def get_ready(last: bytes, known: dict[str, Loaded], asked: Callable[[], bool] | None) -> None:
    """Get ready for a run like that of the request `last`; stop once it is `asked` for. None: in a hurry."""
    address, job = decode_job(last)
    loaded = known[address]
    # A range of host ids would be locked. What the caller has changed of itself is taken over when the run comes.
    if any(isinstance(one.value, IdRange) for one in loaded.bundle.plan.identity) or inherit.differs(job.caller):
        return
    with contextlib.suppress(SetupFailed, OSError):
        inherit.set_signals()
        inherit.leave_keyring()
        sample = orders.Orders(prepared := prepare(loaded.bundle, _program(loaded), job), ())
        if job.options.backend in WITH_NEST:
            nest.keep(nest.like(prepared), None if asked is None else sample)
        run_cgroup.look_ahead(job, prepared)
        if asked is not None and not asked():
            _rehearse(last, job, loaded, sample)


def expect(loaded: Loaded) -> None:
    """Get ready for the one run to come, of which only the bundle is known yet."""
    plan = loaded.bundle.plan
    if any(isinstance(one.value, IdRange | ParamRef) for one in plan.identity):
        return
    with contextlib.suppress(SetupFailed, OSError):
        inherit.set_signals()
        inherit.leave_keyring()
        root, kind = setting(plan.roots), devices(plan)
        frame = Frame(
            root is None or root.kind != "host",
            kind,
            kind in WITH_TERMINALS,
            shm_size(limits(plan.limits, {}, None)),
            masks(plan),
        )
        # A guess: where the run turns out to be another's, it makes its own.
        nest.keep(nest.Like(ids(identity(plan, {}))[0], plan.network.mode, frame))


def _program(loaded: Loaded) -> bytes | None:
    return None if loaded.filter is None else loaded.filter.program


def _rehearse(last: bytes, job: Job, loaded: Loaded, sample: orders.Orders) -> None:
    wire.rehearse(last)
    decode_job(last)
    inherit.take_over(job.caller)
    refuse_answers(loaded)
    story = Story(job, loaded.bundle, loaded.enforcement)
    story.prepared = prepare(loaded.bundle, _program(loaded), job)
    orders.rehearse(sample._replace(limits=rlimits(story.prepared, os.uname().release)))
    readback.rehearse(story.prepared)
    Protected(story.prepared).close()
    doctor_cache.order(AUTO, job.caller.home)
    pipes = Pipes(job, story.prepared, Streams(-1, -1, -1))
    pipes.close_child()
    if not story.prepared.terminal:
        pipes.attach(-1)
        _watch(story.prepared, pipes)
        pipes.close()
    encode(outcome(story))


class _Ended(NamedTuple):
    """A sandbox whose end has come before anything was."""

    status: int
    proc: int = -1
    init_pid: int = 0
    command_pid: int = 0
    terminal: int = -1
    system_v: tuple[int, ...] = ()

    def ended(self) -> Ended | None:
        return None


def _watch(prepared: Prepared, pipes: Pipes) -> None:
    status, other = os.pipe()
    os.close(other)
    here, there = socket.socketpair()
    with contextlib.closing(here), contextlib.closing(there):
        Loop(prepared, _Ended(status), pipes.pumps, Callers(here, there.fileno()), None).run()
    os.close(status)
