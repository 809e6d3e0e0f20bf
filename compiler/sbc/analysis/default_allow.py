"""`default allow` alone is no list."""

from collections.abc import Iterator

from sbc.analysis.calls import RUNS
from sbc.analysis.subject import Subject
from sbc.diagnostics.catalogue.lints import DefaultAllowAlone


def check(subject: Subject) -> Iterator[DefaultAllowAlone]:
    """Report a written `default allow` of a filter that no included rule takes part in."""
    definitions = [text for text in subject.texts if not text.profile]
    for policy in subject.policy.syscalls.filters:
        spans = {rule.origin.span for abi in policy.abis for rule in abi.rules if rule.origin.span is not None}
        if any(text.has(span) for text in definitions for span in spans):
            continue
        for abi in policy.abis:
            if abi.default.action in RUNS and subject.written(abi.default_origin):
                yield DefaultAllowAlone(abi.default_origin.span)
