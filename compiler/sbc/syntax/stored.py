"""Syntax trees as data: the stock library is parsed when the wheel is built, not each time that it is used.

A node is a list: the number of its class, where it starts and ends, then its other fields; a tuple is a list that
begins with null. A stored tree is used only for the very source that it was made from, and by the very shapes of nodes
that made it; whatever else is found counts as nothing.
"""

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any, cast

from sbc.data import grammar_folder
from sbc.diagnostics.span import Source, Span
from sbc.record import Record
from sbc.syntax import tree
from sbc.syntax.reading import source_digest
from sbc.syntax.tree import SourceTree

_FORMAT = 1


def folder() -> Path:
    """Give the folder of the stored trees of the stock library; a checkout has none."""
    return grammar_folder() / "parsed"


def load(source: Source) -> SourceTree | None:
    """Give the tree of a source of the stock library as it was parsed before; None where it was not."""
    name = source.name.strip("<>")
    if source.name != f"<{name}>" or "/" in name:
        return None
    try:
        data = (folder() / f"{name}.json").read_bytes()
    except (OSError, ValueError):
        return None
    return decode(data, source)


def save(parsed: SourceTree, place: Path) -> None:
    """Write the tree of a source into a folder, under the source's name."""
    source = parsed.span.source
    (place / f"{source.name.strip('<>')}.json").write_bytes(encode(parsed))


def encode(parsed: SourceTree) -> bytes:
    """Give a tree as bytes: the same for the same tree."""
    document = {"key": _key(parsed.span.source), "tree": _encoded(parsed)}
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()


def decode(data: bytes, source: Source) -> SourceTree | None:
    """Give the tree of a source from bytes; None where they are damaged, or of another source or compiler."""
    try:
        document: Any = json.loads(data)
        if document["key"] != _key(source):
            return None
        parsed = _Decoder(source).node(document["tree"])
    except (ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None
    return parsed if isinstance(parsed, SourceTree) else None


@cache
def _classes() -> tuple[type[Record], ...]:
    kinds = [kind for kind in vars(tree).values() if isinstance(kind, type) and issubclass(kind, Record)]
    return tuple(kind for kind in kinds if kind.__module__ == tree.__name__)


@cache
def _fields(kind: type[Record]) -> tuple[str, ...]:
    return tuple(name for name in kind.__dict__["_fields"] if name != "span")


@cache
def _numbers() -> dict[type[Record], int]:
    return {kind: number for number, kind in enumerate(_classes())}


def _key(source: Source) -> str:
    shapes = [(kind.__name__, *_fields(kind)) for kind in _classes()]
    return hashlib.sha256(repr((_FORMAT, shapes, source_digest(source))).encode()).hexdigest()


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
