"""Paths of the host, resolved once, without ever leaving what a parameter names.

A path below a parameter is opened with openat2(2), RESOLVE_BENEATH and RESOLVE_NO_MAGICLINKS, from a descriptor of
the parameter's folder; any other path with RESOLVE_NO_MAGICLINKS from the root. What was opened is known from then on
by its device and inode, and by its path without links, which /proc/self/fd tells.
"""

import os
import stat
from typing import NamedTuple

from sbc_runtime import libc
from sbc_runtime.errors import SetupFailed

_MISSING = frozenset({2, 20})
"""ENOENT, ENOTDIR."""

_EXDEV = 18
_EAGAIN = 11
_MOST_LINKS = 40
"""As many as the kernel follows (`MAXSYMLINKS`, `include/linux/namei.h`)."""


class Found(NamedTuple):
    """What a path leads to: its path without links, what it is, and the links that led there (place, target)."""

    real: str
    device: int
    inode: int
    mode: int
    owner: int
    group: int
    names: int
    links: tuple[tuple[str, str], ...] = ()

    @property
    def directory(self) -> bool:
        """Whether it is a folder."""
        return stat.S_ISDIR(self.mode)


def resolve(path: str, where: str) -> Found | None:
    """Resolve an absolute path; None where there is nothing. `SetupFailed` where it cannot be looked up."""
    try:
        descriptor = libc.openat2(-100, path, os.O_PATH, libc.RESOLVE_NO_MAGICLINKS)
    except OSError as error:
        return _missing(path, error, where)
    found = _described(descriptor)
    return found if found.real == path else found._replace(links=_links(path, where))


def look(path: str) -> Found | None:
    """Resolve an absolute path of the host; None where it leads nowhere, or somewhere that cannot be looked up."""
    try:
        return _described(libc.openat2(-100, path, os.O_PATH, libc.RESOLVE_NO_MAGICLINKS))
    except OSError:
        return None


def resolve_below(base: str, rest: str, name: str, where: str) -> Found | None:
    """Resolve `rest` (it begins with `/`) below the folder `base`, a path without links, of the parameter `name`."""
    try:
        folder = os.open(base, os.O_PATH | os.O_CLOEXEC)
    except OSError as error:
        return _missing(base, error, where)
    try:
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
        raise SetupFailed("paths", f"`{base}{rest}` changes while it is looked up", errno=_EAGAIN, where=where)
    finally:
        os.close(folder)


def reopen(root: int, source: str, device: int, inode: int) -> int:
    """Open, with O_PATH, what was found at `source` below the descriptor `root`; `SetupFailed` where it has changed."""
    rule = libc.RESOLVE_NO_SYMLINKS | libc.RESOLVE_NO_MAGICLINKS
    descriptor = libc.openat2(root, source.lstrip("/") or ".", os.O_PATH, rule)
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
    return Found(real, seen.st_dev, seen.st_ino, seen.st_mode, seen.st_uid, seen.st_gid, seen.st_nlink)


def _missing(path: str, error: OSError, where: str) -> None:
    if error.errno in _MISSING:
        return
    why = f"`{path}` cannot be looked up: {os.strerror(error.errno or 0)}"
    raise SetupFailed("paths", why, "run as somebody who may search the folders above it", error.errno or 0, where)


def _links(path: str, where: str) -> tuple[tuple[str, str], ...]:
    """Give every link on the way, as (its path without links, its target)."""
    found: list[tuple[str, str]] = []
    done = ""
    left = [name for name in path.split("/") if name]
    while left:
        name = left.pop(0)
        if name == ".":
            continue
        if name == "..":
            done = done.rpartition("/")[0]
            continue
        here = f"{done}/{name}"
        try:
            target = os.readlink(here)
        except OSError:
            done = here
            continue
        found.append((here, target))
        if len(found) > _MOST_LINKS:
            raise SetupFailed("paths", f"`{path}` has too many links", where=where)
        left = [part for part in target.split("/") if part] + left
        if target.startswith("/"):
            done = ""
    return tuple(dict.fromkeys(found))
