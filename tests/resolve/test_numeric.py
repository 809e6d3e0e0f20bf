"""Widths, signs and every test, on each ABI's own C types."""

import re

import pytest

from sbc.policy.conditions import ALWAYS, NEVER, AllOf, AnyOf, Between, Condition, Masked, Not, holds
from tests.resolve.lowered import codes, rules_on, told, with_calls

M16, M32, M64 = 0xFFFF, 0xFFFFFFFF, (1 << 64) - 1


def condition(rule: str, abi: str = "x86_64", head: str = "") -> Condition:
    (found,) = rules_on(abi, rule, head).rules
    return found.condition


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("close when fd == 5", Masked(0, 32, M32, 5)),
        ("close when fd == -1", Masked(0, 32, M32, M32)),
        ("close when fd != 5", Not(Masked(0, 32, M32, 5))),
        ("close when fd < 5", Between(0, 32, 0, 4)),
        ("close when fd > 5", Between(0, 32, 6, M32)),
        ("close when fd >= 0", ALWAYS),
        ("close when fd < 0", NEVER),
        ("close when fd in 3..9", Between(0, 32, 3, 9)),
        ("close when fd in { 3 4 3 }", AnyOf((Masked(0, 32, M32, 3), Masked(0, 32, M32, 4)))),
        ("openat when dfd == AT_FDCWD", Masked(0, 32, M32, M32 - 99)),
        ("openat when dfd < 0", Between(0, 32, 0x80000000, M32)),
        ("openat when dfd < 1", AnyOf((Between(0, 32, 0x80000000, M32), Masked(0, 32, M32, 0)))),
        ("openat when dfd >= 0", Between(0, 32, 0, 0x7FFFFFFF)),
        ("openat when dfd in -2..-1", Between(0, 32, M32 - 1, M32)),
        ("openat when mode == 0o777", Masked(3, 16, M16, 0o777)),
        ("openat when flags & O_ACCMODE == O_RDONLY", Masked(2, 32, 3, 0)),
        ("openat when flags has all O_TMPFILE", Masked(2, 32, 0o20200000, 0o20200000)),
        ("openat when flags has any O_CREAT | O_EXCL", Not(Masked(2, 32, 0o300, 0))),
        ("openat when flags has none { O_CREAT O_EXCL }", Masked(2, 32, 0o300, 0)),
        ("openat when flags has only O_CREAT", Masked(2, 32, M32 ^ 0o100, 0)),
        ("openat when flags has only -1", ALWAYS),
        ("lseek when offset < 0", Between(1, 64, 1 << 63, M64)),
        ("mmap when addr == 0", Masked(0, 64, M64, 0)),
        ("mount when data != 0", Not(Masked(4, 64, M64, 0))),
        ("clone when flags has any CLONE_NEWUSER", Not(Masked(0, 64, 0x10000000, 0))),
        ("socket when domain == AF_INET", Masked(0, 32, M32, 2)),
        ("socket unless family in { AF_UNIX AF_INET }", Not(AnyOf((Masked(0, 32, M32, 1), Masked(0, 32, M32, 2))))),
        (
            "socket when not family == 1 and type == 2 or protocol == 3",
            AnyOf(
                (AllOf((Not(Masked(0, 32, M32, 1)), Masked(1, 32, M32, 2))), Masked(2, 32, M32, 3)),
            ),
        ),
        (
            "socket when not (family == 1 or not type == 2)",
            Not(AnyOf((Masked(0, 32, M32, 1), Not(Masked(1, 32, M32, 2))))),
        ),
        ("ioctl when cmd == TIOCSTI", Masked(1, 32, M32, 0x5412)),
    ],
)
def test_tests_become_bits(test: str, expected: Condition) -> None:
    assert condition(f"deny EPERM {test}") == expected


@pytest.mark.parametrize(
    ("abi", "rule", "expected"),
    [
        # clone's flags are argument 1 on s390x, and of the ABI's word everywhere
        ("s390x", "clone when flags has any CLONE_NEWUSER", Not(Masked(1, 64, 0x10000000, 0))),
        ("aarch64", "clone when flags has any CLONE_NEWUSER", Not(Masked(0, 64, 0x10000000, 0))),
        ("i386", "clone when flags has any CLONE_NEWUSER", Not(Masked(0, 32, 0x10000000, 0))),
        ("i386", "chown when user == 0", Masked(1, 16, M16, 0)),
        ("i386", "chown32 when user == 0", Masked(1, 32, M32, 0)),
        ("i386", "mmap when arg0 != 0", Not(Masked(0, 32, M32, 0))),
        ("arm", "openat when flags has any O_DIRECTORY", Not(Masked(2, 32, 0o40000, 0))),
        ("x86_64", "openat when flags has any O_DIRECTORY", Not(Masked(2, 32, 0o200000, 0))),
    ],
)
def test_each_abi_has_its_own_places_and_values(abi: str, rule: str, expected: Condition) -> None:
    assert condition(f"deny EPERM {rule}", abi) == expected


def test_a_group_stands_for_its_members() -> None:
    head = "group @more { AF_NETLINK @some }\ngroup @some { AF_UNIX 10 }"
    found = condition("deny EPERM socket when family in { @more AF_INET }", head=head)
    assert found == AnyOf(tuple(Masked(0, 32, M32, value) for value in (16, 1, 10, 2)))
    mask = condition("deny EPERM unshare when flags has any @ns", head="group @ns { CLONE_NEWNS CLONE_NEWPID }")
    assert mask == Not(Masked(0, 64, 0x20020000, 0))


def test_a_type_overrides_the_kernels_and_is_a_lint() -> None:
    assert condition("deny EPERM close when arg0:s32 < 0") == Between(0, 32, 0x80000000, M32)
    assert codes(with_calls("deny EPERM close when arg0:s32 < 0")) == ["SBX255"]
    assert codes(with_calls("deny EPERM close when arg0:u32 == 0")) == []
    assert condition("deny EPERM close when arg5:u64 == 1") == Masked(5, 64, M64, 1)


def test_the_name_must_exist_in_each_call() -> None:
    assert codes(with_calls("deny EPERM { open openat } when flags has any O_CREAT")) == []
    assert codes(with_calls("deny EPERM { open close } when flags has any O_CREAT")) == ["SBX208"]


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ("close when fd == 0x100000000", "SBX256"),
        ("close when fd == -0x80000001", "SBX256"),
        ("openat when dfd < 0x80000000", "SBX257"),
        ("openat when dfd in 0..0xffffffff", "SBX257"),
        ("close when fd in 5..4", "SBX258"),
        ("close when fd in -1..5", "SBX258"),
        ("open when flags has any O_RDONLY", "SBX259"),
        ("open when flags has only 0", "SBX259"),
        ("open when flags has any O_TMPFILE", "SBX260"),
        ("open when flags has any { O_CREAT O_TMPFILE }", "SBX260"),
        ("open when flags & O_ACCMODE == O_CREAT", "SBX261"),
        ("open when flags & 0 == 0", "SBX262"),
        ("mount when data > 0", "SBX263"),
        ("socket when family in { }", "SBX265"),
        ("mount when data in { 0 }", "SBX263"),
        ("mount when arg4 has any 1", "SBX263"),
    ],
)
def test_what_can_mean_nothing_is_refused(rule: str, code: str) -> None:
    assert codes(with_calls(f"deny EPERM {rule}")) == [code]


@pytest.mark.parametrize(
    ("call", "name", "ways"),
    [
        ("prctl", "arg2", ["`arg1:u64`", "`arg2:u64`"]),
        ("prctl", "arg4", ["`arg3:u64`", "`arg4:u64`"]),
        ("prctl", "arg5", ["`arg4:u64`"]),
        ("keyctl", "arg2", ["`arg1:u64`", "`arg2:u64`"]),
        ("arch_prctl", "arg2", ["`arg1:u64`"]),
    ],
)
def test_a_place_that_is_also_a_name_elsewhere(call: str, name: str, ways: list[str]) -> None:
    (told_of,) = told(with_calls(f"deny EPERM {call} when {name} == 1"))[1].diagnostics
    assert told_of.code == "SBX267"
    assert re.findall(r"`arg\d:\w+`", told_of.help() or "") == ways


@pytest.mark.parametrize("subject", ["arg0", "arg1", "option", "arg2:u64", "arg1:u64"])
def test_places_with_one_meaning(subject: str) -> None:
    assert codes(with_calls(f"deny EPERM prctl when {subject} == 1")) == []


def test_the_kernels_name_is_the_place_where_both_agree() -> None:
    assert codes(with_calls("deny EPERM sysfs when arg1 == 1 and arg2 == 2")) == []


@pytest.mark.parametrize(
    ("group", "value", "held"),
    [
        ("-1", 0xFFFFFFFF, True),
        ("1 | 2", 3, True),
        ("1 | 2", 1, False),
        ("AF_UNIX | AF_INET", 3, True),
        ("7, -2", 7, True),
    ],
)
def test_members_of_groups_are_values_as_in_sets(group: str, value: int, held: bool) -> None:
    found = rules_on("x86_64", "deny EPERM socket when family in @g", f"group @g {{ {group} }}").rules
    assert holds(found[0].condition, (value, 0, 0, 0, 0, 0)) == held
    same = rules_on("x86_64", f"deny EPERM socket when family in {{ {group} }}").rules
    assert same[0].condition == found[0].condition


def test_members_that_are_no_constants() -> None:
    assert codes(with_calls("deny EPERM ptrace", "x86_64", "group @g { read | 1 }")) == ["SBX202"]
    assert codes(with_calls("deny EPERM ptrace", "x86_64", "group @g { AF_INXT | 1 }")) == ["SBX202"]
