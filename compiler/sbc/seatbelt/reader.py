"""Text -> data, by the reader's rules as read in the Scheme that macOS uses (a descendant of TinyScheme).

Comments are `;` and `#!` to the end of the line; a `#|` is no comment there and is refused. A word ends at a blank, a
parenthesis or `;`, so a quote inside one belongs to it.
"""

import re
from typing import NamedTuple

from sbc.diagnostics.catalogue.sbpl import SbplBudget, SbplUnreadable
from sbc.diagnostics.diagnostic import Failed
from sbc.diagnostics.span import Source, Span
from sbc.seatbelt.budget import MAX_NESTING, MAX_SOURCE
from sbc.seatbelt.refuse import refused
from sbc.seatbelt.strings import Unreadable, characters, raw, unescaped
from sbc.seatbelt.values import NIL, Char, Pair, Value, symbol

_SKIP = re.compile(r"(?:[ \t\r\n\f\v]+|;[^\n]*|#![^\n]*)+")
_ATOM = re.compile(r"[^() \t\r\n\f\v;]+")
_NUMBER = re.compile(r"[+-]?[0-9]+\Z")
_FRACTION = re.compile(r"[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?:\.[0-9]*)?[eE][+-]?[0-9]+)\Z")
_QUOTES = {"'": "quote", "`": "quasiquote", ",": "unquote", ",@": "unquote-splicing"}
_BASES = {"o": (8, "01234567"), "d": (10, "0123456789"), "x": (16, "0123456789abcdefABCDEF"), "b": (2, "01")}

_UNCLOSED = "a `)` is missing for this `(`"
_QUOTED_NOTHING = "nothing follows this quote"

LARGEST = (1 << 63) - 1
"""Numbers are a C `long`."""


class _Open(NamedTuple):
    """A list, or a quote sign, that waits for its items: where it opened, its items, and the tail after a dot."""

    start: int
    quote: str
    items: list[Pair]
    tail: list[Pair]
    dot: list[int]


def read(source: Source) -> Value:
    """Give the data of a text, as a list whose pairs know their places."""
    try:
        size = len(source.text.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError as error:
        raise refused(SbplUnreadable(Span(source, error.start, error.start + 1), "the text is no text")) from None
    if size > MAX_SOURCE:
        raise refused(SbplBudget(Span(source, 0, 0), "bytes of text", MAX_SOURCE))
    return _Reader(source).all()


class _Reader:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._text = source.text
        self._at = 0
        self._open: list[_Open] = []
        self._done: list[Pair] = []
        self._suspect: _Open | None = None

    def all(self) -> Value:
        """Read to the end; nesting is kept in a list, so that no depth of it can overflow anything."""
        text, end = self._text, len(self._text)
        while True:
            skipped = _SKIP.match(text, self._at)
            if skipped:
                self._at = skipped.end()
            if self._at >= end:
                break
            start, sign = self._at, text[self._at]
            if sign == "(":
                self._suspect = self._suspect or self._never_closed(start)
                self._push(_Open(start, "", [], [], []), 1)
            elif sign == ")":
                self._close(start)
            elif sign in "'`,":
                mark = ",@" if text.startswith(",@", start) else sign
                self._push(_Open(start, _QUOTES[mark], [], [], []), len(mark))
            elif sign == "." and (start + 1 >= end or text[start + 1] in " \t\r\n"):
                self._dot(start)
            else:
                value, self._at = self._atom(start)
                self._add(value, start)
        if self._open:
            opened = self._suspect or self._open[0]
            raise self._wrong(opened.start, opened.start + 1, _QUOTED_NOTHING if opened.quote else _UNCLOSED)
        return _linked(self._done, NIL)

    def _push(self, opened: _Open, width: int) -> None:
        if len(self._open) >= MAX_NESTING:
            raise refused(SbplBudget(self._span(opened.start, opened.start + 1), "lists within lists", MAX_NESTING))
        self._open.append(opened)
        self._at += width

    def _never_closed(self, start: int) -> _Open | None:
        """Give the list that was probably meant to end before this one: both begin a line."""
        return (
            self._open[0]
            if self._begins_line(start) and self._open and self._begins_line(self._open[0].start)
            else None
        )

    def _begins_line(self, start: int) -> bool:
        return start == 0 or self._text[start - 1] == "\n"

    def _dot(self, start: int) -> None:
        if not self._open or self._open[-1].quote or not self._open[-1].items or self._open[-1].dot:
            raise self._wrong(start, start + 1, "a `.` may only stand before the last item of a list")
        self._open[-1].dot.append(start)
        self._at += 1

    def _close(self, start: int) -> None:
        if not self._open:
            raise self._wrong(start, start + 1, "one `)` too many")
        opened = self._open[-1]
        if opened.quote:
            raise self._wrong(opened.start, opened.start + 1, _QUOTED_NOTHING)
        if opened.dot and not opened.tail:
            raise self._wrong(opened.dot[0], opened.dot[0] + 1, "nothing follows this `.`")
        self._open.pop()
        self._at = start + 1
        self._add(_linked(opened.items, opened.tail[0].car if opened.tail else NIL), opened.start)

    def _add(self, value: Value, start: int) -> None:
        """Add a datum that ends here; it may complete quotes, one within the other."""
        while True:
            at = self._span(start, self._at)
            if not self._open:
                self._done.append(Pair(value, NIL, at))
                return
            opened = self._open[-1]
            if not opened.quote:
                if opened.tail:
                    raise self._wrong(start, self._at, "only one item may follow a `.`")
                (opened.tail if opened.dot else opened.items).append(Pair(value, NIL, at))
                return
            self._open.pop()
            value, start = Pair(symbol(opened.quote), Pair(value, NIL, at), at), opened.start

    def _atom(self, start: int) -> tuple[Value, int]:
        text = self._text
        try:
            if text[start] == '"':
                return unescaped(text, start)
            if text.startswith('#"', start):
                return raw(text, start)
            if text[start] == "#":
                return self._sharp(start)
        except Unreadable as wrong:
            if wrong.open and self._suspect:
                raise self._wrong(self._suspect.start, self._suspect.start + 1, _UNCLOSED) from None
            raise self._wrong(wrong.start, wrong.end, wrong.why, wrong.advice) from None
        found = _ATOM.match(text, start)
        # Something stands there: blanks, parentheses and `;` are taken before.
        word = found[0] if found else text[start]
        end = start + len(word)
        if _NUMBER.match(word):
            return self._number(word, 10, start, end), end
        if _FRACTION.match(word):
            raise self._wrong(start, end, f"`{word}`: only whole numbers are known here")
        if '"' in word:
            # It would be part of the word; no word has one, and where it stands a string was closed too late.
            opened = self._suspect.start if self._suspect else start
            raise self._wrong(opened, opened + 1, _UNCLOSED if self._suspect else "a quote within a word")
        if "\0" in word:
            raise self._wrong(start, end, "a NUL cannot stand in a profile")
        return symbol(word), end

    def _sharp(self, start: int) -> tuple[Value, int]:
        """Read `#t #f`, `#o #d #x #b` with digits, `#\\c`; nothing else follows a `#`."""
        text = self._text
        if text.startswith("#\\", start):
            code, end = characters(text, start)
            return Char(code), end
        if text.startswith("#|", start):
            raise self._wrong(
                start, start + 2, "`#|` opens no comment in SBPL", "begin each line of a comment with `;`"
            )
        found = _ATOM.match(text, start)
        word = found[0] if found else "#"
        end = start + len(word)
        if word in ("#t", "#f"):
            return word == "#t", end
        base, digits = _BASES.get(word[1:2], (0, ""))
        if base and len(word) > 2 and all(c in digits for c in word[2:].removeprefix("-")) and word[2:] != "-":
            return self._number(word[2:], base, start, end), end
        raise self._wrong(start, end, f"`{word}` is nothing that a `#` begins")

    def _number(self, digits: str, base: int, start: int, end: int) -> int:
        # Longer ones are refused before they are computed: that takes quadratic time.
        value = int(digits, base) if len(digits) <= 70 else LARGEST + 1
        if abs(value) > LARGEST:
            raise self._wrong(start, end, "the number does not fit 64 bits")
        return value

    def _span(self, start: int, end: int) -> Span:
        return Span(self._source, start, end)

    def _wrong(self, start: int, end: int, why: str, advice: str | None = None) -> Failed:
        return refused(SbplUnreadable(self._span(start, end), why, advice))


def _linked(items: list[Pair], tail: Value) -> Value:
    """Make one list of cells, so that each keeps its place."""
    for cell in reversed(items):
        cell.cdr = tail
        tail = cell
    return tail
