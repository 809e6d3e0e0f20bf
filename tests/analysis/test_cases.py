"""Faults that users of such tools have met, as far as the policy decides them: each with the right value.

Tested elsewhere: names and numbers that do not exist (S14, S17) with the resolver's errors, S12 with the bwrap target,
S13 with the generator, S16 with the verifier, C1 with the parser, C2 and C3 with the commands; S1, S2, S15 and S18 also
stand in the truth tables.
"""

from pathlib import Path

import pytest

from sbc.analysis.words import verdict_text
from sbc.diagnostics.diagnostic import Failed
from sbc.kernel.constants import constants
from sbc.kernel.numbers import numbers
from sbc.policy.policy import Policy
from sbc.policy.syscalls import decide
from sbc_runtime.arch import ARCHES
from tests.analysis.lowered import of_rules, shipped

HEAD = "abi x86_64\ndefault allow\ninclude @stock-denylist\n"
X86_64, I386 = ARCHES["x86_64"].audit, ARCHES["i386"].audit


def verdict(policy: Policy, call: str | int, *args: int, abi: str = "x86_64", audit: int | None = None) -> str:
    """Give what the policy decides on register values."""
    filter_ = next(f for f in policy.syscalls.filters if any(a.arch.name == abi for a in f.abis))
    number = numbers(abi)[call] if isinstance(call, str) else call
    values = tuple(value & (1 << 64) - 1 for value in (*args, *(0,) * (6 - len(args))))
    made = decide(filter_, ARCHES[abi].audit if audit is None else audit, number, values)
    return verdict_text(made.verdict, abi)


def rules(folder: Path, text: str, head: str = HEAD) -> Policy:
    return of_rules(folder, head + text, "use <stock>")[0]


@pytest.mark.parametrize("number", [0x40000000 | 101, 0x40000000 | 521, 0xFFFFFFFF])
def test_s1_x32_numbers_are_foreign(number: int) -> None:
    assert verdict(shipped("agent-check")[0], number) == "kill-process"


def test_s2_32_bit_entry_is_foreign() -> None:
    assert verdict(shipped("agent-check")[0], 26, audit=I386) == "kill-process"


def test_s3_socketcall_needs_a_rule(tmp_path: Path) -> None:
    head = "abi x86_64 + i386\ndefault allow\n"
    rule = "deny EPERM socket when family == AF_ALG"
    with pytest.raises(Failed, match="socketcall"):
        rules(tmp_path, rule, head)
    policy = rules(tmp_path, rule + "\non i386 { deny ENOSYS socketcall }", head)
    assert verdict(policy, "socketcall", abi="i386") == "deny ENOSYS"


def test_s4_the_kernel_reads_32_bits_of_cmd(tmp_path: Path) -> None:
    policy = rules(tmp_path, "deny EPERM ioctl when cmd == TIOCSTI")
    command = constants("x86_64")["TIOCSTI"]
    assert verdict(policy, "ioctl", 0, command) == "deny EPERM"
    assert verdict(policy, "ioctl", 0, command | 1 << 32) == "deny EPERM"
    assert verdict(policy, "ioctl", 0, command + 1) == "allow"


def test_s5_the_high_word_of_an_unsigned_int_is_nothing(tmp_path: Path) -> None:
    policy = rules(tmp_path, "log personality when personality == 0")
    assert verdict(policy, "personality", 0xABCD << 32) == "log"
    assert verdict(policy, "personality", 1) == "allow"


def test_s6_a_negative_int_is_a_32_bit_pattern(tmp_path: Path) -> None:
    policy = rules(tmp_path, "log openat when dirfd == AT_FDCWD")
    for register in (-100, 0xFFFFFF9C, 0x12345678FFFFFF9C):
        assert verdict(policy, "openat", register) == "log"
    assert verdict(policy, "openat", 100) == "allow"


def test_s6_orders_on_signed_arguments_are_signed(tmp_path: Path) -> None:
    policy = rules(tmp_path, "log close_range when arg0:s32 < 0\nlog openat when dfd in -5..-1")
    assert [verdict(policy, "close_range", value) for value in (-1, 0xFFFFFFFF, 0)] == ["log", "log", "allow"]
    assert [verdict(policy, "openat", value) for value in (-6, -5, -1, 0)] == ["allow", "log", "log", "allow"]


def test_s7_conditions_joined_by_and_both_hold(tmp_path: Path) -> None:
    policy = rules(tmp_path, "log openat when dfd == 3 and flags has any O_CREAT")
    creat = constants("x86_64")["O_CREAT"]
    assert [verdict(policy, "openat", dfd, 0, flags) for dfd in (3, 4) for flags in (creat, 0)] == [
        "log", "allow", "allow", "allow"
    ]  # fmt: skip


def test_s15_a_call_that_one_abi_lacks(tmp_path: Path) -> None:
    text = "abi x86_64, aarch64\ndefault allow\ninclude @stock-denylist\ndeny EPERM { fork vfork clone }"
    policy, diagnostics = of_rules(tmp_path, text, "use <stock>")
    assert [d.code for d in diagnostics if d.code.startswith("SBX2")] == []
    assert [rule.call for rule in policy.syscalls.filters[1].abis[0].rules if rule.call == "fork"] == []
    assert verdict(policy, "fork") == "deny EPERM"


def test_s18_the_flags_of_clone_on_s390x(tmp_path: Path) -> None:
    head = "abi s390x\ndefault allow\ninclude @stock-denylist\n"
    policy = rules(tmp_path, "log getpid", head)
    new_user = constants("s390x")["CLONE_NEWUSER"]
    assert verdict(policy, "clone", 0, new_user, abi="s390x") == "deny EPERM"
    assert verdict(policy, "clone", new_user, 0, abi="s390x") == "allow"
