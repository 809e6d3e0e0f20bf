"""The plainest calls of `sbc run` are read without argparse, and mean exactly what they mean to it."""

from hypothesis import given, settings
from hypothesis import strategies as st

from sbc.cli.parser import build_parsers
from sbc.cli.plain import plain

WORDS = st.sampled_from([
    "p.sbx", "b.sbb", "-D", "-Da=b", "a=b", "", "-", "--gate", "--ga", "--json", "--report", "r", "run", "--help", "-x",
    "--color", "--", "--no-pty", "ü\udc80",
])  # fmt: skip
COMMANDS = st.lists(st.sampled_from(["true", "--", "-D", "--gate"]), max_size=3)


def by_argparse(arguments: list[str]) -> dict[str, object]:
    """What the parser makes of a call that it takes; `SystemExit` otherwise."""
    args, rest = build_parsers("run").whole.parse_known_args(arguments)
    assert rest == []
    return vars(args)


@settings(max_examples=300, deadline=None)
@given(st.lists(WORDS, max_size=6), COMMANDS)
def test_a_plain_call_is_what_argparse_takes_it_for(words: list[str], command: list[str]) -> None:
    words = [one for one in words if one != "--"]
    read = plain(["run", *words, "--", *command])
    if read is None:
        return
    expected = by_argparse(["run", *words])
    expected.pop("run")
    seen = {name: getattr(read, name) for name in expected}
    assert seen == expected
    assert read.command_line == command


def test_the_plainest_calls_are_plain() -> None:
    for words in (["b.sbb"], ["b.sbb", "-D", "a=b"], ["-D", "a=b", "--gate", "b.sbb", "-D", "c=d"]):
        assert plain(["run", *words, "--", "true"]) is not None, words


def test_every_other_call_is_for_argparse() -> None:
    for words in (
        ["check", "p.sbx", "--", "true"],
        ["run", "b.sbb"],
        ["run", "--", "true"],
        ["run", "b.sbb", "c.sbb", "--", "true"],
        ["run", "b.sbb", "-D", "--", "true"],
        ["run", "b.sbb", "--json", "--", "true"],
        ["run", "--help", "--", "true"],
    ):
        assert plain(words) is None, words
