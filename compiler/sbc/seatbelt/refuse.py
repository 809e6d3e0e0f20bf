"""How everything here ends that cannot go on: with one diagnostic that has a place."""

from sbc.diagnostics.catalogue.sbpl import SbplMisuse
from sbc.diagnostics.diagnostic import Diagnostic, Failed
from sbc.diagnostics.span import Span


def refused(diagnostic: Diagnostic) -> Failed:
    """Give what to raise for a diagnostic."""
    return Failed((diagnostic,))


def misused(at: Span, name: str, why: str) -> Failed:
    """Give what to raise where something was used wrongly."""
    return refused(SbplMisuse(at, name, why))
