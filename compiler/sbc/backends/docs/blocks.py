"""What a document is made of, before it is Markdown or HTML."""

import re
from typing import Literal

from sbc.policy.origin import Origin
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
    """A table. `note` heads the notes of its groups; empty: they have none.

    `matrix`: its cells are short, and mean something only beside each other.
    """

    head: tuple[str, ...]
    groups: tuple[Group, ...]
    note: str = ""
    matrix: bool = False


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


def table(head: tuple[str, ...], rows: "list[tuple[Inline, ...]]", reasons: "list[str] | None" = None) -> Table:
    """Give a table without the columns that no row has anything in; rows that follow with one reason are a group."""
    kept = [place for place in range(len(head)) if any(row[place] for row in rows)]
    groups: list[tuple[str, list[tuple[Inline, ...]]]] = []
    for row, why in zip(rows, reasons or [""] * len(rows), strict=True):
        if not groups or groups[-1][0] != why:
            groups.append((why, []))
        groups[-1][1].append(tuple(row[place] for place in kept))
    made = tuple(Group(prose(why), tuple(found)) for why, found in groups)
    return Table(tuple(head[place] for place in kept), made, "Why" if reasons and any(reasons) else "")


def statement(text: str, written: bool = True) -> Inline:
    """Give a statement: code where a file says it, prose where it is a default of the language."""
    return code(text) if written else prose(text)


def why(origin: Origin) -> str:
    """Give the author's reason; where no statement says it, which default of the language does."""
    return origin.reason if origin.reason or origin.span is not None else f"Default: {origin.text}."


def reason(origin: Origin) -> Inline:
    """Give the reason, to stand after a sentence."""
    return (Text(" "), *prose(why(origin))) if why(origin) else ()
