"""Which sockets are bound in file systems, told by the kernel with their inodes (unix_diag, sock_diag(7)).

A name in /proc/net/unix is what bind(2) was given: relative, of another root or mount namespace, or of a file that has
been renamed since. The inode is what connect(2) finds a socket by, whatever leads to it. Only sockets of the calling
process's network namespace are told, by either.
"""

import _socket as socket
import contextlib
import os
from struct import Struct

from sbc_runtime.records import NamedTuple

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_REQUEST_DUMP = 0x301
_ERROR, _DONE = 2, 3
_ALL_STATES = 0xFFFFFFFF
_SHOW = 0x01 | 0x02 | 0x40
"""UDIAG_SHOW_NAME, _VFS, _UID (`include/uapi/linux/unix_diag.h`)."""

_NAME, _VFS, _UID = 0, 1, 7
_ESTABLISHED = 1
_HEAD = Struct("=IHHII")
_ASK = Struct("=BBHIIIII")
_SOCKET = Struct("=BBBBIII")
_ATTRIBUTE = Struct("=HH")
_PAIR = Struct("=II")
_NUMBER = Struct("=I")
_LEAST = _HEAD.size + _SOCKET.size + _ATTRIBUTE.size + _PAIR.size
"""Bytes of a message that tells of a file: what is shorter is of a socket that is bound to none."""

_MINOR_BITS = 20
_SECONDS = 2.0
_DUMPS = 3
_ONE_AND_THE_END = 2


class Bound(NamedTuple):
    """A socket that is bound to a path: what bind(2) was given, the file, its maker's uid (None: not told).

    `device`: of the file system as mountinfo has it, "major:minor", empty where only the name is known; `inode`: the
    low 32 bits of the number; without a device that of what has the name now.
    """

    name: str
    device: str
    inode: int
    uid: int | None


def bound() -> tuple[Bound, ...] | None:
    """Give every such socket that can be connected or sent to; None: this kernel, or a filter around us, tells none."""
    try:
        asking = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _NETLINK_SOCK_DIAG)
        with contextlib.closing(asking) as end:
            end.settimeout(_SECONDS)
            found: dict[Bound, None] = {}
            for _ in range(_DUMPS):
                dumped = _dumped(end)
                if dumped is None:
                    return None
                one_part, sockets = dumped
                found.update(dict.fromkeys(sockets))
                if one_part:
                    break
            return tuple(found)
    except OSError:
        return None


def key(one: Bound) -> tuple[str, int]:
    """Give what tells a socket from others: its inode, with the file system or else the name."""
    return (one.device or one.name, one.inode)


def listed() -> tuple[Bound, ...]:
    """Give what /proc/net/unix has (`unix_seq_show`, net/unix/af_unix.c), for where `bound` gives None."""
    try:
        with open("/proc/net/unix", "rb") as table:
            lines = table.read().splitlines()[1:]
    except OSError:
        return ()
    # Num RefCount Protocol Flags Type St Inode Path; an abstract name starts with @.
    fields = [line.split(None, 7) for line in lines]
    named = dict.fromkeys(os.fsdecode(one[7]) for one in fields if len(one) == 8 and not one[7].startswith(b"@"))
    return tuple(Bound(name, "", _inode(name), None) for name in named)


def _inode(name: str) -> int:
    """Give the inode of what has a name now, 0 where nothing can be found by it."""
    try:
        return os.stat(name).st_ino & 0xFFFFFFFF if name.startswith("/") else 0
    except (OSError, ValueError):
        return 0


def _dumped(end: socket.socket) -> tuple[bool, list[Bound]] | None:
    """Give whether one part held all, and the sockets.

    Between two parts the kernel goes on by position (`unix_diag_dump`, net/unix/diag.c): a socket that is closed
    meanwhile moves others out of its sight, and nothing says so. Several dumps together miss none but by rare luck.
    """
    asked = _ASK.pack(socket.AF_UNIX, 0, 0, _ALL_STATES, 0, _SHOW, _ALL_STATES, _ALL_STATES)
    end.send(_HEAD.pack(_HEAD.size + len(asked), _SOCK_DIAG_BY_FAMILY, _REQUEST_DUMP, 1, 0) + asked)
    found: list[Bound] = []
    parts = 0
    while True:
        data = end.recv(1 << 16)
        parts += 1
        at = 0
        while at < len(data):
            length, kind, *_ = _HEAD.unpack_from(data, at)
            if kind == _DONE:
                # The end is a part of its own.
                return parts <= _ONE_AND_THE_END, found
            if kind == _ERROR or length < _HEAD.size:
                return None
            if length >= _LEAST:
                one = _read(data[at + _HEAD.size : at + length])
                if one is not None:
                    found.append(one)
            at += _aligned(length)


def _read(message: bytes) -> Bound | None:
    _, kind, state, *_ = _SOCKET.unpack_from(message)
    if state == _ESTABLISHED and kind != socket.SOCK_DGRAM:
        return None  # one end of a connection: an accepted one has its listener's path
    told: dict[int, bytes] = {}
    at = _SOCKET.size
    while at < len(message):
        length, number = _ATTRIBUTE.unpack_from(message, at)
        if length < _ATTRIBUTE.size:
            break
        told[number] = message[at + _ATTRIBUTE.size : at + length]
        at += _aligned(length)
    if _VFS not in told:
        return None
    inode, device = _PAIR.unpack(told[_VFS])
    uid = _NUMBER.unpack(told[_UID])[0] if _UID in told else None
    major, minor = device >> _MINOR_BITS, device & ((1 << _MINOR_BITS) - 1)
    return Bound(os.fsdecode(told.get(_NAME, b"").split(b"\0")[0]), f"{major}:{minor}", inode, uid)


def _aligned(length: int) -> int:
    return (length + 3) & ~3
