"""Rules that never decide, exactly: what they match is decided above them, in the same text, on every ABI."""

from collections.abc import Iterator

from sbc.analysis.calls import Calls
from sbc.analysis.subject import Subject
from sbc.analysis.witness import surely_decide
from sbc.decision.shadow import undecided_rules
from sbc.decision.table import TooComplex
from sbc.diagnostics.catalogue.lints import CallNeverDecides, RuleNeverDecides
from sbc.diagnostics.diagnostic import Diagnostic
from sbc.diagnostics.span import Span
from sbc.policy.syscalls import Rule
from sbc.record import replaced
from sbc.resolve.texts import NamedCall, RuleText

PLACES = 3
"""How many places that decide above a rule a report shows at most."""


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Report rules that never decide, and calls for which the rule that names them never does.

    A text is looked at alone, with what it includes. So a rule above an `include` may relax the list, and a child
    profile its parent's rules; neither makes the list wrong. The stock library is checked by its tests.
    """
    for text in subject.texts:
        if text.rules and not text.stock:
            yield from _of_text(subject, text)


class _Fate:
    """What becomes of one rule: for each call whether it decides on some ABI, and what decides above it."""

    def __init__(self) -> None:
        self.lives: dict[str, bool] = {}
        self.above: dict[str, dict[Span, None]] = {}

    def add(self, call: str, covering: tuple[Rule, ...] | None) -> None:
        """Note one number of one ABI: None where the rule decides there, else what covers it."""
        self.lives[call] = self.lives.get(call, False) or covering is None
        spans = [rule.origin.span for rule in covering or () if rule.origin.span is not None]
        self.above.setdefault(call, {}).update(dict.fromkeys(spans))

    def spans(self, calls: list[str]) -> tuple[Span, ...]:
        """Give what decides above for some of the calls."""
        return tuple(dict.fromkeys(span for call in calls for span in self.above[call]))[:PLACES]


def _of_text(subject: Subject, text: RuleText) -> Iterator[Diagnostic]:
    fates: dict[Span, _Fate] = {}
    for calls in subject.calls():
        _follow(text, calls, subject.policy.name, fates)
    named_by: dict[Span, list[NamedCall]] = {}
    for named in text.named if fates else ():
        named_by.setdefault(named.rule, []).append(named)
    for span, fate in fates.items():
        dead = [call for call, lives in fate.lives.items() if not lives]
        if len(dead) == len(fate.lives):
            yield RuleNeverDecides(span, fate.spans(dead))
            continue
        gone = frozenset(dead)
        for named in named_by.get(span, ()) if gone else ():
            if named.call in gone:
                yield CallNeverDecides(named.span, named.call, fate.spans([named.call]))


def _follow(text: RuleText, calls: Calls, leaf: str, fates: dict[Span, _Fate]) -> None:
    """Note for each rule of the text what becomes of it under one ABI."""
    last = text.profile and text.name != leaf
    within: dict[int, bool] = {}
    for number in calls.numbers_within(text.span):
        on_number = calls.by_number[number]
        mine = _one_copy([rule for rule in on_number if _takes_in(text, rule, within)], last=last)
        covering = {} if surely_decide(mine) else _covering(calls, mine)
        for rule in mine:
            span = rule.origin.span
            if span is not None and text.has(span):
                fates.setdefault(span, _Fate()).add(rule.call, covering.get(id(rule)))


def _covering(calls: Calls, rules: tuple[Rule, ...]) -> dict[int, tuple[Rule, ...]]:
    """Give what covers each rule that never decides; nothing where that is too complex, which the proof then tells."""
    try:
        return {id(one.rule): one.covered_by for one in undecided_rules(replaced(calls.abi, rules=rules))}
    except TooComplex:
        return {}


def _takes_in(text: RuleText, rule: Rule, known: dict[int, bool]) -> bool:
    """Tell whether a rule stands in the text or in what it includes; `known` is by statement."""
    found = known.get(id(rule.origin))
    if found is None:
        span = rule.origin.span
        found = known[id(rule.origin)] = span is not None and text.takes_in(span)
    return found


def _one_copy(rules: list[Rule], *, last: bool) -> tuple[Rule, ...]:
    """Keep one copy of the rules of a list that several texts include.

    The profile compiled stands before its parents: the first copy is its own, the last one a parent's.
    """
    if len(rules) < 2:
        return tuple(rules)
    kept: dict[Span | None, Rule] = {}
    for rule in reversed(rules) if last else rules:
        kept.setdefault(rule.origin.span, rule)
    return tuple(kept.values())[:: -1 if last else 1]
