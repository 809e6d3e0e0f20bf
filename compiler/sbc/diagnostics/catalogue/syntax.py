"""SBX1xx: the text is not a profile."""

from typing import ClassVar

from sbc.diagnostics.diagnostic import Diagnostic, Label
from sbc.diagnostics.span import Span


def _choice(words: tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


class CannotStandHere(Diagnostic):
    """Something stands where the language does not take it.

    The words beside the mark say what may stand there. A statement ends at a newline, at `;` or before `}`; several
    things where one is taken go into `{ }`.

        deny EPERM ptrace mount        # wrong
        deny EPERM { ptrace mount }    # right
    """

    code: ClassVar[str] = "SBX101"

    found: str
    expected: tuple[str, ...]
    advice: str | None = None

    def title(self) -> str:
        return f"{self.found} cannot stand here"

    def label(self) -> str:
        return f"expected {_choice(self.expected)}" if self.expected else ""

    def help(self) -> str | None:
        return self.advice


class UnknownWord(Diagnostic):
    """A word stands where only certain words are taken, and is none of them.

    Nothing that the language does not know is ever skipped: a mistyped statement would be protection that is not there.

        files { raed /usr }    # wrong
        files { read /usr }    # right
    """

    code: ClassVar[str] = "SBX102"

    word: str
    role: str
    known: tuple[str, ...]
    suggestion: str | None
    advice: str | None = None

    def title(self) -> str:
        return f"`{self.word}` is not {self.role}"

    def help(self) -> str | None:
        if self.suggestion:
            return f"did you mean `{self.suggestion}`?"
        return self.advice or f"write {_choice(tuple(f'`{word}`' for word in self.known))}"


class NotClosed(Diagnostic):
    """A `{` or `(` has no partner.

    files { read /usr      # wrong
    files { read /usr }    # right
    """

    code: ClassVar[str] = "SBX103"

    mark: str
    end: Span

    def title(self) -> str:
        return f"this `{self.mark}` is not closed"

    def secondary(self) -> tuple[Label, ...]:
        closing = {"{": "}", "(": ")"}[self.mark]
        return (Label(self.end, f"`{closing}` is missing before here"),)


class ClosesNothing(Diagnostic):
    """A `}` or `)` has no partner: one is too many here, or one was left out above."""

    code: ClassVar[str] = "SBX104"

    mark: str

    def title(self) -> str:
        return f"`{self.mark}` closes nothing"


class NoVersion(Diagnostic):
    """A file starts with the version of the language that it is written in.

    sbx 1
    """

    code: ClassVar[str] = "SBX105"

    def title(self) -> str:
        return "the file does not start with the version of the language"

    def label(self) -> str:
        return "expected `sbx 1`"

    def help(self) -> str | None:
        return "write `sbx 1` on the first line"


class UnknownVersion(Diagnostic):
    """The file is written in a version of the language that this compiler does not know; it knows `sbx 1`."""

    code: ClassVar[str] = "SBX106"

    version: str

    def title(self) -> str:
        return f"version `{self.version}` of the language is not known"

    def label(self) -> str:
        return "this compiler knows `1`"


class StringNotClosed(Diagnostic):
    r"""A string ends on the line on which it starts; a newline in it is written `\n`."""

    code: ClassVar[str] = "SBX107"

    def title(self) -> str:
        return "the string is not closed"

    def label(self) -> str:
        return 'no `"` follows on this line'


class BadEscape(Diagnostic):
    r"""In a string, `\` starts one of `\n \t \\ \" \$`, `\xHH` (01 to 7f) or `\u{H...}` (a character, not NUL)."""

    code: ClassVar[str] = "SBX108"

    escape: str
    why: str

    def title(self) -> str:
        return f"`{self.escape}` {self.why}"

    def help(self) -> str | None:
        return r"known are `\n`, `\t`, `\\`, `\"`, `\$`, `\xHH` (01 to 7f) and `\u{H...}`"


class ReservedInPath(Diagnostic):
    r"""Characters that patterns and quoting use elsewhere are reserved in a bare path; a string takes them as they are.

    read /opt/a*b      # wrong: paths are never patterns
    read "/opt/a*b"    # right: the file whose name has a star
    """

    code: ClassVar[str] = "SBX109"

    character: str
    string: str

    def title(self) -> str:
        return f"`{self.character}` cannot stand in a bare path"

    def label(self) -> str:
        return "paths are not patterns" if self.character in "*?[]" else ""

    def help(self) -> str | None:
        return f"for the character itself write the path as a string: `{self.string}`"


class ParameterInside(Diagnostic):
    r"""A parameter stands at the start of a path, or alone; values are never pasted into text.

    write /srv/${name}        # wrong
    write ${folder}/cache     # right
    set A = "\${not a parameter}"
    """

    code: ClassVar[str] = "SBX110"

    kind: str

    def title(self) -> str:
        return f"`${{` cannot stand in {self.kind}"

    def help(self) -> str | None:
        return r"a parameter stands alone or starts a path; for the characters themselves write `\${` in a string"


class BadCharacter(Diagnostic):
    """A character that is no part of the language outside strings and comments, or that is not allowed anywhere.

    Control characters and those that change the direction of text can make a file look like another one.
    """

    code: ClassVar[str] = "SBX111"

    character: str
    advice: str | None = None

    def title(self) -> str:
        shown = f"`{self.character}`" if self.character.isprintable() else f"the character U+{ord(self.character):04X}"
        return f"{shown} cannot stand here"

    def help(self) -> str | None:
        return self.advice


class StuckTogether(Diagnostic):
    """Two words, paths or strings have nothing between them.

    /a"b" is neither one path nor two.
    """

    code: ClassVar[str] = "SBX112"

    first: str
    second: str

    def title(self) -> str:
        return f"nothing separates `{self.first}` and `{self.second}`"

    def help(self) -> str | None:
        return "put a blank between them, or write one string"


class TooDeep(Diagnostic):
    """Brackets are nested more than 100 deep."""

    code: ClassVar[str] = "SBX113"

    limit: int

    def title(self) -> str:
        return f"brackets are nested more than {self.limit} deep"


class BadNumber(Diagnostic):
    """A word that starts like a number is none.

    Integers are decimal without leading zeros, `0x1f` or `0o17`; sizes end in `B`, `KiB`, `MiB`, `GiB` or `TiB`, times
    in `ms`, `s`, `min` or `h`.
    """

    code: ClassVar[str] = "SBX114"

    word: str
    suggestion: str | None

    def title(self) -> str:
        return f"`{self.word}` is not a number, a size or a time"

    def help(self) -> str | None:
        if self.suggestion:
            return f"did you mean `{self.suggestion}`?"
        return "write `12`, `0x1f` or `0o17`, a size such as `64KiB`, or a time such as `10min`"


class NumberTooLarge(Diagnostic):
    """No number, size or time here can be 2^64 or more."""

    code: ClassVar[str] = "SBX115"

    def title(self) -> str:
        return "the number is too large"

    def label(self) -> str:
        return "does not fit 64 bits"


class NotAPath(Diagnostic):
    """A path is absolute: it starts with `/`, `~/` or a parameter."""

    code: ClassVar[str] = "SBX116"

    text: str

    def title(self) -> str:
        return f"`{self.text}` is not a path"

    def label(self) -> str:
        return "expected `/`, `~/` or `${parameter}` at the start"


class SaidTwice(Diagnostic):
    """A statement has each of its modifiers once."""

    code: ClassVar[str] = "SBX117"

    word: str
    first: Span

    def title(self) -> str:
        return f"`{self.word}` is said twice"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.first, "first here"),)


class BadName(Diagnostic):
    """A name has letters, digits, `_` and `-`, and starts with no digit: that of a profile, a group, a parameter, a
    variable or a stock file.
    """

    code: ClassVar[str] = "SBX118"

    text: str
    role: str

    def title(self) -> str:
        return f"`{self.text}` is not the name of a {self.role}"

    def label(self) -> str:
        return "letters, digits, `_` and `-`"

    def help(self) -> str | None:
        return "a name does not start with a digit" if self.text.lstrip("@")[:1].isdigit() else None


class TooManyErrors(Diagnostic):
    """The file has more errors than are worth telling; reading stopped here."""

    code: ClassVar[str] = "SBX119"

    count: int

    def title(self) -> str:
        return f"more than {self.count} errors: the rest of the file was not read"
