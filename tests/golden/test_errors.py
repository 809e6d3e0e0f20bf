"""Each error as its author sees it: `errors/NAME.sbx` (or `errors/NAME/main.sbx`) and beside it `NAME.err`.

`SBC_GOLDEN=update` rewrites the `.err` files; look at what changed before it is committed.
"""

import os
import re
from pathlib import Path

import pytest

from sbc.diagnostics.catalogue import codes
from sbc.diagnostics.render import render_all
from tests.golden.front_end import diagnostics_of

ERRORS = Path(__file__).parent / "errors"

UPDATE = os.environ.get("SBC_GOLDEN") == "update"

NOT_HERE = {
    "SBX004": "a file of a mebibyte: tests/syntax/test_reading.py",
    "SBX009": "more than a hundred errors of one file: tests/resolve/test_large.py",
    "SBX010": "the same of lints",
    "SBX011": "the same of notes",
}


def cases() -> list[Path]:
    return sorted([*ERRORS.glob("*.sbx"), *ERRORS.glob("*/main.sbx")])


def name_of(case: Path) -> str:
    return case.parent.name if case.parent != ERRORS else case.stem


@pytest.mark.parametrize("case", cases(), ids=name_of)
def test_the_error_reads_as_recorded(case: Path) -> None:
    expected = ERRORS / f"{name_of(case)}.err"
    text = render_all(diagnostics_of(case))
    if UPDATE:
        expected.write_text(text, encoding="utf-8")
    assert text == expected.read_text(encoding="utf-8")


def test_every_record_has_its_source() -> None:
    names = {name_of(case) for case in cases()}
    assert [path.name for path in ERRORS.glob("*.err") if path.stem not in names] == []


def test_every_error_of_the_front_end_has_a_record() -> None:
    recorded = {code for path in ERRORS.glob("*.err") for code in re.findall(r"SBX\d\d\d", path.read_text("utf-8"))}
    assert [code for code in codes() if code < "SBX200" and code not in recorded and code not in NOT_HERE] == []
