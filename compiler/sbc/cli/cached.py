"""Bundles of profiles that were compiled before: the same sources, the same compiler, nothing else.

`sbc run FILE.sbx` compiles a profile once. What is kept names every source with its digest and the compiler that made
it; it is used only where all of them are still the same, and the bundle's own address is checked as for any other.
"""

import json
import os
from pathlib import Path
from typing import Any

import sbc
import sbc_runtime
from sbc import __version__, cache
from sbc.cache import opened, sealed
from sbc.data import grammar_folder
from sbc_runtime.sha256 import sha256_hex

_FORMAT = 2
_PARTS = (Path(sbc.__file__).parent, Path(sbc_runtime.__file__).parent, grammar_folder())


def find(path: Path, profile: str | None) -> bytes | None:
    """Give the bundle that was made of a profile, as long as nothing has changed since; None otherwise."""
    data = cache.read(_name(path, profile))
    if data is None:
        return None
    body = opened(data, _compiler())
    if body is None:
        return None
    try:
        kept: Any = json.loads(body)
        if kept["file"] != os.path.realpath(path):
            return None
        if any(_digest(source) != digest for source, digest in kept["sources"].items()):
            return None
        return str(kept["bundle"]).encode()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError):
        return None


def keep(path: Path, profile: str | None, sources: dict[str, str], bundle: bytes) -> None:
    """Keep a bundle; `sources` gives the SHA-256 of each file that it was made from, by its real path."""
    kept = {"file": os.path.realpath(path), "sources": sources, "bundle": bundle.decode()}
    cache.write(_name(path, profile), sealed(_compiler(), json.dumps(kept).encode()))


def _name(path: Path, profile: str | None) -> str:
    key = f"{_FORMAT}\0{os.path.realpath(path)}\0{profile or ''}"
    return f"{sha256_hex(key.encode('utf-8', 'surrogateescape'))}.bundle.json"


def _digest(path: str) -> str:
    with open(path, "rb") as file:  # noqa: PTH123 (a Path for each source would be made for this alone)
        return sha256_hex(file.read())


def _compiler() -> str:
    """Give what tells one compiler from another: its version, and size and time of each of its files."""
    files: list[str] = [__version__]
    for folder, folders, names in (walked for part in _PARTS for walked in os.walk(part)):
        folders[:] = sorted(one for one in folders if one != "__pycache__")
        for name in sorted(names):
            status = os.stat(os.path.join(folder, name))  # noqa: PTH116, PTH118 (as above: hundreds of files)
            files.append(f"{folder}/{name} {status.st_size} {status.st_mtime_ns}")
    return sha256_hex("\n".join(files).encode("utf-8", "surrogateescape"))
