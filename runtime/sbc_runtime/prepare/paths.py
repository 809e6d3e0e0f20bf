"""Paths of the host, resolved once, without ever leaving what a parameter names.

A path below a parameter is opened with openat2(2), RESOLVE_BENEATH and RESOLVE_NO_MAGICLINKS, from a descriptor of
the parameter's folder; any other path with RESOLVE_NO_MAGICLINKS from the root. What was opened is known from then on
by its device and inode, and by its path without links, which /proc/self/fd tells: whoever needs it again opens that
path without following any link, and compares (`reopen`).
"""

import os
import stat

from sbc_runtime import libc
from sbc_runtime.errors import SetupFailed
from sbc_runtime.prepare.steps import walk
from sbc_runtime.records import NamedTuple

_MISSING = frozenset({2, 20})
"""ENOENT, ENOTDIR."""

AT_FDCWD = -100
"""Stands for no descriptor: absolute paths, from the root of this process (openat(2))."""

_EXDEV = 18
_EAGAIN = 11
_ELOOP = 40


class Found(NamedTuple):
    """What a path leads to: its path without links, what it is, and the links that led there (place, target).

    `changed`: when its content or its inode was last changed, in nanoseconds since 1970 (`st_ctim`, inode(7)).
    """

    real: str
    device: int
    inode: int
    mode: int
    owner: int
    group: int
    names: int
    changed: int
    links: tuple[tuple[str, str], ...] = ()

    @property
    def directory(self) -> bool:
        """Whether it is a folder."""
        return stat.S_ISDIR(self.mode)


def resolve(path: str, where: str) -> Found | None:
    """Resolve an absolute path; None where there is nothing. `SetupFailed` where it cannot be looked up."""
    try:
        descriptor = libc.openat2(AT_FDCWD, path, os.O_PATH, libc.RESOLVE_NO_MAGICLINKS)
    except OSError as error:
        return _missing(path, error, where)
    found = _described(descriptor)
    return found if found.real == path else found._replace(links=walk(path, where).links())


def look(path: str) -> Found | None:
    """Resolve an absolute path of the host; None where it leads nowhere, or somewhere that cannot be looked up."""
    try:
        return _described(libc.openat2(AT_FDCWD, path, os.O_PATH, libc.RESOLVE_NO_MAGICLINKS))
    except OSError:
        return None


def resolve_below(folder: int, base: str, rest: str, name: str, where: str) -> Found | None:
    """Resolve `rest` (it begins with `/`) from the descriptor of the parameter `name`, whose path without links is
    `base`.
    """
    for _ in range(8):
        try:
            rule = libc.RESOLVE_BENEATH | libc.RESOLVE_NO_MAGICLINKS
            return _described(libc.openat2(folder, rest.lstrip("/"), os.O_PATH, rule))
        except OSError as error:
            # EAGAIN: something was renamed meanwhile, so that "beneath" could not be told.
            if error.errno == _EAGAIN:
                continue
            if error.errno == _EXDEV:
                why = f"`{base}{rest}` leads out of ${{{name}}} through a link"
                raise SetupFailed("paths", why, "remove the link, or name its target", _EXDEV, where) from None
            return _missing(base + rest, error, where)
    raise _changes(base + rest, where)


def folder_within(source: str, device: int, inode: int, rest: str, where: str) -> Found:
    """Look up `rest` (it begins with `/`), which has no links, below what was found at `source`.

    `SetupFailed` where `source` is something else by now, or `rest` is not a folder without links any more.
    """
    try:
        folder = reopen(AT_FDCWD, source, device, inode)
        try:
            rule = libc.RESOLVE_BENEATH | libc.RESOLVE_NO_SYMLINKS
            return _described(libc.openat2(folder, rest.lstrip("/"), os.O_PATH | os.O_DIRECTORY, rule))
        finally:
            os.close(folder)
    except OSError:
        raise _changes(source.rstrip("/") + rest, where) from None


def reopen(root: int, source: str, device: int, inode: int) -> int:
    """Open, with O_PATH, what was found at `source`; `SetupFailed` where it has changed.

    `root`: a descriptor of the host's `/`, or AT_FDCWD where that is this process's.
    """
    rule = libc.RESOLVE_NO_SYMLINKS | libc.RESOLVE_NO_MAGICLINKS
    path = source if root == AT_FDCWD else source.lstrip("/") or "."
    descriptor = libc.openat2(root, path, os.O_PATH | os.O_NOFOLLOW, rule)
    seen = os.fstat(descriptor)
    if (seen.st_dev, seen.st_ino) != (device, inode):
        os.close(descriptor)
        raise SetupFailed("paths", f"`{source}` is not what it was a moment ago", "try again")
    return descriptor


def is_folder(path: str) -> bool | None:
    """Tell whether a path without links is a folder (True) or something else (False); None: nothing is there."""
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return None


def _described(descriptor: int) -> Found:
    try:
        seen = os.fstat(descriptor)
        real = os.readlink(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)
    return Found(
        real, seen.st_dev, seen.st_ino, seen.st_mode, seen.st_uid, seen.st_gid, seen.st_nlink, seen.st_ctime_ns
    )


def _missing(path: str, error: OSError, where: str) -> None:
    if error.errno in _MISSING:
        return
    remedy = "run as somebody who may search the folders above it"
    if error.errno == _ELOOP:
        remedy = "name what it leads to: no link of /proc is followed, and no circle of links"
    told = OSError(error.errno, f"`{path}` cannot be looked up: {os.strerror(error.errno or 0)}")
    raise SetupFailed.of("paths", told, remedy, where)


def _changes(path: str, where: str) -> SetupFailed:
    return SetupFailed("paths", f"`{path}` changes while it is looked up", "try again", _EAGAIN, where)
