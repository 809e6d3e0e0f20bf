"""Diagnostics: suggestions, the catalogue, text for terminals, data."""

import inspect
import re
import time

import pytest

from sbc.diagnostics.catalogue import codes, explain
from sbc.diagnostics.catalogue.syntax import BadNumber, NotClosed
from sbc.diagnostics.diagnostic import Diagnostic, Label
from sbc.diagnostics.render import render, to_json
from sbc.diagnostics.span import Source, Span
from sbc.diagnostics.suggest import closest


@pytest.mark.parametrize(
    ("word", "candidates", "found"),
    [
        ("ptrcae", ["ptrace", "trace"], "ptrace"),
        ("raed", ["read", "hide"], "read"),
        ("kill_process", ["kill-process", "kill-thread"], "kill-process"),
        ("ap_unix", ["AF_UNIX", "AF_INET"], "AF_UNIX"),
        ("ab", ["ac"], None),
        ("mount", ["unlink", "ptrace"], None),
        ("same", ["same"], None),
        ("abcx", ["abcy", "abcz"], "abcy"),
        ("", ["a"], None),
        ("read", [], None),
    ],
)
def test_suggestions(word: str, candidates: list[str], found: str | None) -> None:
    assert closest(word, candidates) == found
    assert closest(word, reversed(candidates)) == found


def test_suggestions_are_quick() -> None:
    candidates = [f"some_system_call_{number}" for number in range(1000)]
    begin = time.process_time()
    assert closest("some_system_cal_77", candidates) == "some_system_call_77"
    closest("x" * 100_000, candidates)
    assert time.process_time() - begin < 0.5


def test_every_kind_is_explained() -> None:
    for code, kind in codes().items():
        assert re.fullmatch(r"SBX[0-7]\d\d", code)
        assert inspect.getdoc(kind) != inspect.getdoc(Diagnostic), code
        assert (explain(code.lower()) or "").startswith(f"{code}: ")
    assert explain("SBX999") is None


# ---- text -----------------------------------------------------------------------------------------------------------


class _Sample(Diagnostic):
    code = "SBX999"

    words: str
    others: tuple[Label, ...] = ()
    advice: str | None = None

    def title(self) -> str:
        return self.words

    def label(self) -> str:
        return "here"

    def secondary(self) -> tuple[Label, ...]:
        return self.others

    def help(self) -> str | None:
        return self.advice


def _span(text: str, piece: str, name: str = "a.sbx") -> Span:
    start = text.index(piece)
    return Span(Source(name, text), start, start + len(piece))


def test_other_places_also_in_other_files() -> None:
    text = "one\ntwo\n\n\nfive\n"
    here, there = _span(text, "five"), _span("x\n\tyes\n", "yes", "b.sbx")
    diagnostic = _Sample(here, "wrong", (Label(_span(text, "one"), "first"), Label(there, "also")), "do\nmore")
    assert render(diagnostic) == (
        "error[SBX999]: wrong\n"
        " --> a.sbx:5:1\n"
        "  |\n"
        "1 | one\n"
        "  | --- first\n"
        "...\n"
        "5 | five\n"
        "  | ^^^^ here\n"
        " ::: b.sbx:2:2\n"
        "  |\n"
        "2 |     yes\n"
        "  |     --- also\n"
        "  |\n"
        "help: do\n"
        "      more"
    )


@pytest.mark.parametrize(
    "text", ["\tx = here", "日本 here", "e\u0301\u0301 here", "a\t\t日 here", "\x1b[2J\u202e here"]
)
def test_the_mark_stands_below_its_word(text: str) -> None:
    from sbc.diagnostics.visible import columns

    rows = render(_Sample(_span(text, "here"), "wrong")).split("\n")
    code, mark = rows[3], rows[4]
    assert columns(code[: code.index("here")]) == mark.index("^")


def test_nothing_of_a_source_reaches_the_terminal_unescaped() -> None:
    text = "\x1b]0;title\x07 \x9b31m \u202e\u2066 \r here \x00"
    span = _span(text, "here", "\x1b[31m.sbx")
    shown = render(_Sample(span, text, (Label(span, text),), text))
    assert all(character.isprintable() for character in shown.replace("\n", ""))


def test_a_long_line_is_shown_around_the_place() -> None:
    text = "a" * 5000 + " here " + "b" * 5000
    shown = render(_Sample(_span(text, "here"), "wrong", (Label(Span(Source("a.sbx", text), 0, 1), "far"),)))
    assert max(map(len, shown.split("\n"))) < 150
    code, mark = shown.split("\n")[3:5]
    assert code.index("here") == mark.index("^^^^")


def test_a_range_of_many_lines_is_marked_on_its_first() -> None:
    assert "  |  ^^ here" in render(_Sample(_span("abc\ndef\nghi", "bc\ndef"), "wrong"))


def test_the_end_of_the_file() -> None:
    source = Source("a.sbx", "abc\n")
    assert "2 |\n  | ^ here" in render(_Sample(Span(source, 4, 4), "wrong"))


def test_colours_only_where_asked() -> None:
    diagnostic = _Sample(_span("abc", "b"), "wrong")
    assert "\x1b" not in render(diagnostic)
    coloured = render(diagnostic, colour=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render(diagnostic)
    assert coloured != render(diagnostic)


def test_data() -> None:
    text = "sbx 1\nprofile {"
    span = _span(text, "{")
    assert to_json(NotClosed(span, "{", Span(span.source, len(text), len(text)))) == {
        "code": "SBX103",
        "severity": "error",
        "title": "this `{` is not closed",
        "file": "a.sbx",
        "line": 2,
        "column": 9,
        "end_line": 2,
        "end_column": 10,
        "label": None,
        "secondary": [
            {
                "file": "a.sbx",
                "line": 2,
                "column": 10,
                "end_line": 2,
                "end_column": 10,
                "label": "`}` is missing before here",
            }
        ],
        "help": None,
    }
    assert to_json(BadNumber(None, "1x", None))["line"] is None
