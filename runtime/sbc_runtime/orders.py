"""What init and the command's process are told once the run is known: bytes in a memory file, and descriptors.

Both are forked before that (see `nest`). Only the supervisor holds the other ends of their sockets, and what it says is
the interpreter's own form of plain values, which the same interpreter reads.
"""

import _socket as socket
import array
import contextlib
import errno
import marshal
import os
import select
from collections.abc import Sequence

from sbc_runtime.prepared import Ids, LimitValue, Mask, Mount, Prepared
from sbc_runtime.records import NamedTuple
from sbc_runtime.rlimits import Rlimit

_AT_ONCE = 200
"""Descriptors in one message; the kernel takes 253 (SCM_MAX_FD, unix(7))."""

_MORE = b"+"
_LAST = b"."


class Orders(NamedTuple):
    """The run's plan as far as processes inside need it, the command's limits, and what the descriptors that come are:
    trees, and then targets, by place (`mount_sources`).
    """

    prepared: Prepared
    limits: tuple[Rlimit, ...]
    trees: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()


def pack(orders: Orders) -> bytes:
    """Give orders as bytes, without what is only reported."""
    one = orders.prepared
    plain = one._replace(
        mounts=tuple(tuple(mount) for mount in one.mounts),  # pyright: ignore[reportArgumentType]
        masks=tuple(tuple(mask) for mask in one.masks),  # pyright: ignore[reportArgumentType]
        ids=tuple(one.ids),  # pyright: ignore[reportArgumentType]
        limits=tuple(one.limits),  # pyright: ignore[reportArgumentType]
        params={},
        absent=(),
        losses=(),
        covered=(),
        notes=(),
        bound=(),
        watched=(),
    )
    return marshal.dumps((tuple(plain), tuple(tuple(limit) for limit in orders.limits), orders.trees, orders.targets))


def unpack(content: bytes) -> Orders:
    """Read what `pack` gave."""
    fields, limits, trees, targets = marshal.loads(content)  # noqa: S302 (written by this program)
    one = Prepared(*fields)
    prepared = one._replace(
        mounts=tuple(Mount(*mount) for mount in one.mounts),
        masks=tuple(Mask(*mask) for mask in one.masks),
        ids=Ids(*one.ids),
        limits=LimitValue(*one.limits),
    )
    return Orders(prepared, tuple(Rlimit(*limit) for limit in limits), trees, targets)


def written(content: bytes) -> int:
    """Put bytes into a memory file; give its descriptor."""
    descriptor = os.memfd_create("sbc-orders", os.MFD_CLOEXEC)
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    return descriptor


def send(end: socket.socket, content: int, descriptors: Sequence[int]) -> None:
    """Send the memory file `content` and descriptors over a packet socket."""
    left = [content, *descriptors]
    while left:
        now, left = left[:_AT_ONCE], left[_AT_ONCE:]
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", now))
        end.sendmsg([_MORE if left else _LAST], [rights])


def rehearse(sample: Orders) -> Orders:
    """Go through it all, with oneself at both ends."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    content = written(pack(sample))
    try:
        send(here, content, ())
        told = receive(there.fileno())
    finally:
        os.close(content)
        here.close()
        there.close()
    return sample if told is None else told[0]


def waiting(descriptor: int) -> bool:
    """Tell whether something has come already."""
    return bool(select.select([descriptor], [], [], 0)[0])


def receive(descriptor: int) -> tuple[Orders, tuple[int, ...]] | None:
    """Wait for orders on a socket; None where whoever could give them is gone."""
    found = array.array("i")
    with contextlib.closing(socket.socket(fileno=os.dup(descriptor))) as end:
        data = _MORE
        while data == _MORE:
            data, ancillary, flags, _ = end.recvmsg(1, socket.CMSG_SPACE(4 * _AT_ONCE), socket.MSG_CMSG_CLOEXEC)
            for level, kind, content in ancillary:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    found.frombytes(content[: len(content) - len(content) % found.itemsize])
            if flags & socket.MSG_CTRUNC:
                raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    if data != _LAST or not found:
        return None
    size = os.fstat(found[0]).st_size
    content = os.pread(found[0], size, 0)
    os.close(found[0])
    return unpack(content), tuple(found[1:])
