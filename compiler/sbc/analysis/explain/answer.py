"""What an explanation says, as data: the same for people and for `--json`."""

from typing import Any

from sbc.analysis.words import errno_name, verdict_text
from sbc.policy.origin import Origin
from sbc.record import Record
from sbc_runtime.action import Action, Verdict


class Outcome(Record):
    """A verdict on a call, and what decided it: the rule's origin, or `by` which default (`rule`: a rule).

    `example` gives register values for which it is so, where the question left arguments open.
    """

    verdict: Verdict
    origin: Origin | None
    by: str
    example: tuple[int, ...] | None = None


class CallAnswer(Record):
    """What one ABI's filter decides on a call; `outcomes` is empty where the ABI does not have it."""

    abi: str
    call: str | None
    number: int | None
    outcomes: tuple[Outcome, ...]

    def json(self) -> dict[str, Any]:
        """Give the answer as the command prints it; with several outcomes, `verdict` is null and each is listed."""
        made: dict[str, Any] = {"abi": self.abi, "syscall": self.call, "nr": self.number}
        if len(self.outcomes) == 1:
            return made | _outcome_json(self.outcomes[0], self.abi)
        if not self.outcomes:
            return made | {"verdict": None, "rule": None, "by": "absent"}
        listed = [
            _outcome_json(outcome, self.abi) | {"example": [hex(value) for value in outcome.example or ()]}
            for outcome in self.outcomes
        ]
        return made | {"verdict": None, "rule": None, "by": "arguments", "outcomes": listed}

    def lines(self) -> tuple[str, ...]:
        """Give the answer for people."""
        name = self.call or f"number {self.number}"
        if not self.outcomes:
            return (f"{self.abi}: there is no `{name}` here",)
        head = f"{self.abi}: {name}" + (f" ({self.number})" if self.call else "")
        if len(self.outcomes) == 1:
            outcome = self.outcomes[0]
            return (f"{head}: {verdict_text(outcome.verdict, self.abi)}", *_deciding_lines(outcome, "  "))
        made = [f"{head}: depends on its arguments"]
        for outcome in self.outcomes:
            example = ", ".join(hex(value) for value in outcome.example or ())
            made.append(f"  {verdict_text(outcome.verdict, self.abi)}, for example with ({example})")
            made += _deciding_lines(outcome, "    ")
        return tuple(made)


class AccessAnswer(Record):
    """What the profile says of a path or a connection: `allowed`, the statement that decides, and why in a few words.

    `unless` are the statements that would decide otherwise where a parameter's value covers the path asked about.
    `targets` says for each target how the deciding statement is enforced there, where that is known.
    """

    question: str
    allowed: bool
    origin: Origin | None
    why: str
    unless: tuple[Origin, ...] = ()
    targets: tuple[tuple[str, str], ...] = ()

    def json(self) -> dict[str, Any]:
        """Give the answer as the command prints it."""
        made: dict[str, Any] = {
            "question": self.question,
            "verdict": "allow" if self.allowed else "deny",
            "rule": _rule_json(self.origin),
            "why": self.why,
            "targets": dict(self.targets),
        }
        if self.unless:
            made["unless"] = [_rule_json(origin) for origin in self.unless]
        return made

    def lines(self) -> tuple[str, ...]:
        """Give the answer for people."""
        made = [f"{self.question}: {'allow' if self.allowed else 'deny'}", f"  {self.why}"]
        if self.origin is not None and self.origin.span is not None:
            made += _statement_lines(self.origin, "  ")
        made += [f"  unless {origin.where()}: `{origin.text}` covers it" for origin in self.unless]
        made += [f"  {target}: {state}" for target, state in self.targets]
        return tuple(made)


def _outcome_json(outcome: Outcome, abi: str) -> dict[str, Any]:
    made: dict[str, Any] = {"verdict": verdict_json(outcome.verdict, abi)}
    if outcome.by == "rule":
        return made | {"rule": _rule_json(outcome.origin)}
    return made | {"rule": None, "by": outcome.by}


def verdict_json(verdict: Verdict, abi: str) -> dict[str, Any]:
    """Give a verdict with the name of its error number, or the number where it has no name."""
    made: dict[str, Any] = {"action": verdict.action.word}
    if verdict.action is Action.ERRNO:
        made["errno"] = errno_name(abi, verdict.data) or verdict.data
    elif verdict.action is Action.TRACE:
        made["data"] = verdict.data
    return made


def _rule_json(origin: Origin | None) -> dict[str, Any] | None:
    if origin is None or origin.span is None:
        return None
    return {"file": origin.file, "line": origin.line, "text": origin.text, "reason": origin.reason}


def _deciding_lines(outcome: Outcome, indent: str) -> list[str]:
    if outcome.by != "rule" or outcome.origin is None:
        where = f" ({outcome.origin.where()})" if outcome.origin is not None and outcome.origin.span else ""
        return [f"{indent}by {outcome.by}{where}"]
    return _statement_lines(outcome.origin, indent)


def _statement_lines(origin: Origin, indent: str) -> list[str]:
    made = [f"{indent}{origin.where()}: `{origin.text}`"]
    made += [f"{indent}{line}" for line in origin.reason.splitlines()]
    return made
