r"""Strings and characters as the reader takes them.

`\n \t \r` are control characters, `\xHH` and `\ooo` (one to three octal digits) give a byte, `\c` gives c itself. Bytes
that make UTF-8 together become one character. Raw strings `#"..."` end at the next quote, whatever stands before it.
"""

from sbc.seatbelt.values import normal

MAX_TOKEN = 1024
"""Bytes of a string in the text, quotes included: read, macOS refuses longer ones (the exact limit is not known)."""

_CONTROLS = {"n": "\n", "t": "\t", "r": "\r"}
_CHARACTERS = {"space": 32, "newline": 10, "return": 13, "tab": 9}
_HEX = frozenset("0123456789abcdefABCDEF")
_OCTAL = frozenset("01234567")
_END = frozenset("() \t\r\n;")


class Unreadable(ValueError):
    """The text has no string or character there."""

    def __init__(self, start: int, end: int, why: str, advice: str | None = None, *, unclosed: bool = False) -> None:
        super().__init__(why)
        self.start = start
        self.end = end
        self.why = why
        self.advice = advice
        self.open = unclosed


def unescaped(text: str, start: int) -> tuple[str, int]:
    """Read the string whose opening quote is at `start`: its value, and where it ends."""
    parts: list[str] = []
    at = start + 1
    quote = -1
    while True:
        if quote < at:  # looked for anew only behind an escaped one: else a long string takes quadratic time
            quote = text.find('"', at)
        if quote < 0:
            raise _unclosed(text, start)
        slash = text.find("\\", at, quote)
        if slash < 0:
            parts.append(text[at:quote])
            break
        parts.append(text[at:slash])
        value, at = _escape(text, slash)
        parts.append(value)
    return normal("".join(parts)), _checked(text, start, quote + 1)


def raw(text: str, start: int) -> tuple[str, int]:
    """Read the raw string whose `#` is at `start`."""
    quote = text.find('"', start + 2)
    if quote < 0:
        raise _unclosed(text, start)
    return text[start + 2 : quote], _checked(text, start, quote + 1)


def characters(text: str, start: int) -> tuple[int, int]:
    r"""Read the character whose `#\` is at `start`: a named one, `\xHH`, or the one that stands there."""
    end = min(start + 3, len(text))
    while end < len(text) and text[end] not in _END:
        end += 1
    word = text[start + 2 : end]
    if word.lower() in _CHARACTERS:
        return _CHARACTERS[word.lower()], end
    if word[:1] == "x" and 1 < len(word) <= 3 and set(word[1:]) <= _HEX:
        return int(word[1:], 16), end
    # macOS reads bytes, so a letter beyond ASCII is several.
    if len(word) != 1 or not word.isascii():
        raise Unreadable(start, end, f"`#\\{word}` is no character")
    return ord(word), end


def _escape(text: str, slash: int) -> tuple[str, int]:
    sign = text[slash + 1 : slash + 2]
    if not sign:
        raise Unreadable(slash, slash + 1, "nothing follows this `\\`")
    if sign in "xX":
        digits = text[slash + 2 : slash + 4]
        if len(digits) != 2 or not set(digits) <= _HEX:
            raise Unreadable(slash, slash + 2, "two hexadecimal digits must follow `\\x`")
        return _byte(int(digits, 16), slash, slash + 4)
    if sign in _OCTAL:
        end = slash + 2
        while end < slash + 4 and text[end : end + 1] in _OCTAL:
            end += 1
        return _byte(int(text[slash + 1 : end], 8), slash, end)
    return _CONTROLS.get(sign, sign), slash + 2


def _byte(value: int, start: int, end: int) -> tuple[str, int]:
    if value > 255:
        raise Unreadable(start, end, "an octal escape is at most `\\377`")
    if value == 0:
        raise Unreadable(start, end, "a NUL cannot stand in a string")
    return bytes((value,)).decode("utf-8", "surrogateescape"), end


def _unclosed(text: str, start: int) -> Unreadable:
    line = text.find("\n", start)
    return Unreadable(start, len(text) if line < 0 else line, "the string is not closed", unclosed=True)


def _checked(text: str, start: int, end: int) -> int:
    if "\0" in text[start:end]:
        raise Unreadable(start, end, "a NUL cannot stand in a string")
    if end - start > MAX_TOKEN or len(text[start:end].encode("utf-8", "surrogateescape")) > MAX_TOKEN:
        raise Unreadable(start, end, f"the string is longer than {MAX_TOKEN} bytes", "macOS cannot read it")
    return end
