"""Tokens and comments -> lines of statements, as the author laid them out: what the formatter works on."""

from collections.abc import Iterator
from typing import NamedTuple

from sbc.syntax.lexer import Token


class Line(NamedTuple):
    """A line of a block: statements with `;` between them, or of a set: members; or, with neither, a comment alone.

    `start` is where its first part stands; `gap` says that a blank line is above.
    """

    content: "list[Statement]"
    comment: str
    start: int
    gap: bool


class Braces(NamedTuple):
    """What stands in `{ }`: the lines of a block or of a set, and the comment behind the `{`.

    `broken` says that a newline is inside.
    """

    block: bool
    comment: str
    lines: list[Line]
    broken: bool


class Break(NamedTuple):
    """A newline inside parentheses or after `|`, with the comment before it."""

    comment: str


Part = str | Braces | Break
Statement = list[Part]


class _Event(NamedTuple):
    kind: str  # "token", "comment" or "newline"
    text: str
    start: int


def laid_out(text: str, tokens: list[Token], blocks: list[int]) -> list[Line]:
    """Give the lines of a file; `blocks` holds where each `{` stands that opens statements."""
    return _Reader(list(_events(text, tokens)), frozenset(blocks)).lines(block=True)


def _events(text: str, tokens: list[Token]) -> Iterator[_Event]:
    end = 0
    for token in tokens:
        yield from _comment(text[end : token.start], end)
        if token.shape == "newline":
            offset = token.start
            for line in token.text.split("\n")[:-1]:
                yield from _comment(line, offset)
                yield _Event("newline", "\n", offset + len(line))
                offset += len(line) + 1
        elif token.shape != "end":
            yield _Event("token", token.text, token.start)
        end = token.end


def _comment(text: str, offset: int) -> Iterator[_Event]:
    mark = text.find("#")
    if mark >= 0:
        yield _Event("comment", text[mark:].rstrip(), offset + mark)


class _Reader:
    """Reads events in order."""

    def __init__(self, events: list[_Event], blocks: frozenset[int]) -> None:
        self._events = events
        self._blocks = blocks
        self._at = 0

    def _next(self) -> _Event | None:
        return self._events[self._at] if self._at < len(self._events) else None

    def lines(self, *, block: bool) -> list[Line]:
        """Read up to the `}` that closes a block or a set, or to the end of the file."""
        found: list[Line] = []
        newlines = 0
        while (event := self._next()) and event.text != "}":
            if event.kind == "newline":
                newlines += 1
                self._at += 1
            elif event.text in (";", ","):
                self._at += 1
            else:
                content = self._content(block=block)
                found.append(Line(content, self._trailing(), event.start, newlines > 1))
                newlines = 0
        return found

    def _content(self, *, block: bool) -> list[Statement]:
        """Read what stands on one line: statements, or members of a set."""
        found: list[Statement] = []
        while (event := self._next()) and event.kind == "token" and event.text != "}":
            if event.text in (";", ","):
                self._at += 1
            else:
                found.append(self._statement() if block else self._member())
        return found

    def _member(self) -> Statement:
        """Read a member of a set: a word, or several with `|` between them."""
        parts: Statement = []
        while event := self._next():
            if event.kind != "token":
                if parts[-1] != "|":
                    break
                parts += self._breaks()
                parts = [part for part in parts if not (isinstance(part, Break) and not part.comment)]
                continue
            if event.text in ("}", ",") or (parts and event.text != "|" and not _joined(parts)):
                break
            parts.append(event.text)
            self._at += 1
        return parts

    def _statement(self) -> Statement:
        parts: Statement = []
        depth = 0
        while (event := self._next()) and event.text not in ("}", ";"):
            if event.kind != "token":
                if depth == 0 and not _joined(parts):
                    break
                parts += self._breaks()
                continue
            self._at += 1
            if event.text == "{":
                braces = self._braces(block=event.start in self._blocks)
                parts.append(braces)
                # It ends its statement, also where neither newline nor `;` follows.
                if braces.block or parts[0] == "group":
                    break
            else:
                depth += (event.text == "(") - (event.text == ")")
                parts.append(event.text)
        return parts

    def _breaks(self) -> list[Break]:
        """Read the comment and the newline that stand inside a statement."""
        comment = self._trailing()
        newline = self._next()
        if newline and newline.kind == "newline":
            self._at += 1
        return [Break(comment)]

    def _braces(self, *, block: bool) -> Braces:
        begin = self._at
        comment = self._trailing()
        lines = self.lines(block=block)
        broken = any(event.kind == "newline" for event in self._events[begin : self._at])
        self._at += 1
        return Braces(block, comment, lines, broken)

    def _trailing(self) -> str:
        event = self._next()
        if event and event.kind == "comment":
            self._at += 1
            return event.text
        return ""


def _joined(parts: Statement) -> bool:
    """Say whether the last part wants another behind it."""
    last = next((part for part in reversed(parts) if not isinstance(part, Break)), None)
    return last == "|"
