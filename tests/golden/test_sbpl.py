"""Each lint of SBPL as its reader sees it: `sbpl/NAME.sb`, and beside it `NAME.err` (see `test_errors.py`)."""

import re
from pathlib import Path

import pytest

from sbc.analysis.sbpl.lint import check_sbpl
from sbc.diagnostics.catalogue import codes
from sbc.diagnostics.diagnostic import Reporter
from sbc.diagnostics.render import render_all
from tests.golden.test_errors import UPDATE

FOLDER = Path(__file__).parent / "sbpl"
CASES = sorted(FOLDER.glob("*.sb"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_it_reads_as_recorded(case: Path) -> None:
    reporter = Reporter()
    check_sbpl(case, {}, None, reporter)
    expected = case.with_suffix(".err")
    text = render_all(reporter.diagnostics)
    if UPDATE:
        expected.write_text(text, encoding="utf-8")
    assert text == expected.read_text(encoding="utf-8")


def test_every_record_has_its_source() -> None:
    assert {path.stem for path in FOLDER.glob("*.err")} == {path.stem for path in CASES}


def test_every_finding_has_a_record_of_its_own() -> None:
    """The record of one finding shows no other: each profile is right but for what it is about."""
    found = {
        path.stem: set(re.findall(r"^\w+\[(SBX\d\d\d)\]", path.read_text("utf-8"), re.M))
        for path in FOLDER.glob("*.err")
    }
    assert {stem: sorted(told) for stem, told in found.items() if len(told) != 1} == {}
    assert sorted(code for told in found.values() for code in told) == [c for c in codes() if "SBX452" <= c <= "SBX469"]
