r"""Regular expressions of SBPL: read into a program for `automaton`.

Known to work: `^ $ . * + ? | ( ) [ ] [^ ] \x`, ranges, empty alternatives. `(?:...)` never matches, silently
[observed]. What other constructs mean there is not known (`\d`, `\w`, `\1`, `{n}`, `(?=`, `[[:x:]]`, two repetitions in
a row, one of `^` or `$`): a pattern with one is kept, and no answer that depends on it is given.
"""

from enum import Enum, auto
from typing import Final, NamedTuple

MAX_PATTERN: Final = 8192
"""Characters of a pattern, which may be put together from several strings."""

MAX_GROUPS: Final = 100
"""Groups within groups."""


class Op(Enum):
    """What an instruction does."""

    SET = auto()
    """Take one character that is in the set."""
    OTHER = auto()
    """Take one character that is not in the set."""
    SPLIT = auto()
    """Go on at both places."""
    JUMP = auto()
    """Go on there."""
    START = auto()
    """Go on at the start of the text."""
    END = auto()
    """Go on at the end of the text."""
    MATCH = auto()
    """It matches."""


class Instruction(NamedTuple):
    """One instruction; targets are relative to itself."""

    op: Op
    ranges: tuple[tuple[int, int], ...] = ()
    first: int = 1
    second: int = 1


class Broken(ValueError):
    """The pattern cannot be read."""


class Open(ValueError):
    """What the pattern means on macOS is not known."""


class Never(ValueError):
    """The pattern matches nothing."""


Code = list[Instruction]
_REPEATS = "*+?"


def program(pattern: str) -> Code:
    """Read a pattern; `Broken`, `Open` or `Never` where it has no program."""
    if len(pattern) > MAX_PATTERN:
        raise Broken(f"it is longer than {MAX_PATTERN} characters")
    reader = _Reader(pattern)
    code = reader.alternatives(0)
    if not reader.ended:
        raise Broken("one `)` too many")
    return [*code, Instruction(Op.MATCH)]


class _Reader:
    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0

    @property
    def ended(self) -> bool:
        return self._at >= len(self._pattern)

    def _here(self) -> str:
        return self._pattern[self._at : self._at + 1]

    def alternatives(self, depth: int) -> Code:
        """Read `a|b|c`, up to a `)` or the end."""
        choices = [self._sequence(depth)]
        while self._here() == "|":
            self._at += 1
            choices.append(self._sequence(depth))
        code = choices.pop()
        for choice in reversed(choices):
            skip = Instruction(Op.JUMP, first=len(code) + 1)
            code = [Instruction(Op.SPLIT, first=1, second=len(choice) + 2), *choice, skip, *code]
        return code

    def _sequence(self, depth: int) -> Code:
        code: Code = []
        while not self.ended and self._here() not in "|)":
            place = self._here() in "^$"
            one = self._one(depth)
            sign = self._here()
            if sign and sign in _REPEATS:
                if place:
                    raise Open("a repetition of `^` or `$`")
                self._at += 1
                one = _repeated(one, sign)
                if self._here() and self._here() in _REPEATS:
                    raise Open("two repetitions in a row")
            code += one
        return code

    def _one(self, depth: int) -> Code:
        sign = self._here()
        self._at += 1
        match sign:
            case "^":
                return [Instruction(Op.START)]
            case "$":
                return [Instruction(Op.END)]
            case ".":
                return [Instruction(Op.OTHER)]
            case "[":
                return [self._set()]
            case "(":
                return self._group(depth)
            case "\\":
                return [_character(self._escaped())]
            case "*" | "+" | "?":
                raise Broken(f"nothing stands before `{sign}`")
            case "{":
                raise Open("`{`")
            case _:
                return [_character(sign)]

    def _group(self, depth: int) -> Code:
        if depth >= MAX_GROUPS:
            raise Broken(f"more than {MAX_GROUPS} groups within each other")
        if self._here() == "?":
            if self._pattern.startswith("?:", self._at):
                raise Never
            raise Open("`(?`")
        code = self.alternatives(depth + 1)
        if self._here() != ")":
            raise Broken("a `)` is missing")
        self._at += 1
        return code

    def _escaped(self) -> str:
        sign = self._here()
        if not sign:
            raise Broken("nothing follows the last `\\`")
        if sign.isalnum():
            raise Open(f"`\\{sign}`")
        self._at += 1
        return sign

    def _set(self) -> Instruction:
        """Read a set, after its `[`; a `]` that comes first is a member."""
        op = Op.SET
        if self._here() == "^":
            op = Op.OTHER
            self._at += 1
        ranges: list[tuple[int, int]] = []
        first = True
        while first or self._here() != "]":
            low = self._member()
            first = False
            high = low
            if self._here() == "-" and self._pattern[self._at + 1 : self._at + 2] not in ("]", ""):
                self._at += 1
                high = self._member()
                if ord(high) < ord(low):
                    raise Broken(f"the range `{low}-{high}` is empty")
            ranges.append((ord(low), ord(high)))
        self._at += 1
        return Instruction(op, tuple(ranges))

    def _member(self) -> str:
        sign = self._here()
        if not sign:
            raise Broken("a `]` is missing")
        self._at += 1
        if sign == "\\":
            return self._escaped()
        if sign == "[" and self._here() in (":", ".", "="):
            raise Open(f"`[{self._here()}`")
        return sign


def _character(sign: str) -> Instruction:
    return Instruction(Op.SET, ((ord(sign), ord(sign)),))


def _repeated(code: Code, sign: str) -> Code:
    length = len(code)
    match sign:
        case "*":
            back = Instruction(Op.JUMP, first=-length - 1)
            return [Instruction(Op.SPLIT, first=1, second=length + 2), *code, back]
        case "+":
            return [*code, Instruction(Op.SPLIT, first=-length, second=1)]
        case _:
            return [Instruction(Op.SPLIT, first=1, second=length + 1), *code]
