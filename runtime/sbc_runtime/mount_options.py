"""Options of mounts: by mount_setattr(2), and where that call is missing or refused, by remounts.

mount(2) changes the options of one mount only, so every mount at a place and below it, as mountinfo tells, is remounted
by itself. What a mount has already is kept: options that came from another user namespace are locked, and a remount
that left one out would be refused (mount_namespaces(7)).
"""

import errno
import os

from sbc_runtime import libc
from sbc_runtime.kernel_view import plain
from sbc_runtime.prepared import Mount

BASE = libc.ATTR_NOSUID | libc.ATTR_NODEV
ALL = BASE | libc.ATTR_NOEXEC

_WORDS = {b"ro": libc.MS_RDONLY, b"nosuid": libc.MS_NOSUID, b"nodev": libc.MS_NODEV, b"noexec": libc.MS_NOEXEC}
_FLAGS = {
    libc.ATTR_RDONLY: libc.MS_RDONLY,
    libc.ATTR_NOSUID: libc.MS_NOSUID,
    libc.ATTR_NODEV: libc.MS_NODEV,
    libc.ATTR_NOEXEC: libc.MS_NOEXEC,
}


def attributes(mount: Mount) -> int:
    """Give the options (mount_setattr(2)) that a mount of the plan has, with all mounts below it."""
    return BASE | (libc.ATTR_RDONLY if mount.read_only else 0) | (libc.ATTR_NOEXEC if mount.noexec else 0)


def settable(descriptor: int) -> bool:
    """Tell whether mount_setattr(2) can be called at all: asked for no change, it does nothing."""
    try:
        libc.mount_setattr(descriptor, 0, recursive=False)
    except OSError as error:
        if error.errno in {errno.ENOSYS, errno.EPERM}:
            return False
        raise
    return True


def remount(table: int, place: str, attributes: int, *, recursive: bool) -> None:
    """Set options of what is mounted at a path, and of every mount below it. `table`: an open mountinfo."""
    added = sum(flag for attribute, flag in _FLAGS.items() if attributes & attribute)
    # Of several mounts at one path, the path leads to the last.
    present: dict[str, bytes] = {}
    for line in _lines(table):
        fields = line.split(b" ", 6)
        path = plain(fields[4])
        if path == place or (recursive and path.startswith(place.rstrip("/") + "/")):
            present[path] = fields[5]
    for path, options in present.items():
        kept = sum(_WORDS.get(word, 0) for word in options.split(b","))
        # Times of access are left as they are where no flag names them (mount(2)).
        libc.mount(None, path, None, libc.MS_REMOUNT | libc.MS_BIND | kept | added)


def _lines(table: int) -> list[bytes]:
    os.lseek(table, 0, os.SEEK_SET)
    parts: list[bytes] = []
    while part := os.read(table, 1 << 16):
        parts.append(part)
    return b"".join(parts).splitlines()


class Options:
    """Sets options of mounts below `/new`, in whichever way is possible. `can`: whether mount_setattr(2) is."""

    def __init__(self, descriptor: int) -> None:
        """`descriptor`: of any mount. The host's root is at `/old`."""
        self.can = settable(descriptor)
        # It tells paths from the root of whoever opened it, at that time.
        self._table = -1 if self.can else os.open("/old/proc/self/mountinfo", os.O_RDONLY | os.O_CLOEXEC)

    def change(self, descriptor: int, place: str, wanted: int, *, recursive: bool) -> None:
        """Add options to the mount of a descriptor, which is at `place` of the sandbox."""
        if self.can:
            libc.mount_setattr(descriptor, wanted, recursive)
        else:
            remount(self._table, "/new" + place.rstrip("/"), wanted, recursive=recursive)

    def close(self) -> None:
        """Close what was kept open."""
        if self._table >= 0:
            os.close(self._table)
