"""The helper: one resident process per host process, which forks a supervisor for each run.

A host may have many threads and gigabytes of memory, and may ignore SIGCHLD or wait for any child. The helper has one
thread and little memory, was executed afresh with an empty environment, and has imported everything that a run needs
before any id changes. It ends with the host.
"""

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
    known: dict[str, Loaded] = {}
    gc.collect()
    gc.freeze()
    gc.disable()
    poll = select.poll()
    poll.register(end, select.POLLIN)
    poll.register(host, select.POLLIN)
    while True:
        ready = [one for one, _ in poll.poll()]
        if host in ready:
            os._exit(0)
        request = wire.receive(end)
        if request is None:
            os._exit(0)
        if request.kind == wire.DEFINE:
            _define(known, request.text)
        else:
            _fork(end, host, known, request)


def _define(known: dict[str, Loaded], text: bytes) -> None:
    loaded = for_machine(bundle.decode(text), sys.platform, os.uname().machine, sys.byteorder)
    known[loaded.bundle.address] = loaded
    gc.freeze()


def _fork(end: socket.socket, host: int, known: dict[str, Loaded], request: wire.Request) -> None:
    try:
        pid = libc.clone(0)
    except OSError:
        pid = -1  # the host sees the end of its socket, and reports that
    if pid != 0:
        wire.close(request.descriptors)
        return
    try:
        end.close()
        address, job = wire.decode_job(request.text)
        given = iter(request.descriptors)
        control, lifeline = next(given), next(given)
        streams = [-1 if kind == "null" else next(given) for kind in job.options[3:6]]
        supervisor.main(job, known[address], supervisor.Given(host, control, lifeline, *streams))
    finally:
        os._exit(0)
