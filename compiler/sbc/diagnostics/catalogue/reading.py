"""SBX0xx: the file cannot be read, or is no text."""

from typing import ClassVar

from sbc.diagnostics.diagnostic import Diagnostic
from sbc.diagnostics.looks import Kind

_TEXT = "name a `.sbx` file that is saved as UTF-8 text"


class Unreadable(Diagnostic):
    """The file is not there, or the system does not let us read it."""

    code: ClassVar[str] = "SBX001"

    name: str
    why: str

    def title(self) -> str:
        return f"cannot read `{self.name}`: {self.why[:1].lower()}{self.why[1:]}"

    def help(self) -> str | None:
        return "name a file that is there, and that you may read"


class NotAFile(Diagnostic):
    """A profile is read from a regular file only: a folder has no text, a pipe or device may never end."""

    code: ClassVar[str] = "SBX002"

    name: str
    kind: str

    def title(self) -> str:
        return f"cannot read `{self.name}`: it is {self.kind}"

    def help(self) -> str | None:
        return "name a `.sbx` file"


class LinkLoop(Diagnostic):
    """The symbolic links on the way to the file lead back to themselves."""

    code: ClassVar[str] = "SBX003"

    name: str

    def title(self) -> str:
        return f"cannot read `{self.name}`: its symbolic links form a loop"

    def help(self) -> str | None:
        return "name the file itself, or mend the links"


class TooLarge(Diagnostic):
    """A source has at most 1 MiB: more is no policy that anybody can review."""

    code: ClassVar[str] = "SBX004"

    name: str
    limit: int

    def title(self) -> str:
        return f"`{self.name}` is larger than {self.limit >> 20} MiB"

    def help(self) -> str | None:
        return "split it into files that `use` each other"


class NotUtf8(Diagnostic):
    """A source is UTF-8 text."""

    code: ClassVar[str] = "SBX005"

    name: str
    offset: int
    line: int

    def title(self) -> str:
        return f"`{self.name}` is not UTF-8: byte {self.offset} (line {self.line}) is not part of a character"

    def help(self) -> str | None:
        return _TEXT


class ByteOrderMark(Diagnostic):
    """The file starts with a byte order mark, which UTF-8 does not need and other tools trip over."""

    code: ClassVar[str] = "SBX006"

    name: str

    def title(self) -> str:
        return f"`{self.name}` starts with a byte order mark"

    def help(self) -> str | None:
        return "save it as UTF-8 without one"


class ZeroByte(Diagnostic):
    """The file has a NUL byte: it is not text, and no path or name can hold one."""

    code: ClassVar[str] = "SBX007"

    name: str
    offset: int
    line: int

    def title(self) -> str:
        return f"`{self.name}` has a NUL byte at {self.offset} (line {self.line})"

    def help(self) -> str | None:
        return _TEXT


class Empty(Diagnostic):
    """The file has no statement: a profile is never what a lost file happens to mean."""

    code: ClassVar[str] = "SBX008"

    name: str

    def title(self) -> str:
        return f"`{self.name}` is empty"

    def help(self) -> str | None:
        return "a file starts with `sbx 1`"


class OtherKind(Diagnostic):
    """The file is of one kind and was named where another is meant: a profile, SBPL, or a bundle."""

    code: ClassVar[str] = "SBX012"

    name: str
    kind: Kind
    meant: Kind

    def title(self) -> str:
        return f"`{self.name}` is {_NAMES[self.kind]}, not {_NAMES[self.meant]}"

    def help(self) -> str | None:
        return _USES[self.kind]


_NAMES: dict[Kind, str] = {"bundle": "a bundle", "profile": "a profile of `sbx`", "sbpl": "SBPL"}
_USES: dict[Kind, str] = {
    "bundle": "`sbc run` takes it where its name ends in `.sbb`; here, name what it was compiled from",
    "profile": "the name of a profile ends in `.sbx`; here, name the `.sb` file that `sbc compile` made from it",
    "sbpl": "`sbc check` and `sbc seatbelt-eval` take it where its name ends in `.sb`; here, name a `.sbx` file",
}
