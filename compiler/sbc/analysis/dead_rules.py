"""Rules that never decide, exactly: what they match is decided above them, in the same text, on every ABI."""

from collections.abc import Iterator

from sbc.analysis.subject import Subject
from sbc.decision.policy_road import diagram_of_condition
from sbc.decision.table import FALSE, Table
from sbc.diagnostics.catalogue.lints import CallNeverDecides, RuleNeverDecides
from sbc.diagnostics.diagnostic import Diagnostic
from sbc.diagnostics.span import Span
from sbc.policy.conditions import ALWAYS
from sbc.policy.syscalls import Rule
from sbc.resolve.texts import RuleText


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Report rules that never decide, and calls for which the rule that names them never does.

    A text is looked at alone, with what it includes. So a rule above an `include` may relax the list, and a child
    profile its parent's rules; neither makes the list wrong. The stock library is checked by its tests.
    """
    for text in subject.texts:
        if not text.stock:
            yield from _of_text(subject, text)


class _Fate:
    """What becomes of one rule of the text: per call, whether it ever decides, and what decides above it."""

    def __init__(self) -> None:
        self.lives: dict[str, bool] = {}
        self.above: dict[str, dict[Span, None]] = {}

    def add(self, call: str, lives: bool, above: list[Span]) -> None:
        self.lives[call] = self.lives.get(call, False) or lives
        self.above.setdefault(call, {}).update(dict.fromkeys(above))

    def spans(self, calls: list[str]) -> tuple[Span, ...]:
        """Give what decides above for some of the calls, at most three places."""
        return tuple(dict.fromkeys(span for call in calls for span in self.above[call]))[:3]


def _of_text(subject: Subject, text: RuleText) -> Iterator[Diagnostic]:
    fates: dict[Span, _Fate] = {}
    for calls in subject.calls():
        for rules in calls.by_number.values():
            _follow(text, _copies(rules, text, subject.policy.name), fates)
    for span, fate in fates.items():
        dead = [call for call, lives in fate.lives.items() if not lives]
        if len(dead) == len(fate.lives):
            yield RuleNeverDecides(span, fate.spans(dead))
            continue
        for named in text.named:
            if named.rule == span and named.call in dead:
                yield CallNeverDecides(named.span, named.call, fate.spans([named.call]))


def _copies(rules: list[Rule], text: RuleText, leaf: str) -> list[Rule]:
    """Give the rules of a text on one number; of a list that several texts include, one copy.

    The profile compiled stands before its parents: the first copy is its own, the last one a parent's.
    """
    mine = [rule for rule in rules if rule.origin.span is not None and text.takes_in(rule.origin.span)]
    last = text.profile and text.name != leaf
    kept: dict[Span | None, Rule] = {}
    for rule in reversed(mine) if last else mine:
        kept.setdefault(rule.origin.span, rule)
    return list(kept.values())[::-1] if last else list(kept.values())


def _follow(text: RuleText, rules: list[Rule], fates: dict[Span, _Fate]) -> None:
    """Follow the rules on one number from the top, and note what is left for each rule of the text itself."""
    table: Table | None = None
    taken = FALSE
    sets: list[tuple[Rule, int]] = []
    for rule in rules:
        span = rule.origin.span
        assert span is not None  # noqa: S101
        if len(rules) == 1 and rule.condition == ALWAYS:
            lives, above = True, list[Span]()
        else:
            table = table or Table()
            matched = diagram_of_condition(table, rule.condition)
            lives = table.both(matched, table.outside(taken)) != FALSE
            above = [r.origin.span for r, s in sets if r.origin.span and table.both(s, matched) != FALSE]
            taken = table.either(taken, matched)
            sets.append((rule, matched))
        if text.has(span):
            fates.setdefault(span, _Fate()).add(rule.call, lives, above)
