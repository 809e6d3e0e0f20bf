"""The text of a profile: quoting, comments, sizes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sbc.backends.seatbelt import reader
from sbc.backends.seatbelt.sexpr import (
    List,
    Node,
    Text,
    UnquotableError,
    Word,
    comment,
    form,
    quoted,
    rule_text,
    written,
)
from sbc.backends.seatbelt.target import SeatbeltTarget
from tests.targets.policies import files, hide, policy, read, write
from tests.targets.sbpl import Quoted
from tests.targets.sbpl import read as independent
from tests.targets.test_sbpl_files import access, emitted, evaluator

TEXTS = st.text(max_size=60)
ATOMS = (
    st.builds(Text, TEXTS) | st.builds(Word, st.from_regex(r"[a-z][a-z*-]{0,8}", fullmatch=True)) | st.integers(0, 99)
)
NODES: st.SearchStrategy[Node] = st.recursive(
    ATOMS, lambda inner: st.lists(inner, max_size=4).map(lambda items: List(tuple(items))), max_leaves=12
)


@given(TEXTS)
def test_a_string_reads_back_as_itself_or_is_refused(value: str) -> None:
    try:
        text = quoted(value)
    except UnquotableError:
        assert (
            "\n" in value
            or "\r" in value
            or "\0" in value
            or len(value.encode("utf-8", "replace")) > 500
            or any(0xD800 <= ord(c) < 0xE000 for c in value)
        )
        return
    assert independent(f'(x {text} y "z")') == (("x", Quoted(value), "y", Quoted("z")),)


@given(NODES)
def test_a_tree_reads_back_as_itself(node: Node) -> None:
    try:
        text = written(node)
    except UnquotableError:
        return
    assert reader.read(text) == (node,)


@given(st.lists(TEXTS, max_size=3))
def test_a_comment_is_one_line_and_hides_nothing(lines: list[str]) -> None:
    text = "".join(f"{comment(one)}\n" for one in lines) + "(a)"
    assert len(text.splitlines()) == len(lines) + 1
    assert independent(text) == (("a",),)


@pytest.mark.parametrize(
    ("value", "text"),
    [("/a\\b", r'"/a\\b"'), ('/a"b', r'"/a\"b"'), ('\\"', r'"\\\""'), ("/ü (x) ;#", '"/ü (x) ;#"'), ("", '""')],
)
def test_the_backslash_is_escaped_first(value: str, text: str) -> None:
    assert quoted(value) == text


def test_a_string_token_is_at_most_1024_bytes() -> None:
    assert len(quoted("/" + "ü" * 510)) <= 1024
    with pytest.raises(UnquotableError, match="longer"):
        quoted("/" + "ü" * 511)


def test_a_long_rule_is_wrapped() -> None:
    text = rule_text("deny", tuple(f"operation-{n}" for n in range(20)), (form("subpath", Text("/x")),))
    assert max(len(line) for line in text.splitlines()) <= 100
    assert reader.read(text)


@pytest.mark.parametrize("source", ["(", ")", '("a', r'("\n")', '(a "\\'])
def test_the_reader_of_shipped_profiles_refuses_the_rest(source: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        reader.read(source)


def test_names_that_could_break_a_profile() -> None:
    names = ['a"b', "a\\", 'x") (allow default) ("', "[1]", "first.last", "${x}", "; no comment", "a b", "é", "#t"]
    made = policy(files(write("/opt"), *(hide(f"/opt/{name}") for name in names)))
    run = evaluator(made)
    for name in names:
        assert access(run, f"/opt/{name}/x") == "hide"
        assert access(run, f"/opt/{name}x") == "write"
    assert access(run, "/opt/firstXlast") == "write"
    assert "regex" not in emitted(made)


def test_hundreds_of_paths_make_few_rules() -> None:
    hidden = [hide(f"/opt/w/secrets/{n}") for n in range(600)]
    (file,) = SeatbeltTarget().emit(policy(files(write("/opt/w"), *hidden))).files
    text = file.content.decode()
    assert len(text) < 100_000
    assert text.count("(deny file-write-unlink") == 1
    assert text.count('(literal "/opt/w/secrets")') == 1
    assert text.count("(deny ") < 20


def test_the_same_policy_gives_the_same_bytes() -> None:
    made = policy(files(write("/opt/w"), hide("/opt/w/h"), read("/opt/w/r")))
    assert SeatbeltTarget().emit(made).files == SeatbeltTarget().emit(made).files
