"""What init and the waiting command tell the supervisor: a word and a few texts, on a packet socket."""

import _socket as socket
import os
import sys
from struct import Struct

from sbc_runtime.errors import SetupFailed
from sbc_runtime.outcome import Failure
from sbc_runtime.records import NamedTuple

_CREDENTIALS = Struct("=3i")
_LARGEST = 64 << 10
_DIGITS = 10
_SCM_CREDENTIALS = 2


class Message(NamedTuple):
    """One message: who sent it, as this process numbers processes, its word, what it tells, and descriptors."""

    pid: int
    word: str
    told: tuple[str, ...]
    descriptors: tuple[int, ...]


def pair() -> tuple[socket.socket, socket.socket]:
    """Make both ends; the first learns from the kernel who sends (SO_PASSCRED, unix(7))."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    here.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    return here, there


def send(descriptor: int, word: str, *told: str) -> None:
    """Send a message by the number of a descriptor; with write(2), which every filter has to allow."""
    texts = [one.replace("\0", "\\0") for one in told]
    os.write(descriptor, "\0".join((word, *texts)).encode("utf-8", "surrogatepass"))


def send_failure(descriptor: int, failed: SetupFailed) -> None:
    """Tell what went wrong."""
    send(descriptor, "failed", *map(str, failed.failure))


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
    try:
        word, *told = data.decode("utf-8", "surrogatepass").split("\0")
    except UnicodeDecodeError:
        raise _senseless() from None
    return Message(pid, word, tuple(told), tuple(descriptors))


def failure(told: tuple[str, ...]) -> SetupFailed:
    """Read what `send_failure` told."""
    if len(told) != len(Failure._fields):
        return _senseless()
    step, why, remedy, errno, where = told
    return SetupFailed(step, why, remedy, number(errno), where)


def number(text: str) -> int:
    """Read a number that was told; `SetupFailed` where it is none."""
    if not (text.isascii() and text.isdigit() and len(text) < _DIGITS):
        raise _senseless()
    return int(text)


def answer(text: str) -> bool | None:
    """Read an answer that was told as Python writes it; None where there is none."""
    return {"True": True, "False": False}.get(text)


def _senseless() -> SetupFailed:
    return SetupFailed("start", "the sandbox told nothing that can be understood")
