"""A folder of the user's for what can be made again: read only where nobody else can have written it."""

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

_LIMIT = 4 << 20


def read(name: str) -> bytes | None:
    """Give what is kept under a name; None where nothing is, or somebody else could have put it there."""
    folder = _folder()
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
    folder = _folder()
    if folder is None:
        return
    temporary = folder / f".{name}.{os.getpid()}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_ours(folder):
            return
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            temporary.replace(folder / name)
        except OSError:
            with suppress(OSError):
                temporary.unlink()
    except OSError:
        return


def _folder() -> Path | None:
    """Give the folder, which need not be there; on Linux without the package that knows all systems, to be quick."""
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
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and _private(status)


def _private(status: os.stat_result) -> bool:
    return status.st_uid == os.geteuid() and not status.st_mode & 0o022
