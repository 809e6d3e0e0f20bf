"""Of SBX200 to SBX219: groups, `rules` and profiles by name."""

from typing import ClassVar

from sbc.diagnostics.catalogue.names import did_you_mean
from sbc.diagnostics.diagnostic import Diagnostic, Label
from sbc.diagnostics.span import Span


class UnknownGroup(Diagnostic):
    """`@name` must be a `group` or `rules` of this file or of a file that it uses.

    Right: `use <groups>` at the top, then `deny EPERM @keyring`.
    """

    code: ClassVar[str] = "SBX204"
    name: str
    suggestion: str | None
    used_from: str | None

    def title(self) -> str:
        return f"unknown name `@{self.name}`"

    def help(self) -> str | None:
        if self.used_from and self.suggestion:
            return f"did you mean `@{self.suggestion}` of `{self.used_from}`? add `use {self.used_from}`"
        if self.used_from:
            return f"it is defined in `{self.used_from}`: add `use {self.used_from}`"
        return did_you_mean(f"@{self.suggestion}" if self.suggestion else None)


class WrongGroupKind(Diagnostic):
    """A group holds calls, constants or paths, and can stand only where its kind can.

    Right: `deny EPERM @keyring` with a group of calls, `flags has any @new-namespaces` with one of constants.
    """

    code: ClassVar[str] = "SBX210"
    name: str
    kind: str
    wanted: str
    defined: Span

    def title(self) -> str:
        return f"`@{self.name}` is a group of {self.kind}, here {self.wanted} are needed"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.defined, "defined here"),)


class MixedGroup(Diagnostic):
    """A group holds system calls, constants or paths: one kind only.

    Right: two groups, `group @calls { ptrace kcmp }` and `group @families { AF_UNIX AF_INET }`.
    """

    code: ClassVar[str] = "SBX211"
    name: str
    kind: str
    first_kind: str
    first: Span

    def title(self) -> str:
        return f"`@{self.name}` mixes {self.first_kind} and {self.kind}"

    def label(self) -> str:
        return f"{self.kind}"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.first, self.first_kind),)


class NameCycle(Diagnostic):
    """A group or a `rules` definition cannot contain itself, directly or through others."""

    code: ClassVar[str] = "SBX212"
    chain: tuple[str, ...]

    def title(self) -> str:
        return f"`@{self.chain[0]}` contains itself"

    def label(self) -> str:
        return " -> ".join(f"@{name}" for name in self.chain)


class DuplicateName(Diagnostic):
    """A name is defined once among a file and the files that it uses.

    Which of two definitions was meant cannot be told. Rename one of them.
    """

    code: ClassVar[str] = "SBX213"
    what: str
    name: str
    first: Span

    def title(self) -> str:
        return f"{self.what} `{self.name}` is defined twice"

    def label(self) -> str:
        return "defined again"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.first, "first defined here"),)


class AmbiguousName(Diagnostic):
    """A name that a file does not define must come from one place among the files that its `use`s bring in.

    Use the file that is meant directly, or rename one of the definitions.
    """

    code: ClassVar[str] = "SBX216"
    name: str
    places: tuple[Span, ...]

    def title(self) -> str:
        return f"`{self.name}` is defined in several files that are used indirectly"

    def secondary(self) -> tuple[Label, ...]:
        return tuple(Label(place, "defined here") for place in self.places)


class RulesAsGroup(Diagnostic):
    """`include` takes `rules`; everywhere else `@name` is a group.

    Right: `include @stock-denylist` for rules, `deny EPERM @keyring` for a group.
    """

    code: ClassVar[str] = "SBX217"
    name: str
    is_rules: bool
    defined: Span

    def title(self) -> str:
        if self.is_rules:
            return f"`@{self.name}` is a `rules` definition, not a group"
        return f"`@{self.name}` is a group, not a `rules` definition"

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.defined, "defined here"),)

    def help(self) -> str | None:
        return f"write `include @{self.name}`" if self.is_rules else f"name it in a rule: `deny EPERM @{self.name}`"


class DeepNames(Diagnostic):
    """Groups and `rules` can contain each other at most 100 deep, `on` blocks included."""

    code: ClassVar[str] = "SBX219"
    depth: int

    def title(self) -> str:
        return f"names contain each other more than {self.depth} deep"
