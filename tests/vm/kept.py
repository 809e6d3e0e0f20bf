"""Folders that are made once, and made anew when what they are made from has changed."""

import fcntl
import hashlib
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

MARKER = "recipe"
"""The file of a kept folder that says from which recipe it was made."""


def recipe_of(sources: Iterable[Path], *words: str) -> str:
    """Give the digest of a recipe: the names, modes and contents of its files, and words that stand for the rest."""
    digest = hashlib.sha256()
    for source in sorted(sources):
        content = source.read_bytes()
        digest.update(f"{source.name}\0{source.stat().st_mode & 0o111:o}\0{len(content)}\0".encode() + content)
    for word in words:
        digest.update(f"{word}\0".encode())
    return digest.hexdigest()


def kept(folder: Path, recipe: str, make: Callable[[Path], None]) -> Path:
    """Give the folder as it is where it was made from this recipe; else let `make` fill an empty one that replaces it.

    One at a time makes it. What `make` raises passes through, and nothing takes the folder's place.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        marker = folder / MARKER
        if not marker.exists() or marker.read_text() != recipe:
            new = folder.parent / f"{folder.name}.new"
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir()
            try:
                make(new)
                (new / MARKER).write_text(recipe)
                shutil.rmtree(folder, ignore_errors=True)
                new.rename(folder)
            finally:
                shutil.rmtree(new, ignore_errors=True)
    return folder
