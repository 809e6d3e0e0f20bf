"""Rules that never decide: later ones on the same operation match all that they match."""

from collections.abc import Iterator

from sbc.analysis.sbpl.cover import Cover
from sbc.analysis.sbpl.subject import Subject
from sbc.diagnostics.catalogue.sbpl_rules import SbplRuleNeverDecides
from sbc.diagnostics.span import Span
from sbc.seatbelt.rules import Rule


def check(subject: Subject) -> Iterator[SbplRuleNeverDecides]:
    """Report rules that later ones of the other kind undo wholly.

    Reference: "Which rule wins": among rules with filters on one operation the last that matches wins; of those without
    filters the last. An allow is reported where none of its operations is left, a deny where one is gone: then
    something is open that it seems to close. Rules that are only said twice are no finding.
    """
    dead: dict[int, dict[str, tuple[Rule, ...]]] = {}
    for operation in dict.fromkeys(name for rule in subject.rules for name in rule.operations):
        cover = Cover(operation, subject.meter)
        bare: Rule | None = None
        for rule in reversed(subject.naming(operation)):
            by: list[Rule] | None
            if rule.filters:
                found = [cover.covering(one) for one in rule.filters]
                by = None if None in found else [one for some in found for one in some or ()]
                cover.add(rule)
            else:
                by = None if bare is None else [bare]
                bare = bare or rule
            if by and any(one.action != rule.action for one in by):
                dead.setdefault(id(rule), {})[operation] = tuple(by)
    told: set[Span] = set()
    for rule in subject.rules:
        operations = dead.get(id(rule))
        if not operations or rule.at in told:
            continue
        whole = len(operations) == len(rule.operations)
        if whole or rule.action == "deny":
            told.add(rule.at)
            others = [one for some in operations.values() for one in some if one.action != rule.action]
            places = tuple(dict.fromkeys(one.at for one in others))
            yield SbplRuleNeverDecides(rule.at, rule.action, () if whole else tuple(operations), places[:3])
