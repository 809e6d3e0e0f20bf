"""Text from anywhere -> text that a terminal shows as it is: nothing in it can move the cursor or hide a word."""

import re

from sbc.diagnostics.span import Source

_TAB = "    "
_LESS = "..."

_LONG = 60
_LONG_QUOTED = 120
_LONG_LINE = 1000
_QUOTED = re.compile(f"`[^`\n]{{{_LONG_QUOTED},}}`")


def shortened(text: str) -> str:
    """Give a word short enough to stand in a sentence."""
    return text if len(text) <= _LONG else f"{text[: _LONG - 3]}{_LESS}"


def brief(line: str) -> str:
    """Give a line of a report with every overlong word or list of words in it cut."""
    if len(line) <= _LONG_QUOTED:
        return line
    line = _QUOTED.sub(lambda match: f"`{match[0][1 : _LONG_QUOTED - 2]}{_LESS}`", line)
    return line if len(line) <= _LONG_LINE else f"{line[: _LONG_LINE - 3]}{_LESS}"


def visible(text: str) -> str:
    """Give text with every character that does not print itself written as `\\u{...}`, tabs as four blanks."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


def _shown(character: str) -> str:
    if character == "\t":
        return _TAB
    if character.isprintable():
        return character
    return f"\\u{{{ord(character):x}}}"


def columns(text: str) -> int:
    """Count the columns that visible text takes on a terminal: none for a combining character, two for a wide one."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width  # noqa: PLC0415 - seldom needed

    return sum(
        0 if category(character) in ("Mn", "Me") else 2 if east_asian_width(character) in ("W", "F") else 1
        for character in text
    )


class Window:
    """The part of a line that is shown: all of it, or about `width` columns around the character `anchor` (from 0)."""

    def __init__(self, source: Source, line: int, anchor: int, width: int) -> None:
        text = source.line_text(line)
        self._first = min(max(0, anchor - width // 3), max(0, len(text) - width))
        self._text = text[self._first : self._first + width]
        self._before = _LESS if self._first else ""
        after = _LESS if self._first + width < len(text) else ""
        self.shown = self._before + visible(self._text) + after

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Give the column and the width of the characters `start` to `end`; an empty range is one column wide."""
        start, end = (min(max(offset - self._first, 0), len(self._text)) for offset in (start, end))
        before = columns(self._before + visible(self._text[:start]))
        return before, max(columns(visible(self._text[start:end])), 1)
