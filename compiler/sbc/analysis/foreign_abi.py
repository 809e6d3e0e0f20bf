"""A foreign ABI that is let in goes round every rule."""

from collections.abc import Iterator

from sbc.analysis.calls import RUNS
from sbc.analysis.subject import Subject
from sbc.analysis.words import verdict_text
from sbc.diagnostics.catalogue.lints import ForeignAbiOpen


def check(subject: Subject) -> Iterator[ForeignAbiOpen]:
    """Report filters that deny something and carry out every call of a foreign ABI."""
    for policy in subject.policy.syscalls.filters:
        denies = any(rule.verdict.action not in RUNS for abi in policy.abis for rule in abi.rules)
        denies = denies or any(abi.default.action not in RUNS for abi in policy.abis)
        if denies and policy.foreign.action in RUNS:
            yield ForeignAbiOpen(policy.foreign_origin.span, verdict_text(policy.foreign, policy.abis[0].arch.name))
