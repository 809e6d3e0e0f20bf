"""The automaton's tables as data: where they are kept, and when they are trusted.

Made once by lark (150 ms), they are loaded from the package (made when the wheel was built) or from the user's cache.
They are JSON, checked against a key of what they were made from; a folder or file that anybody else can write is not
looked at.
"""

import hashlib
import json
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from sbc.data import grammar_folder
from sbc.syntax.automaton import Rule, Tables

_FORMAT = 1
_NAME = "sbx.tables.json"
_LIMIT = 4 << 20


def grammar_text() -> str:
    """Give the grammar."""
    return (grammar_folder() / "sbx.lark").read_text(encoding="utf-8")


def key(grammar: str) -> str:
    """Give the key of the tables made from a grammar.

    lark's version is no part of it: the tables are a function of the grammar, in a form of our own.
    """
    text = f"{_FORMAT} {sys.version_info[0]}.{sys.version_info[1]} {grammar}"
    return hashlib.sha256(text.encode()).hexdigest()


def encode(tables: Tables, grammar: str) -> bytes:
    """Give tables as bytes: the same for the same grammar."""
    document = {
        "key": key(grammar),
        "start": tables.start,
        "end": tables.end,
        "keywords": tables.keywords,
        "patterns": tables.patterns,
        "rules": [list(rule) for rule in tables.rules],
        "states": tables.states,
    }
    return json.dumps(document, separators=(",", ":")).encode()


def decode(data: bytes, grammar: str) -> Tables | None:
    """Give tables from bytes; None where they are damaged or not of this grammar."""
    try:
        document: Any = json.loads(data)
        if document["key"] != key(grammar):
            return None
        rules = [Rule(origin, action, tuple(symbols)) for origin, action, symbols in document["rules"]]
        return Tables(
            document["states"],
            rules,
            document["keywords"],
            document["patterns"],
            start=document["start"],
            end=document["end"],
        )
    except (ValueError, KeyError, TypeError):
        return None


def packaged(grammar: str) -> Tables | None:
    """Give the tables that came with the package."""
    try:
        return decode((grammar_folder() / _NAME).read_bytes(), grammar)
    except OSError:
        return None


def cached(grammar: str) -> Tables | None:
    """Give the tables of the user's cache, where only the user can have written them."""
    folder = _cache_folder()
    if folder is None or not _is_ours(folder):
        return None
    try:
        handle = os.open(folder / _NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or not _private(status) or status.st_size > _LIMIT:
            return None
        return decode(file.read(), grammar)


def save(tables: Tables, grammar: str) -> None:
    """Keep tables in the user's cache; where that cannot be done safely, do nothing."""
    folder = _cache_folder()
    if folder is None:
        return
    temporary = folder / f".{_NAME}.{os.getpid()}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_ours(folder):
            return
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(encode(tables, grammar))
        temporary.replace(folder / _NAME)
    except OSError:
        with suppress(OSError):
            temporary.unlink()


def _cache_folder() -> Path | None:
    from platformdirs import user_cache_dir  # noqa: PLC0415 - only where the package has no tables

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
