"""No sandbox, no run: what `containment required` refuses, and the one name of a refusal for want of a sandbox."""

from sbc_runtime.errors import SetupFailed
from sbc_runtime.outcome import Level, Outcome
from sbc_runtime.plan import Plan

CONTAINMENT_UNAVAILABLE = "containment_unavailable"
"""The step of the failure where a profile requires containment and there is none."""

_ASKED = frozenset(
    {
        "parameters",
        "paths",
        "start-in",
        "report",
        "environment",
        "identity",
        "losses",
        "command",
        "created-protected",
        "replaced-protected",
    }
)
"""Steps that fail for what the caller asked for, or for the state of the caller's files, sandbox or not."""


def unavailable(outcome: Outcome) -> bool:
    """Tell whether nothing was run because no sandbox could be made as promised."""
    failure = outcome.failure
    step = None if failure is None else failure.step.split(" ", 1)[0]
    return outcome.kind == "setup-failed" and step not in _ASKED


def check_level(plan: Plan, backend: str, level: Level) -> None:
    """Raise `SetupFailed` where a backend isolates nothing and the profile requires containment."""
    if plan.containment and level == "none":
        said = plan.containment[0].statement
        why = f"the backend `{backend}` isolates nothing, and the profile says `{said.text}`"
        raise SetupFailed("backend", why, "take another backend: no option switches this off", where=said.where())


def named(plan: Plan, outcome: Outcome) -> Outcome:
    """Give the outcome; where the profile requires containment and there was none, its failure says so by name."""
    failure = outcome.failure
    if failure is None or not plan.containment or not unavailable(outcome):
        return outcome
    if failure.step == CONTAINMENT_UNAVAILABLE:
        return outcome
    why = f"{failure.step}: {failure.why}"
    return outcome._replace(failure=failure._replace(step=CONTAINMENT_UNAVAILABLE, why=why))
