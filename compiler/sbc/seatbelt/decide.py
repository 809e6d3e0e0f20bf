"""Which rule wins.

From the operation itself up to `default`: the last rule there that has a filter and matches, else the last one there
without a filter; the first operation where one is found decides [observed]. Nothing found: deny [open: no profile
without a default rule has been watched]. `(deny default)` does not reach the operations of `OUTSIDE_DEFAULT` [read; for
`syscall*` inferred]: where no rule names them they are allowed.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from sbc.diagnostics.catalogue.sbpl import SbplBudget, SbplNotKnown
from sbc.diagnostics.diagnostic import Failed
from sbc.macos.operations import OUTSIDE_DEFAULT, PARENTS
from sbc.seatbelt.index import Asked, Level, Matching, asked
from sbc.seatbelt.load import Loaded
from sbc.seatbelt.question import Question, question
from sbc.seatbelt.refuse import refused
from sbc.seatbelt.rules import Action, Modifier, Rule
from sbc.seatbelt.verdict import Meter, TooMuch, Unknown

MAX_WORK = 2_000_000
"""Comparisons of one answer, steps of regular expressions included."""


class Answer(NamedTuple):
    """What a profile decides, and by what."""

    decision: Action
    rule: Rule | None
    """The deciding rule; None where no rule was found."""
    operation: str
    """The operation on which it stood; without a rule `default`, or the operation that `default` does not reach."""
    bare: bool
    """Whether the rule has no filter."""
    question: Question

    @property
    def modifiers(self) -> tuple[Modifier, ...]:
        """The rule's modifiers; they never change the decision, but `no-sandbox` means that it leaves the sandbox."""
        return self.rule.modifiers if self.rule else ()


class _Doubt(NamedTuple):
    rule: Rule
    unknown: Unknown


def decide(
    loaded: Loaded, operation: str, target: str | None = None, attributes: Mapping[str, str] | None = None
) -> Answer:
    """Answer a question; `Failed` where it is none, or where the answer depends on what is not known."""
    return answer(loaded, question(operation, target, attributes))


def answer(loaded: Loaded, question: Question, meter: Meter | None = None, above: str | None = None) -> Answer:
    """Answer a question that was read before.

    `meter` counts the work of several answers together; `above` asks what would be decided if no rule named an
    operation below that one.

    A rule of which it is not known whether it matches does no harm where it decides the same as what is found without
    it: then the answer stands, and names the rule that is certain.
    """
    return _answer(loaded, question, asked(question), meter or Meter(MAX_WORK), above)


def answers(loaded: Loaded, operations: Iterable[str], path: str) -> Iterator[Answer | Failed]:
    """Answer what may be done with one path, for several operations by the tree's own names.

    Each answer is that of `answer`; rules are compared with the path once. A `Failed` is given, not raised.
    """
    meter = Meter(MAX_WORK)
    prepared: Asked | None = None
    for operation in operations:
        one = Question(operation, {"path": path})
        prepared = asked(one, {}) if prepared is None else prepared
        try:
            yield _answer(loaded, one, prepared, meter)
        except Failed as failed:
            yield failed


def signature(loaded: Loaded, operation: str) -> tuple[object, ...]:
    """Give what decides an operation: two with one signature have one answer for every path.

    Not so for sockets, whose filters also look at the operation.
    """
    named = (id(level) for level in _levels(loaded, operation) if level.filtered or level.bare)
    return (_outside(operation), *named)


def matching(loaded: Loaded, operations: Iterable[str]) -> Matching:
    """Give what tells which paths have the same answers, for some operations."""
    return Matching(entry for name in operations for level in _levels(loaded, name) for entry in level.filtered)


def filtered(loaded: Loaded, operation: str) -> bool:
    """Tell whether a rule with a filter stands on an operation or on one that it falls under."""
    return any(level.filtered for level in _levels(loaded, operation))


def _levels(loaded: Loaded, operation: str) -> Iterator[Level]:
    here: str | None = operation
    while here is not None:
        yield loaded.index.level(here)
        here = PARENTS[here]


def _answer(loaded: Loaded, question: Question, prepared: Asked, meter: Meter, above: str | None = None) -> Answer:
    doubts: list[_Doubt] = []
    outside = _outside(question.operation)
    operation = above or question.operation
    while operation is not None and not (operation == "default" and outside):
        rule = _found(loaded.index.level(operation), prepared, doubts, meter)
        if rule is not None:
            if operation == "process*" and outside and rule.action == "deny":
                unknown = Unknown("whether rules on `process*` reach `process-info*`, which is not known")
                doubts.append(_Doubt(rule, unknown))
                return _certain(Answer("allow", None, outside, False, question), doubts)
            return _certain(Answer(rule.action, rule, operation, not rule.filters, question), doubts)
        operation = PARENTS[operation]
    if outside:
        return _certain(Answer("allow", None, outside, False, question), doubts)
    return _certain(Answer("deny", None, "default", False, question), doubts)


def _found(level: Level, prepared: Asked, doubts: list[_Doubt], meter: Meter) -> Rule | None:
    try:
        for entry in level.filtered:
            verdict = entry.verdict(prepared, meter)
            if verdict is True:
                return entry.rule
            if isinstance(verdict, Unknown):
                doubts.append(_Doubt(entry.rule, verdict))
    except TooMuch:
        raise refused(SbplBudget(None, "comparisons for one answer", meter.limit)) from None
    return level.bare


def _certain(answer: Answer, doubts: list[_Doubt]) -> Answer:
    for rule, unknown in doubts:
        if rule.action != answer.decision:
            raise refused(SbplNotKnown(rule.at, unknown.why, unknown.fact))
    return answer


def _outside(operation: str) -> str:
    """Give the operation at or above this one that `default` does not reach; empty where there is none."""
    here: str | None = operation
    while here is not None:
        if here in OUTSIDE_DEFAULT:
            return here
        here = PARENTS[here]
    return ""
