"""Denies that a rule on a concrete operation shadows."""

from collections.abc import Iterator
from itertools import chain

from sbc.analysis.sbpl.cover import Cover
from sbc.analysis.sbpl.subject import Subject, lineage
from sbc.diagnostics.catalogue.sbpl_rules import SbplDenyShadowed
from sbc.diagnostics.span import Span
from sbc.seatbelt.rules import Rule

_EXISTENCE = ("file-read-metadata", "file-test-existence")


def check(subject: Subject) -> Iterator[SbplDenyShadowed]:
    """Report filtered denies of a group of operations of which an allow on one of the group takes something out.

    Reference: "Which rule wins": a rule on the concrete operation beats any on its wildcard parent, whatever the order.
    An allow that stands below the deny is an exception that its author meant, unless it opens more than was denied.
    """
    told: set[Span] = set()
    for rule in subject.rules:
        if rule.action == "allow" or not rule.filters or rule.at in told:
            continue
        found = [one for group in rule.operations for one in _open(subject, rule, group)]
        if found:
            told.add(rule.at)
            operations = tuple(dict.fromkeys(operation for operation, _, _ in found))
            by = tuple(dict.fromkeys(allow.at for _, allow, _ in found))
            yield SbplDenyShadowed(rule.at, operations, found[0][2], by[:3])


def _open(subject: Subject, rule: Rule, group: str) -> Iterator[tuple[str, Rule, str]]:
    """Give what below a group stays open: the operation, the allow that decides there, and what it was asked about."""
    for operation in sorted(subject.below(group)):
        allows = [one for one in subject.naming(operation) if one.action == "allow"]
        above = [one for one in allows if one.filters and subject.order(one) < subject.order(rule)]
        asked = chain(
            (sample for one in (rule, *above) for sample in subject.samples(one)),
            (sample for one in above for sample in subject.crossing(rule, one)),
            (sample for one in above for sample in subject.further(rule, one)),
        )
        for sample in asked if allows else ():
            answer = subject.ask(operation, sample)
            if answer is None or answer.decision == "deny" or answer.rule is None or answer.operation == group:
                continue
            if group not in lineage(answer.operation):
                continue
            otherwise = subject.ask(operation, sample, above=group)
            if otherwise is None or otherwise.rule is not rule:
                continue
            allow = answer.rule
            if subject.order(allow) < subject.order(rule) or _takes_all(subject, operation, allow, rule):
                yield operation, allow, sample.text
                break


def _takes_all(subject: Subject, operation: str, allow: Rule, deny: Rule) -> bool:
    """Tell whether an allow below matches all that a deny does and more, so that it cannot be meant as an exception.

    To open what paths exist, and nothing else, below a deny of reading is usual.
    """
    return operation not in _EXISTENCE and _covers(subject, allow, deny) and not _covers(subject, deny, allow)


def _covers(subject: Subject, wide: Rule, narrow: Rule) -> bool:
    cover = Cover("default", subject.meter)
    cover.add(wide)
    return all(cover.covering(one) for one in narrow.filters)
