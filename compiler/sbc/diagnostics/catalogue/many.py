"""SBX009 to SBX011: how many more there are."""

from typing import ClassVar

from sbc.diagnostics.diagnostic import Diagnostic, Severity


class ManyErrors(Diagnostic):
    """A file gets so many errors, and then the number of the others.

    The first ones are told in full. Mend these and check again: many of the others will be gone with them.
    """

    code: ClassVar[str] = "SBX009"
    file: str
    told: int
    more: int

    def title(self) -> str:
        return f"{self.more} more {self.severity.value}{'' if self.more == 1 else 's'} in {self.file}"

    def help(self) -> str | None:
        return f"the first {self.told} are told: mend these and check again"


class ManyLints(ManyErrors):
    """A file gets so many lints, and then the number of the others; so it is with errors and notes."""

    code: ClassVar[str] = "SBX010"
    severity: ClassVar[Severity] = Severity.LINT


class ManyNotes(ManyErrors):
    """A file gets so many notes, and then the number of the others; so it is with errors and lints."""

    code: ClassVar[str] = "SBX011"
    severity: ClassVar[Severity] = Severity.NOTE


def many_more(file: str, severity: Severity, told: int, more: int) -> Diagnostic:
    """Give the report of what is not told of one file."""
    kinds = {Severity.ERROR: ManyErrors, Severity.LINT: ManyLints, Severity.NOTE: ManyNotes}
    return kinds[severity](None, file, told, more)
