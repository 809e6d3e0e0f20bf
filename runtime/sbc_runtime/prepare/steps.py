"""The way of a path: every name that looking it up goes through, links with what they point to.

The names are looked at one after the other. Whoever relies on what was found holds it against the one lookup that the
kernel made (`Found`), or opens it and compares (`protected`).
"""

import errno
import os
import stat

from sbc_runtime.errors import SetupFailed
from sbc_runtime.records import NamedTuple

_MOST_LINKS = 40
"""As many as the kernel follows (`MAXSYMLINKS`, `include/linux/namei.h`)."""

_MISSING = frozenset({errno.ENOENT, errno.ENOTDIR})


class Step(NamedTuple):
    """One name: its place, without links above it, and what is there. `target`: of a link, else empty."""

    place: str
    device: int
    inode: int
    kind: int
    target: str

    @property
    def parent(self) -> str:
        """The folder that the name stands in."""
        return self.place.rpartition("/")[0] or "/"


class Way(NamedTuple):
    """The steps of a path that are there, and the path without links, also of what is not there (`missing`)."""

    steps: tuple[Step, ...]
    real: str
    missing: bool

    def links(self) -> tuple[tuple[str, str], ...]:
        """Give every link as (its place, its target)."""
        return tuple((one.place, one.target) for one in self.steps if one.kind == stat.S_IFLNK)


def walk(path: str, where: str) -> Way:
    """Walk along an absolute path. `SetupFailed` where it cannot be looked up.

    `..`, which only the targets of links have, leaves the folder that was reached, as the kernel does it.
    """
    found: dict[str, Step] = {}
    done, followed = "", 0
    left = path.split("/")[::-1]
    while left:
        name = left.pop()
        if name in {"", "."}:
            continue
        if name == "..":
            done = done.rpartition("/")[0]
            continue
        here = f"{done}/{name}"
        try:
            seen = os.lstat(here)
            kind = stat.S_IFMT(seen.st_mode)
            target = os.readlink(here) if kind == stat.S_IFLNK else ""
        except OSError as error:
            if error.errno in _MISSING:
                rest = [one for one in left[::-1] if one not in {"", "."}]
                return Way(tuple(found.values()), os.path.normpath("/".join((here, *rest))), missing=True)
            why = f"`{path}` cannot be looked up: {error.strerror}"
            remedy = "run as somebody who may search the folders above it"
            raise SetupFailed("paths", why, remedy, error.errno or 0, where) from None
        found[here] = Step(here, seen.st_dev, seen.st_ino, kind, target)
        if kind != stat.S_IFLNK:
            done = here
            continue
        followed += 1
        if followed > _MOST_LINKS:
            raise SetupFailed("paths", f"`{path}` has too many links", "remove some", errno.ELOOP, where)
        left += target.split("/")[::-1]
        if target.startswith("/"):
            done = ""
    return Way(tuple(found.values()), done or "/", missing=False)
