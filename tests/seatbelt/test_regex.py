"""Regular expressions: against Python's where both mean the same, and in time whatever the pattern."""

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sbc.seatbelt.automaton import Automaton
from sbc.seatbelt.patterns import Regex
from sbc.seatbelt.regex import Broken, Never, Open, program
from sbc.seatbelt.verdict import Meter, TooMuch

_LETTERS = ("a", "b", "A", "/", ".", "[ab]", "[^a/]", "[a-c]", r"\.", r"\/", r"\*", "[]a]", "[^]]", "[a-]")
_SIGNS = st.sampled_from((*_LETTERS, "^", "$"))
_REPEATED = st.tuples(st.sampled_from(_LETTERS), st.sampled_from("*+?")).map("".join)


def _grouped(parts: list[str], sign: str) -> str:
    return f"({'|'.join(parts)}){sign}"


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    some = st.lists(inner, min_size=1, max_size=3)
    return st.builds(_grouped, some, st.sampled_from(("", "*", "+", "?"))) | some.map("".join)


_PATTERNS = st.recursive(st.lists(_SIGNS | _REPEATED, max_size=4).map("".join), _larger, max_leaves=10)


@given(pattern=_PATTERNS, text=st.text("abAB/.*", max_size=10), folded=st.booleans())
def test_it_finds_what_python_finds(*, pattern: str, text: str, folded: bool) -> None:
    expected = re.search(pattern.replace("$", r"\Z"), text, re.DOTALL | (re.IGNORECASE if folded else 0)) is not None
    assert Automaton(program(pattern), folded=folded).finds(text, Meter(1_000_000)) == expected


@example("^/a|b", "b")
@example("^ab*", "a")
@example("^ab?b", "ab")
@example("^a$", "A")
@given(st.text("abA/", max_size=4).map("^{}".format) | st.just(""), st.text("abA/", max_size=5))
def test_a_shortcut_changes_no_answer(beginning: str, text: str) -> None:
    """An expression with a plain beginning is not searched where the text does not begin so."""
    for end in ("", "*", "+", "?", "?a", "|b", "$", "(a|b)*"):
        try:
            code = program(beginning + end)
        except ValueError:
            continue
        found = Automaton(code, folded=False).finds(text, Meter(100_000))
        assert Regex(beginning + end, folded=False).verdict(text, Meter(100_000)) is found


@pytest.mark.parametrize(
    ("pattern", "error"),
    [
        ("(a", Broken),
        ("a)", Broken),
        ("[a", Broken),
        ("*a", Broken),
        ("a\\", Broken),
        ("[b-a]", Broken),
        ("(" * 101 + ")" * 101, Broken),
        ("a" * 8193, Broken),
        (r"\d", Open),
        (r"(a)\1", Open),
        ("a{2}", Open),
        ("a*?", Open),
        ("^*a", Open),
        ("a$?", Open),
        ("(?=a)", Open),
        ("[[:alpha:]]", Open),
        ("a(?:b)", Never),
    ],
)
def test_what_has_no_program(pattern: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        program(pattern)


def test_a_group_of_a_place_may_be_repeated() -> None:
    for pattern in ("(^)*a", "(^|/)?a", "a($)+", "(^|$)*"):
        assert Automaton(program(pattern), folded=False).finds("a", Meter(1000)), pattern


def test_a_literal_question_mark_in_a_group() -> None:
    assert Automaton(program(r"^\(?:a$"), folded=False).finds("(:a", Meter(1000))


@pytest.mark.parametrize(
    "pattern",
    ["(a*)*b", "(a|aa)+$b", "(" * 50 + "a*" + ")*" * 50 + "b", "(.*)(.*)(.*)(.*)(.*)b", "(a?)" * 400 + "a" * 400],
)
def test_a_hostile_pattern_does_not_hang(pattern: str) -> None:
    started = time.process_time()
    Automaton(program(pattern), folded=True).finds("a" * 3000, Meter(2_000_000))
    assert time.process_time() - started < 10


def test_the_meter_ends_it() -> None:
    with pytest.raises(TooMuch):
        Automaton(program("(.*)*b"), folded=False).finds("a" * 5000, Meter(100))
