"""The `syscalls` block: filters, order, defaults, names, inheritance."""

import pytest

from sbc.diagnostics.catalogue.verdicts import OpenMultiplexer
from sbc.policy.conditions import Masked, Not
from sbc.policy.syscalls import Newer
from sbc_runtime.action import ALLOW, KILL_PROCESS, Action, Verdict, errno_verdict
from tests.resolve.lowered import FILES, codes, policy, rules_on, told, with_blocks, with_calls


def names(rules: str, abi: str = "x86_64", head: str = "") -> list[str]:
    return [rule.call for rule in rules_on(abi, rules, head).rules]


def test_rules_keep_the_order_of_the_source() -> None:
    head = "group @g { kcmp ptrace }\nrules @r {\n  ## why\n  deny EPERM reboot\n}"
    found = rules_on("x86_64", "deny EPERM @g\ninclude @r\nallow { mount @g }", head).rules
    assert [rule.call for rule in found] == ["kcmp", "ptrace", "reboot", "mount", "kcmp", "ptrace"]
    reboot = found[2]
    assert (reboot.origin.text, reboot.origin.reason, reboot.origin.line) == ("deny EPERM reboot", "why", 5)
    assert [rule.number for rule in found[:2]] == [312, 101]


def test_patterns_expand_over_every_table() -> None:
    assert names("deny EPERM io_uring_*") == ["io_uring_enter", "io_uring_register", "io_uring_setup"]
    assert codes(with_calls("deny EPERM io_urign_*")) == ["SBX205"]


def test_each_abi_has_its_own_numbers() -> None:
    found = policy(with_calls("deny EPERM { fork ptrace umount }", "x86_64 + i386, aarch64")).syscalls.filters
    assert [one.name for one in found] == ["x86_64", "aarch64"]
    assert [[(r.call, r.number) for r in abi.rules] for abi in found[0].abis] == [
        [("fork", 57), ("ptrace", 101)],
        [("fork", 2), ("ptrace", 26), ("umount", 22)],
    ]
    assert [(r.call, r.number) for r in found[1].abis[0].rules] == [("ptrace", 117)]


def test_on_limits_rules_and_may_be_idle() -> None:
    text = with_calls("on i386 { deny EPERM kcmp }\non x86_64 s390x { deny EPERM ptrace }", "x86_64 + i386")
    (found,) = policy(text).syscalls.filters
    assert [[rule.call for rule in abi.rules] for abi in found.abis] == [["ptrace"], ["kcmp"]]
    assert codes(with_calls("on s390x { deny EPERM kcmp }")) == []
    assert codes(with_calls("on s390x { deny EPERM open when flgs == 1 }")) == ["SBX208"]


def test_errno_has_the_value_of_the_abi() -> None:
    found = policy(with_calls("deny EDEADLK kcmp", "x86_64, mips64el")).syscalls.filters
    assert [one.abis[0].rules[0].verdict for one in found] == [errno_verdict(35), errno_verdict(45)]


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        ("allow", ALLOW),
        ("kill-process", KILL_PROCESS),
        ("kill-thread", Verdict(Action.KILL_THREAD)),
        ("trap", Verdict(Action.TRAP)),
        ("trace 7", Verdict(Action.TRACE, 7)),
        ("log", Verdict(Action.LOG)),
        ("notify", Verdict(Action.NOTIFY)),
        ("deny 4095", errno_verdict(4095)),
    ],
)
def test_verbs(verdict: str, expected: Verdict) -> None:
    assert rules_on("x86_64", f"{verdict} kcmp").rules[0].verdict == expected


@pytest.mark.parametrize("value", ["0", "4096"])
def test_errno_out_of_range(value: str) -> None:
    assert codes(with_calls(f"deny {value} kcmp")) == ["SBX220"]


def test_a_negative_errno_is_refused() -> None:
    assert codes(with_calls("deny -1 kcmp"))


def test_foreign_abis() -> None:
    (found,) = policy(with_calls("foreign-abi deny ENOSYS")).syscalls.filters
    assert found.foreign == errno_verdict(38)
    (found,) = policy(with_calls("")).syscalls.filters
    assert found.foreign == KILL_PROCESS
    assert found.foreign_origin.text == "no `foreign-abi` statement"


def test_without_a_block_the_stock_list_holds_on_every_abi() -> None:
    found = policy(f"sbx 1\nprofile p {{ {FILES} }}\n").syscalls
    assert [one.name for one in found.filters] == [
        "x86_64", "aarch64", "riscv64", "s390x", "ppc64le", "arm", "i386", "loongarch64", "mips64el",
    ]  # fmt: skip
    assert all(len(one.abis) == 1 and one.abis[0].default == ALLOW for one in found.filters)
    assert {rule.origin.file for rule in found.filters[0].abis[0].rules} == {"<stock>"}
    assert found.origin.span is None


def test_none_is_no_filter() -> None:
    found = policy(with_blocks("syscalls none"))
    assert found.syscalls.filters == ()
    assert "syscalls none" in [one.text for one in found.statements()]


def test_newer_covers_the_main_table_alone() -> None:
    rules = "newer than linux 6.12 deny ENOSYS"
    (joined, arm) = policy(with_calls(rules, "x86_64 + x32, arm")).syscalls.filters
    by_name = {abi.arch.name: abi.newer for one in (joined, arm) for abi in one.abis}
    assert isinstance(by_name["x86_64"], Newer)
    assert (by_name["x86_64"].low, by_name["x86_64"].high) == (463, 0x3FFFFFFF)
    assert by_name["x32"] is None
    assert isinstance(by_name["arm"], Newer)
    assert by_name["arm"].high == 0xEFFFF


def test_multiplexers_need_a_rule() -> None:
    rule = "deny EAFNOSUPPORT socket unless family == AF_UNIX"
    assert codes(with_calls(rule, "x86_64 + i386")) == ["SBX229"]
    assert codes(with_calls(rule, "x86_64")) == []
    assert codes(with_calls(f"{rule}\non i386 {{ deny ENOSYS socketcall }}", "x86_64 + i386")) == []
    assert codes(with_calls(f"{rule}\non i386 {{ deny ENOSYS socketcall }}", "i386, s390x")) == ["SBX229"]
    assert codes(with_calls("deny EPERM shmat when shmid == 0", "s390x")) == ["SBX229"]


@pytest.mark.parametrize(
    ("rules", "abi", "open_calls"),
    [
        ("deny EPERM socket", "x86_64 + i386", ["socket"]),
        ("log socket", "i386", ["socket"]),
        ("notify socket", "i386", ["socket"]),
        ("allow socket", "i386", []),
        ("deny EPERM accept", "i386", ["accept"]),  # i386 has it through socketcall alone
        ("deny EPERM semop", "i386", ["semop"]),
        ("deny EPERM { socket bind }\ndeny ENOSYS socketcall when call == SYS_BIND", "i386", ["socket"]),
        ("deny EPERM { socket bind }\ndeny ENOSYS socketcall when call in { SYS_BIND SYS_SOCKET }", "i386", []),
        ("deny EPERM bind\ndeny ENOSYS socketcall when call == SYS_BIND and args == 0", "i386", ["bind"]),
        ("deny EPERM bind\ndeny ENOSYS socketcall unless call == SYS_CONNECT", "i386", []),
        ("deny EPERM shmat\ndeny ENOSYS ipc when call == SHMAT", "i386", ["shmat"]),  # a version is above the code
        ("deny EPERM shmat\ndeny ENOSYS ipc when call & 0xffff == SHMAT", "i386", []),
        ("deny EPERM shmat\ndeny ENOSYS ipc when call == SHMAT", "s390x", []),
        ("allow socket\ndeny EPERM socket", "i386", []),  # never decides, which is told elsewhere
        ("deny EPERM socket when family == AF_ALG\ndeny EACCES socket when family == AF_ALG", "i386", ["socket"]),
        ("deny EPERM socket\nallow socketcall", "i386", []),  # said out loud
        ("deny EPERM socket*", "i386", []),
    ],
)
def test_a_rule_is_worth_nothing_where_a_multiplexer_is_open(rules: str, abi: str, open_calls: list[str]) -> None:
    found = told(with_calls(rules, abi))[1].diagnostics
    told_calls = [one.call for one in found if isinstance(one, OpenMultiplexer)]
    assert list(dict.fromkeys(told_calls)) == open_calls


def test_an_allow_list_leaves_the_multiplexer_denied() -> None:
    def allowing(default: str, rules: str) -> list[str]:
        text = with_calls(rules, "x86_64 + i386").replace("default allow", f"default {default}")
        return [code for code in codes(text) if code == "SBX229"]

    assert allowing("deny EPERM", "allow socket when family == AF_UNIX") == []
    assert allowing("deny EPERM", "allow socket when family == AF_UNIX\nkill-process socket") == []
    assert allowing("deny EPERM", "deny EACCES socket\nallow socketcall when call == SYS_BIND") == []
    assert allowing("log", "deny EPERM socket") == ["SBX229"]
    assert allowing("log", "log socket") == []


def test_absent_calls_are_a_note_where_named() -> None:
    assert codes(with_calls("deny EPERM fork", "aarch64")) == ["SBX209"]
    assert codes(with_calls("deny EPERM fork", "aarch64, x86_64")) == []
    assert codes(with_calls("deny EPERM @g", "aarch64", "group @g { fork kcmp }")) == []


PARENT = """
profile base {
  files { root private; read /usr }
  syscalls { abi x86_64, aarch64; default deny EPERM; newer than linux 6.1 deny ENOSYS; allow { read write } }
}
"""


def test_a_child_comes_first_and_replaces() -> None:
    child = "profile child extends base { syscalls { abi x86_64; default deny EACCES; deny EPERM write } }"
    text = f'sbx 1\nuse "base.sbx"\n{child}\n'
    found = policy(text, files={"base.sbx": f"sbx 1\n{PARENT}"})
    (only,) = found.syscalls.filters
    assert [(rule.call, rule.verdict) for rule in only.abis[0].rules] == [
        ("write", errno_verdict(1)),
        ("read", ALLOW),
        ("write", ALLOW),
    ]
    assert only.abis[0].default == errno_verdict(13)
    assert only.abis[0].newer is not None
    assert [(one.child.text, one.parent.text) for one in found.overrides] == [
        ("default deny EACCES", "default deny EPERM"),
        ("abi x86_64", "abi x86_64, aarch64"),
    ]


def test_a_childs_none_replaces_the_whole_block() -> None:
    text = f"sbx 1\n{PARENT}\nprofile child extends base {{ syscalls none }}\n"
    found = policy(text, "child")
    assert found.syscalls.filters == ()
    assert [(one.child.text, one.parent.text) for one in found.overrides] == [("syscalls none", "syscalls")]


def test_all_errors_are_told_at_once() -> None:
    text = with_calls("deny EPRM ptrcae\ndeny EPERM close when fdd == 1\ndeny EPERM @nothing")
    assert codes(text) == ["SBX201", "SBX204", "SBX207", "SBX208"]


def test_the_error_of_the_architecture_page() -> None:
    _, reporter = told(with_calls("deny EAFNOSUPPORT socket unless family in { AF_UNIX O_WRONLY }"))
    (found,) = reporter.diagnostics
    assert found.title() == "`O_WRONLY` is not a value of `socket`'s argument `family`"
    assert (found.label(), found.help()) == ("a flag of open(2)", "did you mean `AF_INET`?")


def test_rules_that_include_others_twice_over_end() -> None:
    head = "".join(f"rules @r{i} {{ include @r{i + 1}; include @r{i + 1} }}\n" for i in range(60))
    found = rules_on("x86_64", "include @r0", head + "rules @r60 { deny EPERM kcmp }")
    assert [rule.call for rule in found.rules] == ["kcmp"]


def test_a_large_condition_on_every_call_ends() -> None:
    values = " ".join(map(str, range(5000)))
    rules = f"deny EPERM {{ * }} when arg0:u32 in {{ {values} }}"
    found = policy(with_calls(rules, "x86_64, aarch64, riscv64, s390x")).syscalls.filters
    assert all(len({id(rule.condition) for rule in one.abis[0].rules}) == 1 for one in found)


def test_nesting_of_names_is_bounded() -> None:
    groups = "".join(f"group @g{i} {{ @g{i + 1} }}\n" for i in range(3000)) + "group @g3000 { kcmp }"
    assert set(codes(with_calls("deny EPERM @g0", head=groups))) == {"SBX219"}
    rules = "".join(f"rules @r{i} {{ include @r{i + 1} }}\n" for i in range(3000)) + "rules @r3000 { deny EPERM kcmp }"
    assert set(codes(with_calls("include @r0", head=rules))) == {"SBX219"}
    on = "on x86_64 {\n" * 60
    deep = "".join(f"rules @r{i} {{ {on} include @r{i + 1} {'}' * 60} }}\n" for i in range(40))
    assert set(codes(with_calls("include @r0", head=deep + "rules @r40 { deny EPERM kcmp }"))) == {"SBX219"}


def test_a_long_row_of_nots() -> None:
    (rule,) = rules_on("x86_64", f"deny EPERM close when {'not ' * 4001} fd == 1").rules
    assert rule.condition == Not(Masked(0, 32, 0xFFFFFFFF, 1))
