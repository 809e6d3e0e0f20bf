"""What filters compare: strings, numbers, truth values. Each answers `verdict` for a fact's value.

Names of paths, extended attributes, sysctls and POSIX IPC compare without regard to case, names of Mach services with
regard to it [read; for paths disputed]. Only ASCII letters are taken for certain: whether others fold, and whether one
character may be spelled in two ways, is open, as is the case of regular expressions on such names.
"""

import re
import unicodedata
from typing import NamedTuple, TypeAlias

from sbc.macos.filters import Match
from sbc.seatbelt.automaton import Automaton
from sbc.seatbelt.regex import Never, Open, program
from sbc.seatbelt.values import Name
from sbc.seatbelt.verdict import Meter, Unknown, Verdict

Fact: TypeAlias = str | int | Name

_OTHER_SPELLING = Unknown("how macOS compares letters beyond ASCII, which is not known")
_SLASH = Unknown("what a `/` at the end of a path means in a filter, which is not known")
_EMPTY = Unknown("what an empty path matches in a filter, which is not known")
_VARIABLE = Unknown("what `${` at the start of a path stands for on the machine")


def ascii_lower(text: str) -> str:
    """Fold the case of ASCII letters only."""
    return text.lower() if text.isascii() else "".join(c.lower() if c.isascii() else c for c in text)


def loosest(text: str) -> str:
    """Give a form that all spellings of a name have which any file system takes for one."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", text).casefold())


class Text(NamedTuple):
    """A string that is compared as a whole, as a beginning, or by the components of a path."""

    value: str
    match: Match
    folded: bool

    def verdict(self, fact: Fact, meter: Meter) -> Verdict:
        """Compare with a fact."""
        if not isinstance(fact, str):
            return False
        meter.take((len(self.value) + len(fact)) // 64)
        if self.value.startswith("${") and self.match != "regex":
            return _VARIABLE
        if not self.folded:
            return self._compared(self.value, fact)
        strict = self._compared(ascii_lower(self.value), ascii_lower(fact))
        if strict is True or (self.value.isascii() and fact.isascii()):
            return strict
        meter.take(len(self.value) + len(fact))
        if strict is False and self._compared(loosest(self.value), loosest(fact)) is not False:
            return _OTHER_SPELLING
        return strict

    def _compared(self, value: str, fact: str) -> Verdict:
        match self.match:
            case "prefix":
                return fact.startswith(value)
            case "subpath":
                if value == "/":
                    return fact.startswith("/")
                if not value:
                    return _EMPTY
                if value.endswith("/"):
                    return _SLASH if (fact + "/").startswith(value.rstrip("/") + "/") else False
                return fact == value or fact.startswith(value + "/")
            case _:
                if fact == value or not fact.startswith("/"):
                    return fact == value
                if not value:
                    return _EMPTY
                return _SLASH if value.endswith("/") and fact == value.rstrip("/") else False


class Regex:
    """A regular expression; `open` says what in it is not known, `never` that it matches nothing."""

    def __init__(self, pattern: str, *, folded: bool) -> None:
        self.pattern = pattern
        self.open: Unknown | None = None
        self.never = False
        self._begins = _beginning(pattern)
        self._strict: Automaton | None = None
        self._loose: Automaton | None = None
        try:
            code = program(pattern)
        except Never:
            self.never = True
        except Open as construct:
            self.open = Unknown(f"what {construct} means in a regular expression, which is not known")
        else:
            self._strict = Automaton(code, folded=False)
            self._loose = Automaton(code, folded=True) if folded else None

    def verdict(self, fact: Fact, meter: Meter) -> Verdict:
        """Search a fact."""
        if self.open:
            return self.open
        if self.never or self._strict is None or not isinstance(fact, str):
            return False
        if self._begins and fact.isascii() and not fact.lower().startswith(self._begins):
            return False
        strict = self._strict.finds(fact, meter)
        if self._loose and self._loose.finds(fact, meter) != strict:
            return Unknown("whether a regular expression tells upper from lower case, which is not known")
        if not fact.isascii() and self._by_bytes(fact, meter) is not strict:
            return Unknown("whether a regular expression reads bytes or characters, which is not known")
        return strict

    def _by_bytes(self, fact: str, meter: Meter) -> bool | None:
        """Search as if every byte were a character; None where the pattern has no such reading."""
        meter.take(4 * len(self.pattern))
        try:
            code = program(_as_bytes(self.pattern))
        except ValueError:
            return None
        return Automaton(code, folded=False).finds(_as_bytes(fact), meter)


def _beginning(pattern: str) -> str:
    """Give how every match begins, in lower case, as far as plain letters tell; empty where they do not."""
    found = _PLAIN.match(pattern)
    if found is None or "|" in pattern:
        return ""
    letters = found[1]
    return (letters[:-1] if pattern[found.end() :].startswith(("*", "?", "+", "{")) else letters).lower()


_PLAIN = re.compile(r"\^([A-Za-z0-9/_-]+)")


def _as_bytes(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("latin-1")


class Number(NamedTuple):
    """A number, or a word for one."""

    value: int | Name
    fact: str

    def verdict(self, fact: Fact, _meter: Meter) -> Verdict:
        """Compare with a fact."""
        if isinstance(fact, int) and isinstance(self.value, int):
            return fact == self.value
        if isinstance(fact, Name) and isinstance(self.value, Name):
            return fact.name == self.value.name
        if isinstance(fact, str):
            return False
        return Unknown(f"the number that a name of `{self.fact}` stands for")


class Bits(NamedTuple):
    """Bits of a number: whether any or all of them must be set is not known."""

    value: int

    def verdict(self, fact: Fact, _meter: Meter) -> Verdict:
        """Compare with a fact."""
        if not isinstance(fact, int):
            return False
        found = fact & self.value
        if found == self.value and found:
            return True
        return False if found == 0 and self.value else Unknown("how bits are compared, which is not known")


class Truth(NamedTuple):
    """#t or #f."""

    value: bool

    def verdict(self, fact: Fact, _meter: Meter) -> Verdict:
        """Compare with a fact."""
        return isinstance(fact, int) and bool(fact) == self.value


Pattern: TypeAlias = Text | Regex | Number | Bits | Truth
