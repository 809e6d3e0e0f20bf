"""`sbc run --gate`: the command's exit status is a verdict, so nothing that the sandbox did may look like one."""

import os
import sys

from sbc_runtime.containment import unavailable
from sbc_runtime.outcome import Outcome

SWITCH = "SBC_SANDBOX_GATES"
REFUSED = "gate refused: sandboxing requested but unavailable"


def switched_off() -> bool:
    """Tell whether the caller has switched the sandbox of gates off: only `0` does that, and another word is told."""
    said = os.environ.get(SWITCH, "")
    if said not in {"", "0", "1"}:
        print(f"sbc run: {SWITCH}={said!r} is not understood, and the sandbox stays: only 0 does that", file=sys.stderr)
    return said == "0"


def warn() -> None:
    """Say that there is no sandbox, where nobody can miss it."""
    print(f"sbc run: WARNING: {SWITCH}=0: this gate runs WITHOUT A SANDBOX, with all that you may do", file=sys.stderr)


def refusal(outcome: Outcome) -> str | None:
    """Give the line that tells that there is no verdict, or None where the exit status is one."""
    if unavailable(outcome):
        return REFUSED
    if outcome.by == "command":
        return None
    return f"gate refused: {outcome.kind if outcome.failure is None else outcome.failure.step}"
