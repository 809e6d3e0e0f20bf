"""The automaton's tables as data: where they are kept, and when they are trusted.

Made once by lark (150 ms), they are loaded from the package (made when the wheel was built) or from the user's cache.
They are JSON, sealed with a key of what they were made from and a digest of their own.
"""

import json
from typing import Any

from sbc import cache
from sbc.cache import opened, sealed
from sbc.data import grammar_folder
from sbc.syntax.automaton import Rule, Tables
from sbc_runtime.sha256 import sha256_hex

_FORMAT = 2
NAME = "sbx.tables.json"
"""The file of the tables, in the package and in the cache."""


def grammar_text() -> str:
    """Give the grammar."""
    return (grammar_folder() / "sbx.lark").read_text(encoding="utf-8")


def key(grammar: str) -> str:
    """Give the key of the tables made from a grammar.

    The versions of lark and of Python are no part of it: the tables are a function of the grammar, in a form of our
    own, and those in a wheel serve every Python.
    """
    return sha256_hex(f"{_FORMAT} {grammar}".encode())


def encode(tables: Tables, grammar: str) -> bytes:
    """Give tables as bytes: the same for the same grammar."""
    document = {
        "start": tables.start,
        "end": tables.end,
        "keywords": tables.keywords,
        "patterns": tables.patterns,
        "rules": [list(rule) for rule in tables.rules],
        "states": tables.states,
    }
    return sealed(key(grammar), json.dumps(document, separators=(",", ":")).encode())


def decode(data: bytes, grammar: str) -> Tables | None:
    """Give tables from bytes; None where they are damaged or not of this grammar."""
    body = opened(data, key(grammar))
    if body is None:
        return None
    try:
        document: Any = json.loads(body)
        rules = [Rule(origin, action, tuple(symbols)) for origin, action, symbols in document["rules"]]
        return Tables(
            document["states"],
            rules,
            document["keywords"],
            document["patterns"],
            start=document["start"],
            end=document["end"],
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def packaged(grammar: str) -> Tables | None:
    """Give the tables that came with the package."""
    try:
        return decode((grammar_folder() / NAME).read_bytes(), grammar)
    except OSError:
        return None


def cached(grammar: str) -> Tables | None:
    """Give the tables of the user's cache."""
    data = cache.read(NAME)
    return None if data is None else decode(data, grammar)


def save(tables: Tables, grammar: str) -> None:
    """Keep tables in the user's cache."""
    cache.write(NAME, encode(tables, grammar))
