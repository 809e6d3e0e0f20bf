"""How a proof ends that does not hold."""

from sbc.diagnostics.catalogue.sbpl import SbplBudget
from sbc.diagnostics.diagnostic import Failed
from sbc.policy.origin import Origin


class Differs(Exception):
    """The profile is not what the policy means: the message says where; `origin` is the statement that says so."""

    def __init__(self, what: str, origin: Origin | None = None) -> None:
        super().__init__(what)
        self.origin = origin


class TooLarge(Exception):
    """The profile takes more than the evaluator spends on one."""


def unreadable(failed: Failed) -> Differs | TooLarge:
    """Give what to raise where a profile cannot be read back."""
    one = failed.diagnostics[0]
    if isinstance(one, SbplBudget):
        return TooLarge(one.title())
    line = f"line {one.span.line}: " if one.span else ""
    return Differs(f"it cannot be read back: {line}{one.title()}")
