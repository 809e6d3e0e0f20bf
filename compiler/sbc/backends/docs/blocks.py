"""What a document is made of, before it is Markdown or HTML."""

import re
from typing import Literal

from sbc.record import Record


class Text(Record):
    """Plain text."""

    text: str


class Code(Record):
    """Text as the profile or the kernel spells it."""

    text: str


MarkKind = Literal["absent", "enforced", "narrower", "wider", "other"]


class Mark(Record):
    """A word of a small vocabulary, which a page may colour."""

    kind: MarkKind
    text: str


Inline = tuple[Text | Code | Mark, ...]


class Paragraph(Record):
    """A paragraph."""

    content: Inline


class Subhead(Record):
    """A heading inside a section."""

    content: Inline


class Bullets(Record):
    """A list."""

    entries: tuple[Inline, ...]


class Group(Record):
    """Rows of a table that share a note."""

    note: Inline
    rows: tuple[tuple[Inline, ...], ...]


class Table(Record):
    """A table. `note` heads the notes of its groups; empty: they have none."""

    head: tuple[str, ...]
    groups: tuple[Group, ...]
    note: str = ""


Block = Paragraph | Subhead | Bullets | Table


class Section(Record):
    """A part of the document; `key` names it in markers of other documents."""

    key: str
    title: str
    blocks: tuple[Block, ...]


class Document(Record):
    """The whole document: `lead` is what the profile says of itself."""

    name: str
    lead: Inline
    sections: tuple[Section, ...]


_SPAN = re.compile(r"`([^`]+)`")


def prose(text: str) -> Inline:
    """Give text that an author wrote, on one line; what stands between backticks is code."""
    pieces = _SPAN.split(" ".join(text.split()))
    return tuple(Code(piece) if index % 2 else Text(piece) for index, piece in enumerate(pieces) if piece)


def plain(text: str) -> Inline:
    """Give text of our own."""
    return (Text(text),)


def code(text: str) -> Inline:
    """Give one piece of code."""
    return (Code(text),)


def joined(parts: "tuple[Inline, ...] | list[Inline]", separator: str = ", ") -> Inline:
    """Put text between parts."""
    made: list[Text | Code | Mark] = []
    for part in parts:
        if made:
            made.append(Text(separator))
        made += part
    return tuple(made)


def codes(texts: "tuple[str, ...] | list[str]", separator: str = ", ") -> Inline:
    """Give pieces of code with text between them."""
    return joined([code(text) for text in texts], separator)


def one_group(*rows: tuple[Inline, ...]) -> tuple[Group, ...]:
    """Give the groups of a table that has no notes."""
    return (Group((), rows),)
