"""SBX360 to SBX379: parameters."""

from typing import ClassVar

from sbc.diagnostics.catalogue.names import did_you_mean, with_article
from sbc.diagnostics.diagnostic import Diagnostic, Label, Severity
from sbc.diagnostics.span import Span


class UnknownParam(Diagnostic):
    """`${name}` is a parameter that the profile declares, or `${home}`, `${tmpdir}` or `${cwd}`.

    Right: `param workdir : dir`, then `write ${workdir}`.
    """

    code: ClassVar[str] = "SBX360"
    name: str
    suggestion: str | None

    def title(self) -> str:
        return f"unknown parameter `{self.name}`"

    def help(self) -> str | None:
        return did_you_mean(self.suggestion) or f"declare it: `param {self.name} : dir`"


class ParamPlace(Diagnostic):
    """A parameter stands where its type can: `dir`, `file` and `path` in paths, `size`, `duration` and `integer`
    in `limits` and `tmp`, `text` as a whole value of `set` or `hostname`; none in a group.

    Right: `param budget : size` and `memory ${budget}`.
    """

    code: ClassVar[str] = "SBX361"
    name: str
    type: str
    wanted: str
    declared: Span | None

    def title(self) -> str:
        return f"`${{{self.name}}}` is {with_article(self.type)}, here {self.wanted} is needed"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.declared, "declared here"),) if self.declared else ()


class ParamDefault(Diagnostic):
    """The default of a parameter is a value of its type; that of a path is absolute and without parameters.

    Right: `param budget : size = 2GiB`, `param cache : dir = /var/cache`.
    """

    code: ClassVar[str] = "SBX363"
    type: str
    based: bool = False

    def title(self) -> str:
        return f"the default is not a value of the type `{self.type}`"

    def help(self) -> str | None:
        if not self.based:
            return None
        return "a default is one path for everyone: leave it out and give `-D` at the run, or name `~` where it is used"


class ReservedParam(Diagnostic):
    """`home`, `tmpdir` and `cwd` are parameters that every profile has; they cannot be declared."""

    code: ClassVar[str] = "SBX364"
    name: str

    def title(self) -> str:
        return f"`{self.name}` is a built-in parameter"


class RepeatedParam(Diagnostic):
    """A profile declares a parameter once."""

    code: ClassVar[str] = "SBX365"
    name: str
    first: Span

    def title(self) -> str:
        return f"the parameter `{self.name}` is declared twice"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.first, "first declared here"),)


class UnusedParam(Diagnostic):
    """A parameter that no statement uses must still be given a value at each run. Use it or remove it."""

    code: ClassVar[str] = "SBX366"
    severity: ClassVar[Severity] = Severity.LINT
    name: str

    def title(self) -> str:
        return f"the parameter `{self.name}` is never used"


class GroupParam(Diagnostic):
    """A group is shared by profiles, so it cannot hold a profile's parameter. Write the path in the profile.

    `~`, `${tmpdir}` and `${cwd}` are the same in every profile and can stand in a group.
    """

    code: ClassVar[str] = "SBX367"
    name: str

    def title(self) -> str:
        return f"the parameter `{self.name}` cannot stand in a group"


class BelowFile(Diagnostic):
    """A parameter of the type `file` is one file: there is no path below it.

    Right: `param tree : dir` and `read ${tree}/x`, or `param list : file` and `read ${list}`.
    """

    code: ClassVar[str] = "SBX368"
    name: str
    declared: Span

    def title(self) -> str:
        return f"`${{{self.name}}}` is a file, so nothing is below it"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.declared, "declared here"),)

    def help(self) -> str | None:
        return f"declare it as `dir`, or write `${{{self.name}}}` alone"
