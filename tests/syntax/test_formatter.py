"""The formatter: what it makes of a text, and its laws."""

from pathlib import Path

import pytest
from hypothesis import given, settings

from sbc.diagnostics.diagnostic import Failed
from sbc.syntax.formatter import format_source
from tests.syntax.derive import SLOW, texts
from tests.syntax.helpers import meaning, shipped, tree_of


def test_blanks_newlines_and_commas() -> None:
    text = (
        'sbx   1;use <groups>\n\n\n\nprofile  p{\n\tparam d:dir\n  files{root private;read{/a,/b ,  "/c d"}optional}\n}'
    )
    assert format_source(text) == (
        "sbx 1\n"
        "use <groups>\n"
        "\n"
        "profile p {\n"
        "  param d : dir\n"
        '  files { root private; read { /a /b "/c d" } optional }\n'
        "}\n"
    ).replace("sbx 1\nuse", "sbx 1; use")


def test_comments_stay_and_neighbours_share_a_column() -> None:
    text = (
        "# head\nsbx 1\nprofile p { # of p\n"
        "## why\nfiles {\n root host #a\n read / # b\n\n# alone\n }# end\n"
        "network none # c\n # last\n}\n#tail"
    )
    assert format_source(text) == (
        "# head\n"
        "sbx 1\n"
        "profile p {  # of p\n"
        "  ## why\n"
        "  files {\n"
        "    root host  #a\n"
        "    read /     # b\n"
        "\n"
        "    # alone\n"
        "  }  # end\n"
        "  network none  # c\n"
        "  # last\n"
        "}\n"
        "#tail\n"
    )


def test_a_long_set_is_broken_and_a_broken_one_stays_so() -> None:
    calls = " ".join(f"call_number_{i}" for i in range(12))
    text = f"sbx 1\nrules @r {{ deny EPERM {{ {calls} }}; deny EPERM {{ a # one\n b }} when flags == 1 }}\n"
    formatted = format_source(text)
    assert formatted == (
        "sbx 1\n"
        "rules @r {\n"
        "  deny EPERM {\n"
        f"    {' '.join(f'call_number_{i}' for i in range(8))}\n"
        f"    {' '.join(f'call_number_{i}' for i in range(8, 12))}\n"
        "  }\n"
        "  deny EPERM {\n"
        "    a  # one\n"
        "    b\n"
        "  } when flags == 1\n"
        "}\n"
    )


def test_lines_inside_parentheses_stay() -> None:
    text = "sbx 1\nrules @r {\n  deny EPERM a when (x == 1 # one\n and\n y in 1 .. 2) or arg0 : u64 & 3 == A|B\n}\n"
    assert format_source(text) == (
        "sbx 1\n"
        "rules @r {\n"
        "  deny EPERM a when (x == 1  # one\n"
        "      and\n"
        "      y in 1..2) or arg0:u64 & 3 == A | B\n"
        "}\n"
    )


def test_a_comment_that_is_no_reason_does_not_become_one() -> None:
    text = "sbx 1\nrules @r {\n## not of a\n; deny EPERM a\n}\n"
    assert format_source(text) == "sbx 1\nrules @r {\n  ## not of a\n\n  deny EPERM a\n}\n"


def test_errors_are_given_back() -> None:
    with pytest.raises(Failed) as failed:
        format_source("sbx 1\nprofile {\n")
    assert failed.value.diagnostics[0].code == "SBX101"


@pytest.mark.parametrize("path", shipped(), ids=lambda path: path.name)
def test_shipped_files_keep_their_meaning(path: Path) -> None:
    text = path.read_text("utf-8")
    formatted = format_source(text)
    assert meaning(tree_of(formatted)) == meaning(tree_of(text))
    assert format_source(formatted) == formatted


@settings(max_examples=200, suppress_health_check=SLOW)
@given(texts())
def test_formatting_keeps_the_meaning_and_every_comment(text: str) -> None:
    formatted = format_source(text)
    assert meaning(tree_of(formatted)) == meaning(tree_of(text))
    assert _comments(formatted) == _comments(text)


@settings(max_examples=200, suppress_health_check=SLOW)
@given(texts())
def test_formatting_twice_changes_nothing(text: str) -> None:
    formatted = format_source(text)
    assert format_source(formatted) == formatted


def _comments(text: str) -> list[str]:
    from sbc.syntax.lexer import tokens_of

    strings = {at for token in tokens_of(text) if token.shape == "string" for at in range(token.start, token.end)}
    found: list[str] = []
    at = text.find("#")
    while at >= 0:
        end = text.find("\n", at)
        if at in strings:
            end = at + 1
        else:
            found.append(text[at : end if end >= 0 else len(text)].rstrip())
        at = text.find("#", end) if end >= 0 else -1
    return found
