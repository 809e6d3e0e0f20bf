"""The helper: one resident process per host process, which forks a supervisor for each run.

A host may have many threads and gigabytes of memory, and may ignore SIGCHLD or wait for any child. The helper has one
thread and little memory, was executed afresh with an empty environment, and has imported everything that a run needs
before any id changes. It ends with the host.

It keeps one spare supervisor, forked and warm, that waits for the next run: that saves a third of a short run's time.
"""

import contextlib
import gc
import os
import select
import signal
import socket
import sys
from typing import NoReturn

from sbc_runtime import bundle, cgroup, libc, supervisor, wire
from sbc_runtime.backends import namespace
from sbc_runtime.command import ALL, reset_signals
from sbc_runtime.loader import Loaded, for_machine

__all__ = ["cgroup", "main", "namespace"]

_NAME = b"sbc-helper"


def main(descriptor: int, host_pid: int) -> NoReturn:
    """Serve requests on the socket `descriptor` until the host process is gone."""
    reset_signals(ALL)
    # Supervisors are nobody's to wait for: they tell by their socket, and the kernel takes them away.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    libc.set_name(_NAME)
    os.chdir("/")
    try:
        host = os.pidfd_open(host_pid)
    except OSError:
        os._exit(0)
    end = socket.socket(fileno=descriptor)
    if os.getppid() != host_pid:
        os._exit(0)
    gc.collect()
    gc.freeze()
    gc.disable()
    _Helper(end, host).serve()


class _Helper:
    """The loop of the helper, and the spare supervisor that it keeps."""

    def __init__(self, end: socket.socket, host: int) -> None:
        self._end = end
        self._host = host
        self._known: dict[str, Loaded] = {}
        self._spare: socket.socket | None = None

    def serve(self) -> NoReturn:
        poll = select.poll()
        poll.register(self._end, select.POLLIN)
        poll.register(self._host, select.POLLIN)
        while True:
            ready = [one for one, _ in poll.poll()]
            request = None if self._host in ready else wire.receive(self._end)
            if request is None:
                os._exit(0)
            if request.kind == wire.DEFINE:
                self._define(request.text)
            else:
                self._start(request)

    def _define(self, text: bytes) -> None:
        loaded = for_machine(bundle.decode(text), sys.platform, os.uname().machine, sys.byteorder)
        self._known[loaded.bundle.address] = loaded
        gc.freeze()
        # The spare does not know it.
        self._drop_spare()

    def _start(self, request: wire.Request) -> None:
        """Hand a request to the spare supervisor, or to a new one; then have the next spare made."""
        if not self._hand_over(request):
            self._fork(request)
        wire.close(request.descriptors)
        self._make_spare(request.text)

    def _hand_over(self, request: wire.Request) -> bool:
        if self._spare is None:
            return False
        try:
            wire.send(self._spare, wire.RUN, request.text, request.descriptors)
        except OSError:
            return False  # it is gone
        finally:
            self._drop_spare()
        return True

    def _drop_spare(self) -> None:
        if self._spare is not None:
            self._spare.close()
            self._spare = None

    def _fork(self, request: wire.Request) -> None:
        with contextlib.suppress(OSError):  # then the host sees the end of its socket, and reports that
            if libc.clone(0) == 0:
                self._end.close()
                self._supervise(request)

    def _make_spare(self, last: bytes) -> None:
        ours, theirs = socket.socketpair()
        try:
            pid = libc.clone(0)
        except OSError:
            ours.close()
            theirs.close()
            return
        if pid == 0:
            self._end.close()
            ours.close()
            self._wait_as_spare(theirs, last)
        theirs.close()
        self._spare = ours

    def _wait_as_spare(self, end: socket.socket, last: bytes) -> NoReturn:
        try:
            # The first use of a page after a fork copies it: what a run will touch is touched before it is asked for.
            address, job = wire.decode_job(last)
            supervisor.rehearse(job, self._known[address])
            request = wire.receive(end)
            if request is not None:
                end.close()
                self._supervise(request)
        finally:
            os._exit(0)

    def _supervise(self, request: wire.Request) -> NoReturn:
        try:
            address, job = wire.decode_job(request.text)
            given = iter(request.descriptors)
            control, lifeline = next(given), next(given)
            streams = [-1 if kind == "null" else next(given) for kind in job.options[3:6]]
            supervisor.main(job, self._known[address], supervisor.Given(self._host, control, lifeline, *streams))
        finally:
            os._exit(0)
