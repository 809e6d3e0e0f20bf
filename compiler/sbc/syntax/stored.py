"""Syntax trees as data: the stock library is parsed when the wheel is built (or once), not each time it is used.

A node is a list: the number of its class, where it starts and ends, then its other fields; a tuple is a list that
begins with null. A stored tree is used only for the very source that it was made from, and by the very shapes of nodes
that made it; whatever else is found counts as nothing.
"""

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from sbc import cache
from sbc.cache import opened, sealed
from sbc.data import grammar_folder
from sbc.diagnostics.span import Source, Span
from sbc.record import Record
from sbc.syntax import tree
from sbc.syntax.reading import source_digest
from sbc.syntax.tree import SourceTree
from sbc_runtime.sha256 import sha256_hex

FOLDER = "parsed"
"""Where a package keeps the trees, beside the grammar."""

_FORMAT = 2


def folder() -> Path:
    """Give the folder of the trees that came with the package; a checkout has none."""
    return grammar_folder() / FOLDER


def load(source: Source) -> SourceTree | None:
    """Give the tree of a file of the stock library as it was parsed before; None where it was not."""
    name = _name(source)
    if name is None:
        return None
    return _decoded(_packaged(name), source) or _decoded(cache.read(name), source)


def save(parsed: SourceTree) -> None:
    """Keep the tree of a file of the stock library in the user's cache; of any other, do nothing."""
    name = _name(parsed.span.source)
    if name is not None:
        cache.write(name, encode(parsed))


def _packaged(name: str) -> bytes | None:
    try:
        return (folder() / name).read_bytes()
    except OSError:
        return None


def _decoded(data: bytes | None, source: Source) -> SourceTree | None:
    return None if data is None else decode(data, source)


def _name(source: Source) -> str | None:
    """Give the name of the file that holds the tree of a source, where that is one of the stock library."""
    match = re.fullmatch(r"<([A-Za-z0-9_-]+)>", source.name)
    return f"{match[1]}.tree.json" if match else None


def encode(parsed: SourceTree) -> bytes:
    """Give a tree as bytes: the same for the same tree."""
    body = json.dumps(_encoded(parsed), separators=(",", ":")).encode()
    return sealed(_key(parsed.span.source), body)


def decode(data: bytes, source: Source) -> SourceTree | None:
    """Give the tree of a source from bytes; None where they are damaged, or of another source or compiler."""
    body = opened(data, _key(source))
    if body is None:
        return None
    try:
        parsed = _Decoder(source).node(json.loads(body))
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None
    return parsed if isinstance(parsed, SourceTree) else None


@lru_cache
def _classes() -> tuple[type[Record], ...]:
    kinds = [kind for kind in vars(tree).values() if isinstance(kind, type) and issubclass(kind, Record)]
    return tuple(kind for kind in kinds if kind.__module__ == tree.__name__)


@lru_cache
def _fields(kind: type[Record]) -> tuple[str, ...]:
    return tuple(name for name in kind.__dict__["_fields"] if name != "span")


@lru_cache
def _numbers() -> dict[type[Record], int]:
    return {kind: number for number, kind in enumerate(_classes())}


def _key(source: Source) -> str:
    shapes = [(kind.__name__, *_fields(kind)) for kind in _classes()]
    return sha256_hex(repr((_FORMAT, shapes, source_digest(source))).encode())


def _encoded(value: object) -> object:
    if isinstance(value, Record):
        kind = type(value)
        span: Span = value.__dict__["span"]
        fields = (_encoded(value.__dict__[name]) for name in _fields(kind))
        return [_numbers()[kind], span.start, span.end, *fields]
    if isinstance(value, tuple):
        return [None, *map(_encoded, cast("tuple[object, ...]", value))]
    return value


class _Decoder:
    """Makes the nodes of one source, without the checks of their constructors: what is stored has passed them."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._shapes: list[tuple[type[Record], tuple[str, ...]]] = [(kind, _fields(kind)) for kind in _classes()]

    def node(self, data: list[Any]) -> Record:
        number: int = data[0]
        kind, names = self._shapes[number]
        span = object.__new__(Span)
        fields = span.__dict__
        fields["source"] = self._source
        fields["start"] = data[1]
        fields["end"] = data[2]
        node = object.__new__(kind)
        fields = node.__dict__
        for name, value in zip(names, data[3:], strict=True):
            fields[name] = value if type(value) is not list else self._list(cast("list[Any]", value))
        fields["span"] = span
        return node

    def _list(self, data: list[Any]) -> Record | tuple[Any, ...]:
        if data[0] is not None:
            return self.node(data)
        return tuple([self._list(cast("list[Any]", item)) if type(item) is list else item for item in data[1:]])
