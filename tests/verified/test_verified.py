"""The table of what was verified: made from results alone, and never behind the claims."""

import ast
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from tests.shared_data import ROOT
from tests.verified.results import Result, read, record
from tests.verified.table import Claim, Unheld, claims, lines, place, replaced, stated

PAGE = ROOT / "docs" / "security.md"
ALL = claims()


def every_test() -> list[str]:
    """Give the names of all tests, without their parameters."""
    found: list[str] = []
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        name = file.relative_to(ROOT).as_posix()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                found.append(f"{name}::{node.name}")
    return found


TESTS = every_test()


@pytest.mark.parametrize("claim", ALL, ids=lambda claim: claim.says[:30])
def test_each_pattern_names_tests(claim: Claim) -> None:
    assert bool(claim.tests) != bool(claim.untried)
    for pattern in claim.tests:
        assert any(fnmatchcase(one, pattern) for one in TESTS), pattern


def test_the_page_states_every_claim_and_no_other() -> None:
    assert stated(PAGE.read_text(encoding="utf-8")) == [claim.says for claim in ALL]


def passed(*, without: str = "", failed: str = "") -> list[Result]:
    made = [Result(f"{test}[root]", "passed", "6.1.0-18-amd64", "x86_64") for test in TESTS if test != without]
    return [one._replace(ended="failed") if one.test.startswith(failed or "-") else one for one in made]


def test_a_claim_without_a_passed_test_has_no_table() -> None:
    assert len(list(lines(passed()))) == len(ALL) + 2
    with pytest.raises(Unheld, match="no test of it"):
        list(lines([]))
    with pytest.raises(Unheld, match="failed"):
        list(lines(passed(failed="tests/cli/test_gate.py::")))
    skipped = [one._replace(ended="skipped") for one in passed()]
    with pytest.raises(Unheld):
        list(lines(skipped))


def test_the_last_result_counts(tmp_path: Path) -> None:
    file = tmp_path / "results"
    record([("tests/a.py::test_x", "failed"), ("tests/a.py::test_y", "passed")], file)
    record([("tests/a.py::test_x", "passed")], file)
    assert {one.test: one.ended for one in read([file])} == {
        "tests/a.py::test_x": "passed",
        "tests/a.py::test_y": "passed",
    }


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("tests/a.py::test_x", "Linux 6.18 x86_64"),
        ("tests/runtime/a.py::test_x[user]", "Linux 6.18 x86_64, as a user"),
        ("tests/runtime/a.py::test_x[root-bwrap]", "Linux 6.18 x86_64, as root"),
        ("tests/vm/test_a.py::test_x[agent-check-arm64-bookworm]", "Linux 6.1 arm64 (QEMU)"),
    ],
)
def test_where_a_test_ran(test: str, said: str) -> None:
    assert place(Result(test, "passed", "6.18.44-strange", "x86_64")) == said


def test_a_document_needs_its_marks() -> None:
    with pytest.raises(ValueError, match="verified:begin"):
        replaced("# no table\n", [])
