"""Checks one SBPL profile."""

from collections.abc import Mapping
from pathlib import Path

from sbc.analysis.sbpl.registry import CHECKS
from sbc.analysis.sbpl.subject import MAX_WORK, Subject
from sbc.diagnostics.catalogue.sbpl import SbplBudget
from sbc.diagnostics.diagnostic import Failed, Reporter
from sbc.diagnostics.span import Source
from sbc.seatbelt.load import load
from sbc.seatbelt.verdict import TooMuch


def check_sbpl(
    source: Source | Path, params: Mapping[str, str], import_folder: Path | None, reporter: Reporter
) -> int | None:
    """Evaluate a profile and report every finding; give the number of its rules, None where it cannot be evaluated."""
    try:
        subject = Subject(load(source, params, import_folder))
    except Failed as failed:
        for diagnostic in failed.diagnostics:
            reporter.add(diagnostic)
        return None
    try:
        for check in CHECKS:
            for found in check(subject):
                reporter.add(found)
    except TooMuch:
        # What was not looked at must not pass for fine.
        reporter.add(SbplBudget(None, "comparisons by the lints", MAX_WORK))
        return None
    return len(subject.rules)
