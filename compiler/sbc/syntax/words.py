"""Tokens -> values: numbers, strings and paths, with their errors."""

import re

from sbc.diagnostics.catalogue.syntax import (
    BadCharacter,
    BadEscape,
    BadName,
    NotAPath,
    NumberTooLarge,
    ParameterInside,
    ReservedInPath,
)
from sbc.diagnostics.diagnostic import Reporter
from sbc.diagnostics.span import Source, Span
from sbc.syntax.lexer import Token
from sbc.syntax.tree import Duration, Number, Path, Size, Text

_UNITS = {
    "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40, "B": 1,
    "ms": 1, "min": 60_000, "s": 1_000, "h": 3_600_000,
}  # fmt: skip
_DIGITS = 24
"""More digits than any number of 64 bits has in any base but 2; so `int()` never meets a long text."""

_PIECES = re.compile(r'[^\\$]+|\\u\{[^}"]*\}|\\x..?|\\.|\$\{[^\s{}]*\}?|\$', re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "\\": "\\", '"': '"', "$": "$"}
_BASE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_-]*)\}")
_RESERVED = re.compile(r"""[*?\[\]\\"'`#$\u00ad\u200b-\u200d\u2060]""")
"""What a bare path cannot hold: the marks of patterns and of quoting, and letters that cannot be seen."""


def _bytes_joined(text: str) -> str:
    """Read the bytes that `\\xHH` gives as UTF-8 where they are; others stay as `os.fsdecode` gives them."""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")


class Words:
    """Makes the values of one source; what is wrong goes to the reporter, and a stand-in is given."""

    def __init__(self, source: Source, reporter: Reporter) -> None:
        self.source = source
        self.reporter = reporter

    def span(self, start: int, end: int) -> Span:
        """Give a range of the source."""
        return Span(self.source, start, end)

    def number(self, token: Token) -> Number:
        """Give an integer: decimal, `0x` or `0o`, perhaps negative."""
        span = self.span(token.start, token.end)
        return Number(self._integer(token.text, span), token.text, span)

    def size(self, token: Token) -> Size:
        """Give a size in bytes."""
        span = self.span(token.start, token.end)
        return Size(self._scaled(token.text, span), token.text, span)

    def duration(self, token: Token) -> Duration:
        """Give a time in milliseconds."""
        span = self.span(token.start, token.end)
        return Duration(self._scaled(token.text, span), token.text, span)

    def _scaled(self, text: str, span: Span) -> int:
        digits = text.rstrip("BKMGTihmns")
        value = self._integer(digits, span) * _UNITS[text[len(digits) :]]
        return self._checked(value, span)

    def _integer(self, text: str, span: Span) -> int:
        return self._checked(int(text, 0) if len(text) <= _DIGITS else 1 << 64, span)

    def _checked(self, value: int, span: Span) -> int:
        if abs(value) >> 64:
            self.reporter.add(NumberTooLarge(span))
            return 0
        return value

    def text(self, token: Token) -> Text:
        """Give a string; an unescaped `${` in it is an error, since values are never pasted into text."""
        value = _bytes_joined("".join(text for text, _ in self._pieces(token, first=None)))
        return Text(value, self.span(token.start, token.end))

    def path(self, token: Token) -> Path:
        """Give a path, bare or as a string."""
        span = self.span(token.start, token.end)
        if token.shape == "string":
            pieces = self._pieces(token, first="path")
            base = pieces.pop(0)[0] if pieces and pieces[0][1] else None
            text = _bytes_joined("".join(piece for piece, _ in pieces))
        else:
            match = _BASE.match(token.text)
            base = match[1] if match else None
            text = token.text[match.end() :] if match else token.text
            if not self._bare(token, text):
                return Path(None, "/", quoted=False, span=span)
        if base is None and (text == "~" or text.startswith("~/")):
            base, text = "home", text[1:]
        if text[:1] != "/" and (text or base is None):
            self.reporter.add(NotAPath(span, token.text.strip('"')))
        return Path(base, text, quoted=token.shape == "string", span=span)

    def _bare(self, token: Token, text: str) -> bool:
        """Check the characters of a bare path after its base."""
        if not (found := _RESERVED.search(text)):
            return True
        offset = token.end - len(text) + found.start()
        if token.text.startswith("${") and text is token.text:
            self.reporter.add(BadName(self.span(token.start, token.end), token.text, "parameter"))
        elif not found[0].isascii():
            self.reporter.add(BadCharacter(self.span(offset, offset + 1), found[0], "write the path as a string"))
        elif text.startswith("${", found.start()):
            self.reporter.add(ParameterInside(self.span(offset, offset + 2), "the middle of a path"))
        else:
            quoted = token.text[: -len(text)] + re.sub(r'(["\\]|\$(?=\{))', r"\\\1", text)
            self.reporter.add(ReservedInPath(self.span(offset, offset + 1), found[0], f'"{quoted}"'))
        return False

    def _pieces(self, token: Token, first: str | None) -> list[tuple[str, bool]]:
        """Undo the escapes of a string: pieces of text, and perhaps first the name of the parameter it starts with."""
        pieces: list[tuple[str, bool]] = []
        for match in _PIECES.finditer(token.text, 1, len(token.text) - 1):
            piece = match[0]
            span = self.span(token.start + match.start(), token.start + match.end())
            if piece[0] == "\\":
                pieces.append((self._escape(piece, span), False))
            elif piece[:2] == "${":
                base = _BASE.fullmatch(piece)
                if first and base and match.start() == 1:
                    pieces.append((base[1], True))
                else:
                    self.reporter.add(ParameterInside(span, "the middle of a path" if first else "a string"))
            else:
                pieces.append((piece, False))
        return pieces

    def _escape(self, piece: str, span: Span) -> str:
        letter = piece[1:2]
        if len(piece) == 2 and letter in _SIMPLE:
            return _SIMPLE[letter]
        digits = piece[2:] if letter == "x" else piece[3:-1]
        if letter not in ("x", "u"):
            why = "is not an escape"
        elif not re.fullmatch(r"[0-9A-Fa-f]{2}" if letter == "x" else r"[0-9A-Fa-f]{1,8}", digits):
            why = "needs two hexadecimal digits" if letter == "x" else "needs one to eight hexadecimal digits in `{ }`"
        elif (code := int(digits, 16)) == 0:
            why = "is NUL, which no path, name or value can hold"
        elif letter == "x" and code > 0x7F:
            return chr(0xDC00 + code)  # a byte: `_bytes_joined` sees whether it is part of a character
        elif code > 0x10FFFF or 0xD800 <= code < 0xE000:
            why = "is not a character"
        else:
            return chr(code)
        self.reporter.add(BadEscape(span, piece, why))
        return "?"
