"""The helper: one resident process per host process, which forks a supervisor for each run.

A host may have many threads and gigabytes of memory, and may ignore SIGCHLD or wait for any child. The helper has one
thread and little memory, and has imported everything that a run needs before any id changes. It was executed afresh
with an empty environment; that of a program which runs one command is a fork that has overwritten it (`spawn`), and
serves that one run. It ends with the host.

It keeps one spare supervisor, forked with a sandbox's processes below it, that waits for the next run: that saves
half of a short run's time. It goes when no run comes for a while.
"""

import _socket as socket
import contextlib
import errno
import gc
import os
import select
import signal
import time

from sbc_runtime import cgroup, libc, loaded, nest, orders, supervisor, wire
from sbc_runtime.backends import namespace
from sbc_runtime.command import ALL, reset_signals
from sbc_runtime.init_guard import init_guard
from sbc_runtime.loaded import Loaded
from sbc_runtime.pipes import Streams
from sbc_runtime.rehearsal import expect, get_ready
from sbc_runtime.socket_filters import guard
from sbc_runtime.words import NoReturn

__all__ = ["cgroup", "main", "namespace"]

_NAME = b"sbc-helper"
_SPARE = b"sbc-spare"
_SUPERVISOR = b"sbc-supervisor"
_IDLE = 60_000
"""Milliseconds without a request after which the spare supervisor is let go."""

_SETTLED = 50
"""Milliseconds after which a run that goes on has long been set up."""

_HURRY = 0.005
"""Seconds: who asks again this soon after a run, or while one goes on, will do so once more."""


def main(descriptor: int, host_pid: int, *, once: bool) -> NoReturn:
    """Serve requests on the socket `descriptor` until the host process is gone; `once`: become the first one's
    supervisor.
    """
    _take_effective_ids()
    reset_signals(ALL)
    # Supervisors are nobody's to wait for: they tell by their socket, and the kernel takes them away.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    libc.set_name(_NAME)
    libc.set_command_line(_NAME)
    os.chdir("/")
    try:
        host = os.pidfd_open(host_pid)
    except OSError:
        os._exit(0)
    end = socket.socket(fileno=descriptor)
    if os.getppid() != host_pid:
        os._exit(0)
    gc.disable()
    gc.freeze()
    _Helper(end, host, once).serve()


def _take_effective_ids() -> None:
    """Be wholly who the host is in effect: with other real or saved ids the kernel keeps its own /proc/self from it."""
    user, group = os.geteuid(), os.getegid()
    if os.getresuid() != (user,) * 3 or os.getresgid() != (group,) * 3:
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)
        libc.prctl(libc.PR_SET_DUMPABLE, 1)


class _Helper:
    """The loop of the helper, and the spare supervisor that it keeps."""

    def __init__(self, end: socket.socket, host: int, once: bool) -> None:
        self._end = end
        self._once = once
        self._host = host
        self._known: dict[str, Loaded] = {}
        self._last: bytes | None = None
        self._busy: socket.socket | None = None
        self._ended = 0.0
        self._spare: socket.socket | None = None

    def serve(self) -> NoReturn:
        while True:
            ready = self._wait()
            if self._host in ready:
                os._exit(0)
            if self._end.fileno() in ready:
                request = wire.receive(self._end)
                if request is None:
                    os._exit(0)
                if request.kind == wire.DEFINE:
                    self._define(request.text)
                else:
                    self._start(request)
            elif self._busy is not None:
                # The run is over, or goes on for long: now a spare supervisor is in nobody's way.
                self._busy, self._ended = _closed(self._busy), time.monotonic()
                self._make_spare()
                self._rehearse()
            else:
                self._spare = _closed(self._spare)

    def _wait(self) -> frozenset[int]:
        poll = select.poll()
        poll.register(self._end, select.POLLIN)
        poll.register(self._host, select.POLLIN)
        if self._busy is not None:
            poll.register(self._busy, select.POLLIN)
        patience = _SETTLED if self._busy is not None else _IDLE if self._spare is not None else None
        return frozenset(one for one, _ in poll.poll(patience))

    def _define(self, text: bytes) -> None:
        one = loaded.unpack(text)
        self._known[one.bundle.address] = one
        if one.arch is not None:
            # Once for all runs: a supervisor is forked with what is known.
            init_guard(one.arch)
            guard(None if one.filter is None else one.filter.program, one.arch)
        if self._once:
            expect(one)
        gc.freeze()
        # The spare does not know it.
        self._spare = _closed(self._spare)

    def _start(self, request: wire.Request) -> None:
        """Hand a request to the spare supervisor, or to a new one. In a hurry the next one is made at once."""
        hurry = self._busy is not None or time.monotonic() - self._ended < _HURRY
        if self._once:
            self._end.close()
            self._supervise(request)  # nothing else is left for this process to do
        elif request.cut:
            self._refuse(request, OSError(errno.EMFILE, os.strerror(errno.EMFILE)))
        elif not self._hand_over(request):
            try:
                self._spare = _closed(self._spare) or self._fork(None)
                self._hand_over(request)
            except OSError as error:
                self._refuse(request, error)
        wire.close(request.descriptors)
        _closed(self._busy)
        self._busy, self._spare = self._spare, None
        self._last = request.text
        if hurry:
            self._make_spare(hurry)

    def _hand_over(self, request: wire.Request) -> bool:
        if self._spare is None:
            return False
        try:
            wire.send(self._spare, wire.RUN, request.text, request.descriptors)
        except OSError:
            return False  # it is gone: where that was a new one, the host sees the end of its socket, and reports it
        return True

    def _refuse(self, request: wire.Request, error: OSError) -> None:
        """Answer a run that no supervisor can be made for; without the descriptor for answers the host sees its end."""
        for control in request.descriptors[:1]:
            address, job = wire.decode_job(request.text)
            supervisor.refuse(job, self._known[address], control, error)

    def _make_spare(self, hurry: bool = False) -> None:
        if self._spare is None:
            with contextlib.suppress(OSError):
                self._spare = self._fork(self._last, hurry)

    def _rehearse(self) -> None:
        """Touch what the next request will touch: after a fork the first use of a page of memory copies it."""
        if self._last is not None and not orders.waiting(self._end.fileno()):
            with contextlib.suppress(OSError):
                wire.rehearse(self._last)

    def _fork(self, last: bytes | None, hurry: bool = False) -> socket.socket:
        """Fork a supervisor, which gets ready for a run like the `last` one; its end of the socket ends with it."""
        ours, theirs = socket.socketpair()
        try:
            pid = libc.clone(0)
        except OSError:
            theirs.close()
            ours.close()
            raise
        if pid == 0:
            self._end.close()
            ours.close()
            _closed(self._busy)
            self._serve_one(theirs, last, hurry)
        theirs.close()
        return ours

    def _serve_one(self, end: socket.socket, last: bytes | None, hurry: bool) -> NoReturn:
        try:
            libc.set_name(_SPARE)
            if last is not None:
                get_ready(last, self._known, None if hurry else lambda: orders.waiting(end.fileno()))
            request = wire.receive(end)
            if request is not None:
                self._supervise(request)
        finally:
            os._exit(0)

    def _supervise(self, request: wire.Request) -> NoReturn:
        try:
            nest.begin()
            libc.set_name(_SUPERVISOR)
            if request.cut:
                self._refuse(request, OSError(errno.EMFILE, os.strerror(errno.EMFILE)))
                os._exit(0)
            address, job = wire.decode_job(request.text)
            given = iter(request.descriptors)
            control, lifeline = next(given), next(given)
            streams = [-1 if kind == "null" else next(given) for kind in job.options[3:6]]
            supervisor.main(
                job, self._known[address], supervisor.Given(self._host, control, lifeline, Streams(*streams))
            )
        finally:
            os._exit(0)


def _closed(end: socket.socket | None) -> None:
    if end is not None:
        end.close()
