"""SBX280 to SBX299: files, `use`, and which profile is meant."""

from typing import ClassVar

from sbc.diagnostics.catalogue.names import did_you_mean
from sbc.diagnostics.diagnostic import Diagnostic, Label
from sbc.diagnostics.span import Span


class UseNotFound(Diagnostic):
    """`use "path.sbx"` names a file that exists, relative to the folder of the file that it stands in.

    Right: `use "lib/mine.sbx"`.
    """

    code: ClassVar[str] = "SBX280"
    path: str
    why: str

    def title(self) -> str:
        return f"cannot use `{self.path}`: {self.why}"

    def label(self) -> str:
        return "relative to the folder of this file"


class UnknownStock(Diagnostic):
    """`use <name>` names a file of the stock library.

    Right: `use <stock>`.
    """

    code: ClassVar[str] = "SBX281"
    name: str
    suggestion: str | None
    known: str

    def title(self) -> str:
        return f"the stock library has no `<{self.name}>`"

    def help(self) -> str | None:
        return did_you_mean(f"<{self.suggestion}>" if self.suggestion else None) or f"it has {self.known}"


class UseCycle(Diagnostic):
    """A file cannot use itself, directly or through others. Move what both need into a third file."""

    code: ClassVar[str] = "SBX282"
    chain: tuple[str, ...]

    def title(self) -> str:
        return f"`{self.chain[0]}` uses itself"

    def label(self) -> str:
        return " -> ".join(self.chain)


class AbsoluteUse(Diagnostic):
    """`use` takes a path relative to the folder of the file that it stands in, so that profiles can be moved.

    Right: `use "../lib/mine.sbx"`.
    """

    code: ClassVar[str] = "SBX283"
    path: str

    def title(self) -> str:
        return f"`{self.path}` is not a relative path"


class TooManyFiles(Diagnostic):
    """A profile is made from at most 200 files, at most 32 deep."""

    code: ClassVar[str] = "SBX284"
    limit: str

    def title(self) -> str:
        return f"more than {self.limit}"


class NoProfile(Diagnostic):
    """The file that is compiled must define a profile; a library of groups and rules has nothing to compile.

    Right: `profile NAME { files { ... } }`.
    """

    code: ClassVar[str] = "SBX285"
    name: str

    def title(self) -> str:
        return f"`{self.name}` has no profile"


class SeveralProfiles(Diagnostic):
    """A file with several profiles needs `--profile` to say which one is meant."""

    code: ClassVar[str] = "SBX286"
    names: tuple[str, ...]

    def title(self) -> str:
        return f"the file has {len(self.names)} profiles"

    def help(self) -> str | None:
        return "choose one: " + ", ".join(f"`--profile {name}`" for name in self.names)


class UnknownProfile(Diagnostic):
    """`--profile` and `extends` name a profile of the file, or of a file that it uses.

    Right: `profile builder extends gate { ... }` with `use "gate.sbx"` above.
    """

    code: ClassVar[str] = "SBX287"
    name: str
    suggestion: str | None

    def title(self) -> str:
        return f"unknown profile `{self.name}`"

    def help(self) -> str | None:
        return did_you_mean(self.suggestion)


class ExtendsCycle(Diagnostic):
    """A profile cannot extend itself, directly or through others."""

    code: ClassVar[str] = "SBX288"
    chain: tuple[str, ...]

    def title(self) -> str:
        return f"`{self.chain[0]}` extends itself"

    def label(self) -> str:
        return " -> ".join(self.chain)


class ExtendsDepth(Diagnostic):
    """A chain of `extends` is at most 16 profiles long."""

    code: ClassVar[str] = "SBX289"
    depth: int

    def title(self) -> str:
        return f"the chain of `extends` is longer than {self.depth} profiles"


class RepeatedBlock(Diagnostic):
    """A profile has each block once. Join the two."""

    code: ClassVar[str] = "SBX291"
    name: str
    first: Span

    def title(self) -> str:
        return f"the block `{self.name}` stands twice"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.first, "first here"),)
