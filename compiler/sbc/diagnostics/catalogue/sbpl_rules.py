"""SBX452 to SBX469, of rules: what the lints find in SBPL profiles that evaluate."""

from typing import ClassVar

from sbc.diagnostics.catalogue.lints import listed
from sbc.diagnostics.catalogue.sbpl import in_rule
from sbc.diagnostics.diagnostic import Diagnostic, Label, Severity
from sbc.diagnostics.span import Span


class SbplDenyShadowed(Diagnostic):
    """A rule on a concrete operation beats every rule on a group that the operation belongs to, whatever their order.

    After `(allow file-read-data (subpath "/"))` a later `(deny file-read* (literal "/x/.env"))` leaves the file
    readable: `file-read-data` is asked first, and a rule is found there.

    Right: the deny names the concrete operations that allows name: `(deny file-read* file-read-data ...)`.
    """

    code: ClassVar[str] = "SBX452"
    severity: ClassVar[Severity] = Severity.LINT
    operations: tuple[str, ...]
    witness: str
    by: tuple[Span, ...]

    def title(self) -> str:
        about = f" of `{self.witness}`" if self.witness else ""
        stays = "stays" if len(self.operations) == 1 else "stay"
        return f"{listed(self.operations)}{about} {stays} allowed: a rule on the operation itself beats this deny"

    def secondary(self) -> tuple[Label, ...]:
        return tuple(Label(span, "decided here") for span in self.by)

    def help(self) -> str | None:
        return f"name {'it' if len(self.operations) == 1 else 'them'} in the deny too, below the allow"


class SbplRuleNeverDecides(Diagnostic):
    """Among the rules of an operation the last one that matches decides, however broad it is.

    A rule is dead where later ones match all that it matches. That an allow is dead may be a deny that stands too low;
    that a deny is dead leaves open what it seems to close. Of rules without a filter only the last one counts.

    Right: the broad rule first, `(allow file-read* (subpath "/Users/me"))`, then the exceptions.
    """

    code: ClassVar[str] = "SBX453"
    severity: ClassVar[Severity] = Severity.LINT
    action: str
    operations: tuple[str, ...]
    by: tuple[Span, ...]

    def title(self) -> str:
        on = f" on {listed(self.operations)}" if self.operations else ""
        return f"this {self.action} never decides{on}: later rules match all that it matches"

    def secondary(self) -> tuple[Label, ...]:
        return tuple(Label(span, "decided here") for span in self.by)

    def help(self) -> str | None:
        return "move it below them, or remove it"


class SbplBareDeny(Diagnostic):
    """A rule without a filter is only asked where no rule with a filter matches: where it stands does not matter.

    `(allow network-outbound (remote ip "localhost:*"))` and then `(deny network*)` leaves localhost open.

    Right: nothing, where the rest is meant (write the deny above the allows); `(deny file-read* (subpath "/"))`, where
    everything is meant.
    """

    code: ClassVar[str] = "SBX454"
    severity: ClassVar[Severity] = Severity.LINT
    operation: str
    kept: str
    witness: str
    allow: Span

    def title(self) -> str:
        about = f" of `{self.witness}`" if self.witness else ""
        return (
            f"this deny of `{self.operation}` has no filter and takes nothing back: `{self.kept}`{about} stays allowed"
        )

    def secondary(self) -> tuple[Label, ...]:
        return (Label(self.allow, "allowed here"),)

    def help(self) -> str | None:
        return "write it above the allows if the rest is meant; else give it a filter, and name the allow's operation"


class SbplOutsideDefault(Diagnostic):
    """`(deny default)` does not reach every operation.

    Where no rule names them, `process-info*`, `nvram*`, `iokit-get-properties`, `file-map-executable` and
    `dynamic-code-generation` are open: with `process-info*`, arguments and environment of other processes can be read.
    An allow with a filter changes nothing there: what it does not match is open as well. Read, not observed.

    Right: `(deny process-info* nvram*)`, then `(allow process-info* (target self))`.
    """

    code: ClassVar[str] = "SBX456"
    severity: ClassVar[Severity] = Severity.LINT
    operations: tuple[str, ...]
    useless: tuple[Span, ...]

    def title(self) -> str:
        them = "it" if len(self.operations) == 1 else "them"
        return f"`default` does not reach {listed(self.operations)}: no rule closes {them}"

    def secondary(self) -> tuple[Label, ...]:
        return tuple(Label(span, "changes nothing: all of it is open") for span in self.useless)

    def help(self) -> str | None:
        return f"add `(deny {' '.join(self.operations)})`, and allow what is needed"


class SbplParameterNotGiven(Diagnostic):
    """`(param "X")` is #f where X was not supplied.

    Rules that are only made where it was are not there, and were not checked.

    Right: `sbc check p.sb -D X=/private/tmp/x`.
    """

    code: ClassVar[str] = "SBX457"
    severity: ClassVar[Severity] = Severity.NOTE
    name: str

    def title(self) -> str:
        return f"the parameter `{self.name}` was not given: rules that depend on it were not checked"

    def help(self) -> str | None:
        return f"give it: `-D {self.name}=VALUE`"


class SbplRootUnreadable(Diagnostic):
    """The loader of macOS reads the root folder itself: a profile that denies this starts no program.

    Right: `(allow file-read* (literal "/"))`, below a deny of `(subpath "/")`.
    """

    code: ClassVar[str] = "SBX466"
    severity: ClassVar[Severity] = Severity.LINT

    def title(self) -> str:
        return "no program starts: reading the folder `/` itself is denied"

    def label(self) -> str:
        return "decided here"

    def help(self) -> str | None:
        return 'add `(allow file-read* (literal "/"))`'


class SbplNoDefault(Diagnostic):
    """What macOS does with an operation that no rule reaches is not known where a profile has no rule on `default`.

    Right: `(deny default)`.
    """

    code: ClassVar[str] = "SBX467"
    severity: ClassVar[Severity] = Severity.LINT

    def title(self) -> str:
        return "the profile has no rule on `default`: what macOS does with the rest is not known"

    def help(self) -> str | None:
        return "say `(deny default)` or `(allow default)`"


class SbplAlternatives(Diagnostic):
    """Several filters in one rule are alternatives: one match is enough.

    `(allow file-read* (subpath "/a") (require-not (subpath "/a/b")))` allows everything outside `/a/b`.

    Right: `(allow file-read* (require-all (subpath "/a") (require-not (subpath "/a/b"))))`.
    """

    code: ClassVar[str] = "SBX468"
    severity: ClassVar[Severity] = Severity.LINT
    name: str
    rule: Span

    def title(self) -> str:
        return f"`{self.name}` alone is enough for this rule: several filters are alternatives"

    def secondary(self) -> tuple[Label, ...]:
        return in_rule(self.span, self.rule) if self.span else ()

    def help(self) -> str | None:
        return "put them into `(require-all ...)` if all are meant to hold; else write two rules"


class SbplLeavesSandbox(Diagnostic):
    """With `no-sandbox` on `process-exec` the new program runs without this sandbox.

    Right: `(allow process-exec (literal "/usr/bin/open"))`.
    """

    code: ClassVar[str] = "SBX469"
    severity: ClassVar[Severity] = Severity.NOTE

    def title(self) -> str:
        return "programs started by this rule run without the sandbox"
