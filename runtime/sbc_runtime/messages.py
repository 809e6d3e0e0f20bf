"""What init and the waiting command tell the supervisor: small JSON texts on a packet socket."""

import _socket as socket
import json
import os
import sys
from struct import Struct

from sbc_runtime.errors import SetupFailed
from sbc_runtime.outcome import Failure
from sbc_runtime.records import NamedTuple

_CREDENTIALS = Struct("=3i")
_LARGEST = 64 << 10
_SCM_CREDENTIALS = 2


class Message(NamedTuple):
    """One message: who sent it, as this process numbers processes, its word, what it carries, and descriptors."""

    pid: int
    word: str
    content: object
    descriptors: tuple[int, ...]


def pair() -> tuple[socket.socket, socket.socket]:
    """Make both ends; the first learns from the kernel who sends (SO_PASSCRED, unix(7))."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    here.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    return here, there


def send(descriptor: int, word: str, content: object = None) -> None:
    """Send a message by the number of a descriptor; with write(2), which every filter has to allow."""
    os.write(descriptor, json.dumps([word, content]).encode())


def send_failure(descriptor: int, failed: SetupFailed) -> None:
    """Tell what went wrong."""
    send(descriptor, "failed", [*failed.failure])


def receive(end: socket.socket) -> Message | None:
    """Wait for a message; None at the end of the connection."""
    space = socket.CMSG_SPACE(_CREDENTIALS.size) + socket.CMSG_SPACE(4 * 4)
    try:
        data, ancillary, _, _ = end.recvmsg(_LARGEST, space, socket.MSG_CMSG_CLOEXEC)
    except ConnectionResetError:
        # Told once, where the other side has ended without having read everything; what it has said comes after that.
        data, ancillary, _, _ = end.recvmsg(_LARGEST, space, socket.MSG_CMSG_CLOEXEC)
    if not data:
        return None
    pid = 0
    descriptors: list[int] = []
    for _, kind, content in ancillary:
        if kind == _SCM_CREDENTIALS:
            pid = int(_CREDENTIALS.unpack(content[: _CREDENTIALS.size])[0])
        elif kind == socket.SCM_RIGHTS:
            descriptors += [
                int.from_bytes(content[at : at + 4], sys.byteorder)
                for at in range(0, len(content) - len(content) % 4, 4)
            ]
    word, told = json.loads(data)
    return Message(pid, str(word), told, tuple(descriptors))


def failure(content: object) -> SetupFailed:
    """Read what `send_failure` told."""
    if not isinstance(content, list):
        return SetupFailed("start", "the sandbox told nothing that can be understood")
    step, why, remedy, number, where = content  # pyright: ignore[reportUnknownVariableType]
    one = Failure(str(step), str(why), str(remedy), int(number), str(where))  # pyright: ignore[reportUnknownArgumentType]
    return SetupFailed(one.step, one.why, one.remedy, one.errno, one.where)
