"""SBX400 to SBX449: targets, losses, and what a target cannot take."""

from typing import ClassVar

from sbc.diagnostics.diagnostic import Diagnostic, Severity


class WiderLoss(Diagnostic):
    """A target cannot enforce a statement: what it makes allows more than was written.

    Leave the target out (`--target`), change the statement, or accept the loss with `--allow-wider`: it is then listed
    in the coverage table and held in the bundle.
    """

    code: ClassVar[str] = "SBX401"
    target: str
    statement: str
    why: str

    def title(self) -> str:
        return f"`{self.target}` allows more than `{self.statement}`: {self.why}"

    def help(self) -> str | None:
        return "choose other targets with `--target`, or accept the loss with `--allow-wider`"


class AcceptedLoss(WiderLoss):
    """A loss that allows more than was written, accepted with `--allow-wider`."""

    code: ClassVar[str] = "SBX402"
    severity: ClassVar[Severity] = Severity.NOTE

    def help(self) -> str | None:
        return None


class NarrowerLoss(Diagnostic):
    """A target cannot say a statement exactly, and what it makes allows less than was written."""

    code: ClassVar[str] = "SBX403"
    severity: ClassVar[Severity] = Severity.NOTE
    target: str
    statement: str
    why: str

    def title(self) -> str:
        return f"`{self.target}` allows less than `{self.statement}`: {self.why}"


class DeferredLoss(Diagnostic):
    """A target has no words for a statement; whatever applies what it made must enforce it, or refuse to start.

    `sbc run` does one or the other. Used by hand, the target's file alone does not enforce the statement.
    """

    code: ClassVar[str] = "SBX404"
    severity: ClassVar[Severity] = Severity.NOTE
    target: str
    statement: str
    why: str

    def title(self) -> str:
        return f"`{self.target}` leaves `{self.statement}` to whatever applies it: {self.why}"


def _short(statement: str) -> str:
    return statement if len(statement) <= 120 else f"{statement[:117]}..."


class CannotSay(Diagnostic):
    """A target was asked for by name and has no words for a statement.

    Leave the target out, or limit the statement to the systems that have it (`on linux { ... }`).
    """

    code: ClassVar[str] = "SBX405"
    target: str
    statement: str
    why: str

    def title(self) -> str:
        return f"`{self.target}` cannot say `{_short(self.statement)}`: {self.why}"


class LeftOut(CannotSay):
    """A default target has no words for a statement, so its file is not written."""

    code: ClassVar[str] = "SBX406"
    severity: ClassVar[Severity] = Severity.NOTE

    def title(self) -> str:
        return f"no `{self.target}` file: it cannot say `{_short(self.statement)}`: {self.why}"


class UnknownTarget(Diagnostic):
    """A name after `--target` is none of the targets: `bpf`, `sbpl`, `bwrap`, `oci`, `docs`, `bundle`."""

    code: ClassVar[str] = "SBX407"
    name: str
    suggestion: str | None
    known: tuple[str, ...]

    def title(self) -> str:
        return f"unknown target `{self.name}`"

    def help(self) -> str | None:
        if self.suggestion:
            return f"did you mean `{self.suggestion}`?"
        return f"the targets are {', '.join(f'`{name}`' for name in self.known)}"


class UnavailableTarget(Diagnostic):
    """The target's name is taken, and the target is not there yet."""

    code: ClassVar[str] = "SBX408"
    name: str

    def title(self) -> str:
        return f"the target `{self.name}` is not available yet"


class SandboxCannotStart(Diagnostic):
    """bubblewrap starts the command after the filter is in force, so its own calls must pass the filter.

    They are `execve`, and `wait4` and `write` of its init process; `write` may fail, but not kill. A condition helps
    only where it leaves the arguments alone that bubblewrap passes: `execve` with three addresses, `wait4` for any
    process without options, `write` of 8 bytes. Right: leave them allowed; a filter that denies `execve` cannot start
    any command.
    """

    code: ClassVar[str] = "SBX409"
    call: str
    statement: str

    def title(self) -> str:
        return f"with `{self.call}` denied, bubblewrap cannot start the sandbox"

    def label(self) -> str:
        return f"denies `{self.call}`"

    def help(self) -> str | None:
        return f"allow `{self.call}`, or choose targets without `bwrap`"
