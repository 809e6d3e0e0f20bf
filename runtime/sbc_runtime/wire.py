"""How a host process and its helper talk: a request is a head, a text, and descriptors that come with the head."""

import _socket as socket
import array
import os
from struct import Struct

from sbc_runtime import job as jobs
from sbc_runtime import scheduling
from sbc_runtime.carrier import Carrier
from sbc_runtime.job import Job
from sbc_runtime.records import NamedTuple
from sbc_runtime.words import Literal

HEAD = Struct("=BI")
"""What it is (`DEFINE` or `RUN`), and how many bytes follow."""

DEFINE = 1
RUN = 2
_MOST_DESCRIPTORS = 8
_SMALL = 1 << 15
"""Bytes that a socket takes at once, whatever the machine's settings (`net.core.wmem_default`) may reasonably be."""
_JOBS = Carrier(jobs, scheduling)


class Request(NamedTuple):
    """What the helper got: its kind, its text, its descriptors, and whether there was no room for all of these."""

    kind: Literal[1, 2]
    text: bytes
    descriptors: tuple[int, ...]
    cut: bool


def send(end: socket.socket, kind: int, text: bytes, descriptors: tuple[int, ...] = ()) -> None:
    """Send a request. The caller holds the lock of the connection.

    Whoever sends may have SIGPIPE at its default, as the helper has: the end of the connection is an error and no more.
    """
    head = HEAD.pack(kind, len(text))
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
    data = memoryview(head + text)
    sent = end.sendmsg([data], rights, socket.MSG_NOSIGNAL)
    while sent < len(data):
        sent += end.send(data[sent:], socket.MSG_NOSIGNAL)


def rehearse(text: bytes) -> None:
    """Send oneself a request for a run and receive it: what that touches is this process's own then."""
    here, there = socket.socketpair()
    try:
        if len(text) < _SMALL:
            send(here, RUN, text, (here.fileno(), there.fileno()))
            request = receive(there)
            close(() if request is None else request.descriptors)
    finally:
        here.close()
        there.close()


def receive(end: socket.socket) -> Request | None:
    """Wait for a request; None at the end of the connection."""
    space = socket.CMSG_SPACE(4 * _MOST_DESCRIPTORS)
    data, ancillary, flags, _ = end.recvmsg(HEAD.size, space, socket.MSG_CMSG_CLOEXEC)
    descriptors = array.array("i")
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            descriptors.frombytes(content[: len(content) - len(content) % descriptors.itemsize])
    data += _exactly(end, HEAD.size - len(data)) if data else b""
    if len(data) < HEAD.size:
        return None
    kind, length = HEAD.unpack(data)
    cut = bool(flags & socket.MSG_CTRUNC)
    return Request(DEFINE if kind == DEFINE else RUN, _exactly(end, length), tuple(descriptors), cut)


def _exactly(end: socket.socket, length: int) -> bytes:
    parts: list[bytes] = []
    while length:
        part = end.recv(min(length, 1 << 20))
        if not part:
            break
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def encode_job(address: str, job: Job) -> bytes:
    """Give a job, and the address of its bundle, as bytes."""
    return _JOBS.pack((address, job))


def decode_job(data: bytes) -> tuple[str, Job]:
    """Read a job, and the address of its bundle."""
    address, job = _JOBS.unpack(data)
    return address, job


def close(descriptors: tuple[int, ...]) -> None:
    """Close descriptors."""
    for one in descriptors:
        os.close(one)
