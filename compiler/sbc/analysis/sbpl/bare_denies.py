"""Denies without a filter that stand below allows with one."""

from collections.abc import Iterator

from sbc.analysis.sbpl.subject import Subject
from sbc.diagnostics.catalogue.sbpl_rules import SbplBareDeny
from sbc.seatbelt.rules import Rule


def check(subject: Subject) -> Iterator[SbplBareDeny]:
    """Report denies without a filter that seem to take back what rules above them allow, and do not.

    Reference: "Which rule wins": a rule without a filter is only the fall-through of its operation, wherever it stands.
    `(deny default)` says by its name that it is one.
    """
    for rule in subject.rules:
        if rule.action == "allow" or rule.filters:
            continue
        for operation in rule.operations:
            kept = None if operation == "default" else _kept(subject, rule, operation)
            if kept is not None:
                yield SbplBareDeny(rule.at, operation, kept[0], kept[1], kept[2].at)
                break


def _kept(subject: Subject, deny: Rule, operation: str) -> tuple[str, str, Rule] | None:
    """Give what an allow above the deny still allows: the operation, what was asked about, and the allow."""
    for one in (operation, *sorted(subject.below(operation))):
        for allow in subject.naming(one):
            if allow.action == "deny" or subject.order(allow) > subject.order(deny):
                continue
            if not allow.filters and one == operation:
                continue
            for sample in subject.samples(allow):
                answer = subject.ask(one, sample)
                if answer and answer.rule is allow:
                    return one, sample.text, allow
    return None
