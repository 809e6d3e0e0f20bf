"""The words of the `seatbelt` block are SBPL's own: its back end knows them, whether or not SBPL is made."""

from collections.abc import Iterator

from sbc.analysis.subject import Subject
from sbc.diagnostics.diagnostic import Diagnostic


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Report everything that the back end finds wrong with the block."""
    if subject.policy.seatbelt.statements:
        from sbc.backends.seatbelt.check import check as check_block  # noqa: PLC0415 (few profiles have such words)

        yield from check_block(subject.policy.seatbelt)
