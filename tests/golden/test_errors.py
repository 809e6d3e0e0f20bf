"""Each diagnostic as its reader sees it: `errors/NAME.sbx` (or `errors/NAME/main.sbx`) and beside it `NAME.err`.

What is wrong with a profile is in `errors`, what the checks find in one that is right in `lints`. `SBC_GOLDEN=update`
rewrites the `.err` files; look at what changed before it is committed.
"""

import os
import re
from pathlib import Path

import pytest

from sbc.diagnostics.catalogue import codes
from sbc.diagnostics.render import render_all
from tests.golden.front_end import diagnostics_of

FOLDERS = tuple(Path(__file__).parent / name for name in ("errors", "lints"))

UPDATE = os.environ.get("SBC_GOLDEN") == "update"

NOT_HERE = {
    "SBX004": "a file of a mebibyte: tests/syntax/test_reading.py",
    **dict.fromkeys(("SBX009", "SBX010", "SBX011"), "a hundred diagnostics: tests/golden/test_many.py"),
}

PROFILES = {"overridden": "child"}
"""Which profile is meant, where a file has several."""


def cases() -> list[Path]:
    return sorted(path for folder in FOLDERS for path in (*folder.glob("*.sbx"), *folder.glob("*/main.sbx")))


def record_of(case: Path) -> Path:
    return (case.parent if case.stem == "main" else case).with_suffix(".err")


def recorded(folder: Path) -> set[str]:
    return {code for path in folder.glob("*.err") for code in re.findall(r"SBX\d\d\d", path.read_text("utf-8"))}


@pytest.mark.parametrize("case", cases(), ids=lambda case: record_of(case).stem)
def test_it_reads_as_recorded(case: Path) -> None:
    expected = record_of(case)
    text = render_all(diagnostics_of(case, PROFILES.get(expected.stem)))
    if UPDATE:
        expected.write_text(text, encoding="utf-8")
    assert text == expected.read_text(encoding="utf-8")


def test_every_record_has_its_source() -> None:
    sources = {record_of(case) for case in cases()}
    assert [path.name for folder in FOLDERS for path in folder.glob("*.err") if path not in sources] == []


def test_every_error_of_the_front_end_has_a_record() -> None:
    found = recorded(FOLDERS[0])
    assert [code for code in codes() if code < "SBX200" and code not in found and code not in NOT_HERE] == []


def test_every_finding_has_a_record() -> None:
    found = recorded(FOLDERS[1])
    assert [code for code in codes() if code.startswith("SBX5") and code not in found] == []
