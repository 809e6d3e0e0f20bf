"""What the parser makes of a text."""

import pytest

from sbc.syntax import tree
from tests.syntax.helpers import errors_of, meaning, shipped, statements_of, tree_of


def _rule(text: str) -> tree.CallRule:
    (rule,) = statements_of(f"syscalls {{\n{text}\n}}")
    assert isinstance(rule, tree.CallRule)
    return rule


def _read(path: str) -> tree.Path:
    (statement,) = statements_of(f"files {{ read {path} }}")
    assert isinstance(statement, tree.PathStatement)
    (found,) = statement.paths
    assert isinstance(found, tree.Path)
    return found


@pytest.mark.parametrize("path", shipped(), ids=lambda path: path.name)
def test_shipped_files_have_no_error(path: object) -> None:
    from pathlib import Path

    assert isinstance(path, Path)
    tree_of(path.read_text("utf-8"))


@pytest.mark.parametrize("ending", ["\n", ";", "; ;\n", "\n# c\n", " # c\n", "\r\n", "\n\n\n"])
def test_statements_end_at_newlines_and_semicolons(ending: str) -> None:
    assert len(statements_of(f"syscalls {{ default allow{ending}allow a }}")) == 2


@pytest.mark.parametrize("separator", [" ", ",", ", ", "\n", " ,\n# c\n", "\t"])
def test_members_of_a_set(separator: str) -> None:
    assert [word.text for word in _rule(f"allow {{ a{separator}b }}").calls if isinstance(word, tree.Word)] == [
        "a",
        "b",
    ]


def test_keywords_are_calls_where_a_call_stands() -> None:
    rule = _rule("deny EPERM { read write trace when }")
    assert [word.text for word in rule.calls if isinstance(word, tree.Word)] == ["read", "write", "trace", "when"]


def test_binding_of_not_and_or() -> None:
    guard = _rule("allow a when not x == 1 and y == 2 or z == 3").guard
    assert guard is not None
    either = guard.condition
    assert isinstance(either, tree.Disjunction)
    both = either.operands[0]
    assert isinstance(both, tree.Conjunction)
    assert isinstance(both.operands[0], tree.Negation)


def test_a_condition_goes_on_inside_parentheses() -> None:
    guard = _rule("allow a when (x == 1\n  # why\n  and (y in { 1\n2 }))").guard
    assert guard is not None
    assert isinstance(guard.condition, tree.Conjunction)


def test_tests_of_arguments() -> None:
    text = "x & A | B == 0x10 and y has only { C @d } and z in -1..2 and arg0:u64 >= 0o17 and w in @g"
    guard = _rule(f"allow a when {text}").guard
    assert guard is not None
    assert isinstance(guard.condition, tree.Conjunction)
    mask, has, within, order, member = guard.condition.operands
    assert isinstance(mask, tree.MaskEqual)
    assert len(mask.mask.terms) == 2
    assert isinstance(has, tree.Has)
    assert has.quantifier == "only"
    assert isinstance(within, tree.Member)
    assert isinstance(within.values, tree.Range)
    assert isinstance(within.values.low.terms[0], tree.Number)
    assert within.values.low.terms[0].value == -1
    assert isinstance(order, tree.Compare)
    assert order.subject.type is not None
    assert isinstance(member, tree.Member)
    assert isinstance(member.values, tree.GroupRef)


def test_abis() -> None:
    (abis,) = statements_of("syscalls { abi x86_64 + i386 + x32, aarch64 }")
    assert isinstance(abis, tree.AbiList)
    assert [[word.text for word in joined] for joined in abis.filters] == [["x86_64", "i386", "x32"], ["aarch64"]]


@pytest.mark.parametrize(
    ("text", "base", "rest", "quoted"),
    [
        ("/usr/bin", None, "/usr/bin", False),
        ("~", "home", "", False),
        ("~/.ssh", "home", "/.ssh", False),
        ("${worktree}/.git", "worktree", "/.git", False),
        ('"${worktree}/a b"', "worktree", "/a b", True),
        ('"~/a"', "home", "/a", True),
        (r'"/\${x}\x41\u{e9}\n"', None, "/${x}Aé\n", True),
        ('"/a*?[b]"', None, "/a*?[b]", True),
        ("/a:b=c@d+e(f)", None, "/a:b=c@d+e(f)", False),
    ],
)
def test_paths(text: str, base: str | None, rest: str, quoted: bool) -> None:
    path = _read(text)
    assert (path.base, path.rest, path.quoted) == (base, rest, quoted)
    assert path.span.text == text


@pytest.mark.parametrize(
    "text", ["/a*", "/a?", "/[a]", "/a\\b", '/a"b"', "/a/${b}", "~x", "${1}", "/a#b", '"a"', '""', "/a'"]
)
def test_wrong_paths(text: str) -> None:
    assert errors_of(f"sbx 1\nprofile p {{ files {{ read {text} }} }}")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("64KiB", 65536),
        ("0", 0),
        ("1TiB", 1 << 40),
        ("100ms", 100),
        ("1h", 3_600_000),
        ("0x1F", 31),
        ("0o17", 15),
        ("7B", 7),
    ],
)
def test_values(text: str, value: int) -> None:
    (statement,) = statements_of(f"limits {{ memory {text} }}")
    assert isinstance(statement, tree.ValueStatement)
    assert isinstance(statement.value, tree.Number | tree.Size | tree.Duration)
    assert (statement.value.value, statement.value.text) == (value, text)


def test_reasons() -> None:
    text = """
      ## Why a,
      ## in two lines.
      allow a; allow b
      ## Not just above.

      allow c  ## behind
      allow d
      ### no reason
      allow e
      ## Of the block.
      on i386 { allow f }
    """
    assert [statement.reason for statement in statements_of(f"syscalls {{{text}}}")] == [
        "Why a,\nin two lines.", "", "", "", "", "Of the block.",
    ]  # fmt: skip


def test_blocks_without_braces_and_with_empty_ones() -> None:
    profile = tree_of("sbx 1\nprofile p-1 extends q { syscalls none; network host; files { } }").items[0]
    assert isinstance(profile, tree.Profile)
    assert profile.extends is not None
    assert [(b.keyword.text, b.mode and b.mode.text, b.body) for b in profile.blocks] == [
        ("syscalls", "none", None), ("network", "host", None), ("files", None, ()),
    ]  # fmt: skip


def test_seatbelt() -> None:
    nested = 'require-all { vnode-type SYMLINK; require-not { literal "/y" } }'
    (rule,) = statements_of(f'seatbelt {{ allow file-read* mach-lookup {{\n subpath "/x"; {nested} }} }}')
    assert isinstance(rule, tree.SeatbeltRule)
    assert [word.text for word in rule.operations] == ["file-read*", "mach-lookup"]
    assert rule.filters[1].inner[1].inner[0].name.text == "literal"


def test_spans_cover_what_was_written() -> None:
    text = "sbx 1\nrules @r {\n  deny EPERM { a # c\n b } when (x == 1)  # d\n}\n"
    rules = tree_of(text).items[0]
    assert isinstance(rules, tree.RulesDefinition)
    assert rules.span.text == text[6:-1]
    assert rules.body[0].span.text == "deny EPERM { a # c\n b } when (x == 1)"


def test_carriage_returns_change_no_meaning_and_no_place() -> None:
    text = "sbx 1\n## why\nrules @r {\n  deny EPERM a # c\n}\n"
    unix, windows = tree_of(text), tree_of(text.replace("\n", "\r\n"))
    assert meaning(unix) == meaning(windows)
    assert [(i.span.line, i.span.column) for i in unix.items] == [(i.span.line, i.span.column) for i in windows.items]


def test_all_errors_of_a_file_are_told() -> None:
    text = "sbx 1\nprofile p {\n files { raed /a; root x\n read }\n limts { }\n network nne\n}\ngruop @a { }\n"
    assert [(d.span.line if d.span else 0) for d in errors_of(text)] == [3, 3, 4, 5, 6, 8]
