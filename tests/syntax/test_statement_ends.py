"""Where a statement ends, and what bytes in strings mean."""

import pytest

from sbc.diagnostics.diagnostic import Reporter
from sbc.diagnostics.span import Source
from sbc.syntax import tree
from sbc.syntax.formatter import format_source
from sbc.syntax.parser import parse


def parsed(text: str) -> tree.SourceTree | None:
    return parse(Source("t.sbx", text), Reporter())


@pytest.mark.parametrize(
    "text",
    [
        "profile p { files { root host }~network none }",
        "group @a { read }~rules @r { deny EPERM @a }~group @b { }~group @c { 1,2 }~profile p { files { root host } }",
        "profile p { files { root host }~network none }~profile q { files { root host } }",
        "rules @r { on x86_64 { deny EPERM read }~deny EPERM write }~"
        "profile p { files { on linux { tmp /tmp }~read / } }",
        'profile p { seatbelt { allow file-read* { subpath "/" }~deny network* { require-all { literal "/a" } } } }',
    ],
)
def test_the_brace_of_a_body_ends_its_statement(text: str) -> None:
    spellings = [f"sbx 1\n{text.replace('~', end)}" for end in (" ", "", "; ")]
    assert all(parsed(spelling) is not None for spelling in spellings)
    assert len({format_source(spelling) for spelling in spellings}) == 1


@pytest.mark.parametrize(
    "text",
    [
        "sbx 1\nprofile p { files { root host read / } }",
        "sbx 1\nprofile p { files { read { /a } write /b } }",
        "sbx 1\nprofile p { syscalls none files { root host } }",
    ],
)
def test_other_statements_on_one_line_need_a_semicolon(text: str) -> None:
    assert parsed(text) is None


def test_an_error_does_not_hide_the_ends_of_later_statements() -> None:
    reporter = Reporter()
    text = (
        "sbx 1\nprofile p { files { raed { on } { x }; root host } network none\n"
        "proc { hide kcore } limits { wal 1s } }"
    )
    parse(Source("t.sbx", text), reporter)
    assert any("`wal`" in diagnostic.title() for diagnostic in reporter.diagnostics)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (r"a\x41", "aA"),
        (r"\xc3\xa9", "\u00e9"),
        (r"\xff", "\udcff"),
        (r"\xc3.", "\udcc3."),
        (r"\u{e9}\$\"\\\n\t", '\u00e9$"\\\n\t'),
    ],
)
def test_bytes_in_strings(written: str, value: str) -> None:
    made = parsed(f'sbx 1\nprofile p {{ environment {{ set A = "{written}" }} }}')
    assert made is not None
    profile = made.items[0]
    assert isinstance(profile, tree.Profile)
    (block,) = profile.blocks
    assert block.body is not None
    statement = block.body[0]
    assert isinstance(statement, tree.SetStatement)
    assert isinstance(statement.value, tree.Text)
    assert statement.value.value == value
