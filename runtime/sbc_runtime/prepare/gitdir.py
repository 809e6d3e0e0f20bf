"""What git uses beside a `.git`: a `.git` file names the real folder, and a folder may name the one that it shares.

Work trees of `git worktree` and submodules are made so (gitrepository-layout(5)). The files are read as git reads them
(`read_gitfile_gently`, `get_common_dir_noenv`, `setup.c`), since whoever can write them chooses what is in them; what
they say is only ever a reason to protect more.
"""

import os
import stat

from sbc_runtime.errors import SetupFailed
from sbc_runtime.prepare.paths import AT_FDCWD, Found, reopen, resolve
from sbc_runtime.records import NamedTuple

_HEAD = b"gitdir: "
_MOST = 4096
_LONGEST = 255
"""No longer path can be opened, and no longer name be there (PATH_MAX, NAME_MAX, `include/uapi/linux/limits.h`)."""


class Pointed(NamedTuple):
    """A path that git would follow, as it would spell it, and what it leads to; None: nothing is there."""

    path: str
    found: Found | None


def pointed(spelled: str, found: Found, where: str) -> list[Pointed]:
    """Give what the `.git` at the path `spelled` leads git to. `SetupFailed` where that cannot be looked up."""
    made: list[Pointed] = []
    folder: Found | None = found
    if stat.S_ISREG(found.mode):
        content = _content(found, where)
        if content.startswith(_HEAD):
            made += _beside(os.path.dirname(spelled), content.removeprefix(_HEAD), where)
        folder = made[0].found if made else None
    if folder is not None and folder.directory:
        shared = resolve(f"{folder.real}/commondir", where)
        if shared is not None and stat.S_ISREG(shared.mode):
            made += _beside(folder.real, _content(shared, where), where)
    return made


def _beside(folder: str, target: bytes, where: str) -> list[Pointed]:
    """Give what a target, told from a folder, leads to; nothing where it is no path that can be opened."""
    # To git it is a text that ends at a NUL.
    path = os.path.join(folder, os.fsdecode(target.split(b"\0")[0]))
    if len(os.fsencode(path)) >= _MOST or any(len(os.fsencode(name)) > _LONGEST for name in path.split("/")):
        return []
    return [Pointed(path, resolve(path, where))]


def _content(file: Found, where: str) -> bytes:
    """Give a regular file's content, without the ends of lines at its end, as far as it can be a path."""
    try:
        known = reopen(AT_FDCWD, file.real, file.device, file.inode)
        try:
            descriptor = os.open(f"/proc/self/fd/{known}", os.O_RDONLY | os.O_CLOEXEC)
        finally:
            os.close(known)
        try:
            return os.read(descriptor, len(_HEAD) + _MOST).rstrip(b"\r\n")
        finally:
            os.close(descriptor)
    except OSError as error:
        remedy = "make it readable, so that what it points to can be protected"
        raise SetupFailed("paths", f"`{file.real}`: {error.strerror}", remedy, error.errno or 0, where) from None
