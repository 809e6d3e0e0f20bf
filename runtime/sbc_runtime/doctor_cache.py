"""Which backend worked here before: a hint which one to try first, never a reason to skip a check.

Kept in the user's cache folder per boot, uid and program: after a restart, for another user and with another
interpreter or bubblewrap there is no answer. The folder and the file are used only where both belong to the effective
uid and nobody else may write there.
"""

import contextlib
import os
import stat
import sys

from sbc_runtime.errors import SetupFailed
from sbc_runtime.words import Any, cast

_NAME = "backends.json"
_LARGEST = 64 << 10


def remember(backend: str, folder: str | None = None) -> None:
    """Keep that a backend worked. What cannot be kept is not. `folder`: for tests."""
    where = _folder() if folder is None else folder
    answers = _answers(where)
    with contextlib.suppress(OSError):
        os.makedirs(where, mode=0o700, exist_ok=True)
    _keep(where, {**answers, backend: key(backend)})


def forget(backend: str, folder: str | None = None) -> None:
    """Keep no answer for a backend: it was tried and did not work."""
    where = _folder() if folder is None else folder
    answers = _answers(where)
    if answers.pop(backend, None) is not None:
        _keep(where, answers)


def _keep(folder: str, answers: dict[str, str]) -> None:
    import json  # noqa: PLC0415

    from sbc_runtime.atomic import write_file  # noqa: PLC0415

    with contextlib.suppress(OSError):
        if _is_ours(folder):
            write_file(os.path.join(folder, _NAME), json.dumps(answers).encode(), durable=False)


def order(backends: tuple[str, ...], home: str) -> tuple[str, ...]:
    """Give the order in which to try backends: as it is, unless the first is known not to have worked here.

    That is so where another one has an answer that still holds, and the first has none, not even an old one. `home`:
    the caller's, empty where it has none.
    """
    folder = os.path.join(home, ".cache", "sbc")
    answers = _answers(folder) if home else {}
    if not answers or backends[0] in answers:
        return backends
    known = tuple(name for name in backends if name in answers and answers[name] == key(name))
    return (*known, *(name for name in backends if name not in known))


def key(backend: str) -> str:
    """Give what an answer holds for: boot, uid, and the program that makes the sandbox."""
    program = sys.executable
    if backend == "bwrap":
        from sbc_runtime.bwrap_find import find  # noqa: PLC0415 - runs read answers, and seldom need more

        try:
            program = find().path
        except SetupFailed:
            program = ""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot = file.read().strip()
        seen = os.stat(program)
    except (OSError, ValueError):
        return ""
    return f"{boot} {os.geteuid()} {seen.st_dev}:{seen.st_ino}:{seen.st_mtime_ns}"


def _folder() -> str:
    """Give the folder: below the home of the effective uid, whatever HOME says, so that root uses no other's."""
    import pwd  # noqa: PLC0415

    try:
        home = pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        home = "/nonexistent"
    return os.path.join(home, ".cache", "sbc")


def _is_ours(folder: str) -> bool:
    try:
        seen = os.lstat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(seen.st_mode) and seen.st_uid == os.geteuid() and not seen.st_mode & 0o022


def _answers(folder: str) -> dict[str, str]:
    if not _is_ours(folder):
        return {}
    try:
        descriptor = os.open(os.path.join(folder, _NAME), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return {}
    import json  # noqa: PLC0415 - where `sbc doctor` has never been called, runs do without

    try:
        seen = os.fstat(descriptor)
        if not stat.S_ISREG(seen.st_mode) or seen.st_uid != os.geteuid() or seen.st_mode & 0o022:
            return {}
        found: Any = json.loads(os.read(descriptor, _LARGEST))
    except (OSError, ValueError):
        return {}
    finally:
        os.close(descriptor)
    if not isinstance(found, dict):
        return {}
    pairs = cast("dict[object, object]", found).items()
    return {name: kept for name, kept in pairs if isinstance(name, str) and isinstance(kept, str) and kept}
