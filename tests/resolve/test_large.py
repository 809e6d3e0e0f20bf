"""Large inputs: the work grows with the text, and what is told stays readable."""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from sbc.diagnostics.diagnostic import MAX_TOLD, Diagnostic, Failed, Reporter
from sbc.diagnostics.render import render_all
from sbc.diagnostics.suggest import MAX_SUGGESTIONS
from sbc.pipeline import load_policy
from sbc.syntax.reading import MAX_BYTES
from tests.resolve.large import CASES, WORDS, filled
from tests.resolve.lowered import told, with_calls

SMALL = 6 << 10
OUTPUT = 150_000
"""Three kinds of a hundred reports, each of a few lines."""


def diagnostics(text: str, profile: str | None = None) -> tuple[Diagnostic, ...]:
    """Give what is told of a text, lints included."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "main.sbx")
        path.write_text(text, encoding="utf-8")
        reporter = Reporter()
        try:
            load_policy(path, profile, reporter)
        except Failed as failure:
            return failure.diagnostics
        return reporter.diagnostics


def calls_of(work: Callable[[], object]) -> int:
    """Count the calls of Python functions that some work takes."""
    count = 0

    def counted(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("name", CASES)
def test_the_work_grows_with_the_text(name: str) -> None:
    diagnostics(filled(CASES[name], 1 << 10))  # what is loaded once
    once, twice, four = (calls_of(lambda size=size: diagnostics(filled(CASES[name], size))) for size in _SIZES)
    assert four - twice <= 2.5 * (twice - once) + 60_000


def test_the_work_for_one_of_many_profiles_grows_with_their_number() -> None:
    diagnostics(filled(CASES["profiles"], 1 << 10), "p0")
    case = CASES["profiles"]
    once, twice, four = (calls_of(lambda size=size: diagnostics(filled(case, size), "p0")) for size in _SIZES)
    assert four - twice <= 2.5 * (twice - once)


_SIZES = (SMALL, 2 * SMALL, 4 * SMALL)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_text_of_full_size(name: str) -> None:
    found = diagnostics(filled(CASES[name], MAX_BYTES))
    assert len(found) <= 3 * (MAX_TOLD + 1)
    assert len(render_all(found)) <= OUTPUT


@pytest.mark.parametrize("kind", WORDS)
def test_a_word_of_full_size_is_shortened(kind: str) -> None:
    text = WORDS[kind]
    word = "A" * ((MAX_BYTES - len(text)) // text.count("#"))
    shown = render_all(diagnostics(text.replace("#", word)))
    assert len(shown) <= 3000


def test_so_many_reports_of_a_kind_and_how_many_more() -> None:
    names = " ".join(f"nosuchcall{at}" for at in range(250))
    reporter = told(with_calls(f"deny EPERM {{ {names} }}"))[1]
    found = reporter.diagnostics
    assert [one.code for one in found] == ["SBX201"] * MAX_TOLD + ["SBX009"]
    assert found[-1].title() == f"{250 - MAX_TOLD} more errors in main.sbx"


def test_a_word_is_compared_once_and_not_for_ever() -> None:
    names = " ".join(f"ptrac{letter}{letter}" for letter in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRST")
    found = told(with_calls(f"deny EPERM {{ {names} }}"))[1].diagnostics
    assert sum(one.help() is not None for one in found) == MAX_SUGGESTIONS


@pytest.mark.slow
def test_too_many_rules() -> None:
    found = diagnostics(filled(CASES["star rules"], 64 << 10))
    assert [one.code for one in found if one.code == "SBX233"]
