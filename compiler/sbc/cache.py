"""A folder of the user's for what can be made again: used only where nobody else can have written to it.

Its own folder and files belong to the effective uid, with no write permission for others; every folder above belongs to
that uid or to root. So root never uses one below another user's home. What is kept is sealed with a digest of its own:
damage counts as nothing kept. On Windows, where owner and mode do not say who may write, nothing is.
"""

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

from sbc_runtime.sha256 import sha256_hex

_LIMIT = 4 << 20
MOST_BUNDLES = 256
"""How many bundles are kept; of more, those that were written longest ago go."""

_BUNDLES = ".bundle.json"


def read(name: str) -> bytes | None:
    """Give what is kept under a name; None where nothing is, or somebody else could have put it there."""
    folder = place()
    if folder is None or not _is_ours(folder):
        return None
    try:
        handle = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode) or not _private(status) or status.st_size > _LIMIT:
                return None
            return file.read(_LIMIT)
    except OSError:
        return None


def write(name: str, data: bytes) -> None:
    """Keep something under a name, whole or not at all; where that cannot be done safely, do nothing."""
    from sbc_runtime.atomic import write_file  # noqa: PLC0415 - most commands only read

    folder = place()
    if folder is None:
        return
    with suppress(OSError):
        if not _may_be_made(folder):
            return
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _is_ours(folder):
            write_file(folder / name, data, durable=False, mode=0o600)
            _prune(folder)


def _prune(folder: Path) -> None:
    """Remove what is too much, from the folder that is ours."""
    with os.scandir(folder) as found:
        kept = [(one.stat(follow_symlinks=False).st_mtime_ns, one.path) for one in found if one.name.endswith(_BUNDLES)]
    for _, path in sorted(kept)[:-MOST_BUNDLES]:
        os.unlink(path)  # noqa: PTH108 (as given by scandir)


def sealed(key: str, body: bytes) -> bytes:
    """Give what is kept for a body: a first line with the key of what it was made from and its own SHA-256, then it."""
    return f"{key} {sha256_hex(body)}\n".encode() + body


def opened(data: bytes, key: str) -> bytes | None:
    """Give the body of what `sealed` made; None where it has another key, or one byte of it has changed."""
    head, _, body = data.partition(b"\n")
    return body if head == f"{key} {sha256_hex(body)}".encode() else None


def place() -> Path | None:
    """Give the folder, which need not be there; on Linux without the package that knows all systems, to be quick."""
    if sys.platform == "win32":
        return None
    if sys.platform == "linux":
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - raises nothing
        folder = Path(base, "sbc")
    else:
        from platformdirs import user_cache_dir  # noqa: PLC0415 - see above

        folder = Path(user_cache_dir("sbc", appauthor=False))
    return folder if folder.is_absolute() else None


def _is_ours(folder: Path) -> bool:
    try:
        status = folder.lstat()
        above = [one.stat() for one in Path(os.path.realpath(folder)).parents]
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and _private(status) and all(_trusted(one) for one in above)


def _may_be_made(folder: Path) -> bool:
    """Tell whether the folder, where it is not there yet, would be ours; nothing is left in another user's home."""
    present = next(one for one in (folder, *folder.parents) if one.exists())
    return all(_trusted(one.stat()) for one in (present, *Path(os.path.realpath(present)).parents))


def _trusted(status: os.stat_result) -> bool:
    """Tell whether only we or root can replace what is in a folder; in a sticky one each owner's things are its own."""
    return status.st_uid in (0, os.geteuid()) and bool(not status.st_mode & 0o022 or status.st_mode & stat.S_ISVTX)


def _private(status: os.stat_result) -> bool:
    return status.st_uid == os.geteuid() and not status.st_mode & 0o022
