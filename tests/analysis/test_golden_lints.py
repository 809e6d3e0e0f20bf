"""The words of each finding, with its place: `tests/golden/lints/NAME.sbx` and the `.err` beside it.

`SBC_UPDATE=1` writes the files anew, to be looked at.
"""

import os
from pathlib import Path

import pytest

from sbc.diagnostics.catalogue import codes
from sbc.diagnostics.diagnostic import Diagnostic
from sbc.diagnostics.render import render_all
from tests.analysis.lowered import lowered
from tests.shared_data import ROOT

INPUTS = sorted((ROOT / "tests" / "golden" / "lints").glob("*.sbx"))
CHILD = {"overridden": "child"}


def reported(path: Path) -> tuple[Diagnostic, ...]:
    return lowered(path, CHILD.get(path.stem))[1]


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: path.stem)
def test_the_words_are_these(path: Path) -> None:
    text = render_all(reported(path))
    expected = path.with_suffix(".err")
    if os.environ.get("SBC_UPDATE"):
        expected.write_text(text, encoding="utf-8")
    assert text == expected.read_text(encoding="utf-8")


def test_every_finding_has_a_pair() -> None:
    seen = {diagnostic.code for path in INPUTS for diagnostic in reported(path)}
    assert seen >= {code for code in codes() if code.startswith("SBX5")}
