"""The host process at the time of a call: what a run is given of it, or takes over."""

import os

from sbc_runtime import scheduling
from sbc_runtime.errors import SetupFailed
from sbc_runtime.job import Caller
from sbc_runtime.texts import of_bytes


def caller() -> Caller:
    """Look at this process; `SetupFailed` where there is no /proc, without which nothing can be run. `OSError`."""
    _need_proc()
    cwd, variable = folder(), os.environb.get(b"HOME", b"")
    runtime = os.environb.get(b"XDG_RUNTIME_DIR", b"")
    return Caller(
        cwd,
        _home(),
        of_bytes(variable) if variable.startswith(b"/") else None,
        absolute(of_bytes(os.environb.get(b"TMPDIR") or b"/tmp"), cwd) or "",
        _limits(),
        scheduling.own(),
        of_bytes(runtime) if runtime.startswith(b"/") else None,
    )


def environment() -> dict[str, str]:
    """Give the variables of this process."""
    return {of_bytes(name): of_bytes(value) for name, value in os.environb.items()}


def absolute(path: str, cwd: str) -> str | None:
    """Give a path as an absolute one; None where it is relative and the current folder is gone."""
    if not cwd and not os.path.isabs(path):
        return None
    return os.path.normpath(os.path.join(cwd, path))


def folder() -> str:
    """Give the current folder; empty where it was removed, or is out of reach: that matters to relative names only."""
    try:
        return of_bytes(os.getcwdb())
    except OSError:
        return ""


def _home() -> str:
    """Give the home of the real uid, empty where the password database has none."""
    import pwd  # noqa: PLC0415 - not on Windows, where this module is imported too

    try:
        home = of_bytes(os.fsencode(pwd.getpwuid(os.getuid()).pw_dir))
    except (KeyError, OSError):
        return ""
    return home if home.startswith("/") else ""


def _need_proc() -> None:
    try:
        os.stat("/proc/self/status")
    except FileNotFoundError:
        why = "no procfs is mounted at /proc, and nothing of a sandbox can be checked without it"
        raise SetupFailed("procfs", why, "mount -t proc proc /proc", 2) from None


def _limits() -> tuple[tuple[int, int, int], ...]:
    """Read every limit that can be read: an outer filter may deny prlimit64(2)."""
    import resource  # noqa: PLC0415 - as above

    found: list[tuple[int, int, int]] = []
    for number in sorted({getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")}):
        try:
            found.append((number, *resource.getrlimit(number)))
        except (OSError, ValueError):
            continue
    return tuple(found)
