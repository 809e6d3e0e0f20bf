"""`sbc explain` of calls: the JSON of the contract, unknown arguments, and questions that are wrong."""

from pathlib import Path

import pytest

from sbc.analysis.explain.call import explain_call
from sbc.analysis.explain.question import QuestionError, read_call
from sbc.decision.table import Table
from tests.analysis.lowered import of_rules, of_text, shipped


def test_the_form_of_an_answer() -> None:
    answers = explain_call(shipped("agent-check")[0], "socket(AF_ALG, SOCK_RAW, 0)")
    assert [answer.abi for answer in answers] == ["x86_64", "aarch64"]
    answer = answers[0].json()
    rule = answer["rule"]
    assert rule["file"] == "<stock>"
    assert rule["line"] > 1
    assert answer == {
        "abi": "x86_64",
        "syscall": "socket",
        "nr": 41,
        "verdict": {"action": "errno", "errno": "EAFNOSUPPORT"},
        "rule": {
            "file": "<stock>",
            "line": rule["line"],
            "text": "deny EAFNOSUPPORT socket unless family in { AF_UNIX AF_INET AF_INET6 AF_NETLINK }",
            "reason": "Only the address families that builds use.",
        },
    }


def test_the_defaults_are_named() -> None:
    policy = shipped("agent-check")[0]
    assert explain_call(policy, "read", "x86_64")[0].json() == {
        "abi": "x86_64",
        "syscall": "read",
        "nr": 0,
        "verdict": {"action": "allow"},
        "rule": None,
        "by": "default",
    }
    assert explain_call(policy, "read", "i386")[0].json()["by"] == "foreign-abi"
    newer = explain_call(shipped("docker-default")[0], "open_tree_attr", "x86_64")[0].json()
    assert (newer["by"], newer["verdict"]) == ("newer", {"action": "errno", "errno": "EPERM"})


def test_a_call_that_the_abi_does_not_have() -> None:
    (answer,) = explain_call(shipped("agent-check")[0], "fork()", "aarch64")
    assert answer.json() == {
        "abi": "aarch64", "syscall": "fork", "nr": None, "verdict": None, "rule": None, "by": "absent"
    }  # fmt: skip
    assert answer.lines() == ("aarch64: there is no `fork` here",)


def test_unknown_arguments_give_every_outcome() -> None:
    (answer,) = explain_call(shipped("agent-check")[0], "clone", "x86_64")
    said = answer.json()
    assert (said["verdict"], said["by"]) == (None, "arguments")
    denied, allowed = said["outcomes"]
    assert denied["verdict"] == {"action": "errno", "errno": "EPERM"}
    assert int(denied["example"][0], 16) & 0x7E020000
    assert (allowed["by"], int(allowed["example"][0], 16) & 0x7E020000) == ("default", 0)


@pytest.mark.parametrize("text", ["socket(AF_ALG)", "socket(AF_ALG, _, _)", "socket(family=AF_ALG)", "socket(38, ...)"])
def test_what_no_rule_asks_may_be_left_out(text: str) -> None:
    (answer,) = explain_call(shipped("agent-check")[0], text, "x86_64")
    assert answer.json()["verdict"] == {"action": "errno", "errno": "EAFNOSUPPORT"}


def test_a_string_is_an_address() -> None:
    (answer,) = explain_call(shipped("agent-check")[0], 'mount("/dev/sda,1", "/mnt", "ext4", 0, NULL)', "x86_64")
    assert answer.json()["verdict"] == {"action": "errno", "errno": "EPERM"}


def test_too_complex_to_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sbc.analysis.explain.call.Table", lambda: Table(6))
    policy = shipped("agent-check")[0]
    with pytest.raises(QuestionError, match="too complex"):
        explain_call(policy, "clone", "x86_64")
    assert explain_call(policy, "clone(0, 0, 0, 0, 0, 0)", "x86_64")[0].outcomes[0].by == "default"


@pytest.mark.parametrize(
    ("text", "number"), [("nr 41", 41), ("41(AF_INET)", 41), ("0x29", 41), ("nr -1", 0xFFFFFFFF), ("nr 999", 999)]
)
def test_numbers(text: str, number: int) -> None:
    (answer,) = explain_call(shipped("agent-check")[0], text, "x86_64")
    assert answer.number == number


def test_constants_are_the_abis(tmp_path: Path) -> None:
    policy, _ = of_rules(tmp_path, "abi x86_64, mips64el\ndefault allow\ndeny EPERM socket when type == SOCK_STREAM")
    for abi, other in (("x86_64", 2), ("mips64el", 1)):
        assert explain_call(policy, "socket(AF_INET, SOCK_STREAM, 0)", abi)[0].outcomes[0].by == "rule"
        assert explain_call(policy, f"socket(AF_INET, {other}, 0)", abi)[0].outcomes[0].by == "default"


@pytest.mark.parametrize(
    ("text", "message", "help_text"),
    [
        ("sokcet(AF_INET)", "unknown system call `sokcet`", "did you mean `socket`?"),
        ("socket(AF_INT)", "unknown constant `AF_INT`", "did you mean `AF_INET`?"),
        ("socket(famly=1)", "`socket` has no argument `famly` on x86_64", "did you mean `family`?"),
        ("socket(1, 2, 3, 4, 5, 6, 7)", "a call has at most 6 arguments, here are 7", None),
        ("socket(AF_INET", "`socket(AF_INET` is not a call", "write it as in C: `socket(AF_INET, SOCK_STREAM, 0)`"),
        ("socket(1 + 1)", "`1 + 1` is not a value", "write numbers, constants, `A | B`, or `_` for any value"),
        ("nr 0x100000000", "0x100000000 does not fit the 32 bits of a call's number", None),
        ("", "`` is not a call", "write it as in C: `socket(AF_INET, SOCK_STREAM, 0)`"),
    ],
)
def test_wrong_questions(text: str, message: str, help_text: str | None) -> None:
    with pytest.raises(QuestionError) as error:
        explain_call(shipped("agent-check")[0], text)
    assert (str(error.value), error.value.help) == (message, help_text)


def test_wrong_abis() -> None:
    policy = shipped("agent-check")[0]
    with pytest.raises(QuestionError, match="unknown ABI `x86-64`"):
        explain_call(policy, "read", "x86-64")
    with pytest.raises(QuestionError, match="`agent-check` has no filter for riscv64"):
        explain_call(policy, "read", "riscv64")


def test_no_filter_at_all(tmp_path: Path) -> None:
    policy, _ = of_text(tmp_path, "profile case { syscalls none; files { root private } }")
    (answer,) = explain_call(policy, "ptrace", "x86_64")
    assert (answer.json()["verdict"], answer.json()["by"]) == ({"action": "allow"}, "syscalls none")
    assert len(explain_call(policy, "ptrace")) > 1


@pytest.mark.parametrize(
    ("text", "value"),
    [("0777", 0o777), ("0o777", 0o777), ("-01", -1), ("0", 0), ("00", 0), ("0x1F", 31), ("0X1f", 31), ("10", 10)],
)
def test_numbers_are_read_as_in_c(text: str, value: int) -> None:
    (asked,) = read_call(f"chmod({text})").args
    assert asked.terms == (value,)


@pytest.mark.parametrize("text", ["08", "0x", "0o8", "1_0", "1e3", "0777777777777777777777777777"])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(QuestionError):
        read_call(f"chmod({text})")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("socket(99999999999999999999999)", "99999999999999999999999 does not fit the 64 bits of a register"),
        ("socket(0x10000000000000000)", "0x10000000000000000 does not fit the 64 bits of a register"),
        ("socket(-9223372036854775809)", "-9223372036854775809 does not fit the 64 bits of a register"),
        ("socket(AF_ALG,,)", "argument 2 has no value"),
        ("socket(AF_ALG, )", "argument 2 has no value"),
        ("socket(family=)", "`family` has no value"),
        ("socket(family=1, family=2)", "the register in place 0 on x86_64 is given by `family` twice"),
        ("socket(family=1, domain=2)", "the register in place 0 on x86_64 is given by `family` and `domain`"),
        ("socket(type=1, 2)", "the register in place 1 on x86_64 is given by `type` and argument 2"),
        ("socket(1, arg0=1)", "the register in place 0 on x86_64 is given by argument 1 and `arg0`"),
        ("prctl(arg2=3)", "`arg2` of `prctl` is the kernel's name for the argument in place 1"),
    ],
)
def test_questions_that_say_a_thing_twice_or_not_at_all(text: str, message: str) -> None:
    with pytest.raises(QuestionError) as error:
        explain_call(shipped("agent-check")[0], text, "x86_64")
    assert str(error.value) == message


@pytest.mark.parametrize(
    "text", ["socket(0xffffffffffffffff)", "socket(-9223372036854775808)", "socket(type=1, protocol=0)"]
)
def test_questions_at_the_edge(text: str) -> None:
    assert explain_call(shipped("agent-check")[0], text, "x86_64")
