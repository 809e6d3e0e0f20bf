"""What the checks report, and where they keep silent."""

from pathlib import Path

import pytest

from sbc.analysis.calls import Calls
from sbc.decision.shadow import Undecided
from sbc.decision.table import Table, TooComplex
from sbc.diagnostics.diagnostic import Severity
from sbc.kernel.siblings import siblings
from sbc.policy.syscalls import AbiRules
from sbc_runtime.action import ALLOW, errno_verdict
from tests.analysis.lowered import SHIPPED, of_rules, of_text, shipped

HEAD = "abi x86_64, aarch64\nforeign-abi kill-process\n"


def found(folder: Path, rules: str, head: str = "use <stock>") -> list[tuple[str, int, str]]:
    """Give code, line and title of each report on the rules of a `syscalls` block; its first line is 1."""
    _, diagnostics = of_rules(folder, f"{HEAD}{rules}", head)
    before = 4 + HEAD.count("\n")
    return [(d.code, d.span.line - before if d.span else 0, d.title()) for d in diagnostics]


def codes(folder: Path, rules: str) -> list[str]:
    return [code for code, _, _ in found(folder, rules)]


@pytest.mark.parametrize("profile", SHIPPED)
def test_the_shipped_profiles_have_no_findings(profile: str) -> None:
    _, diagnostics = shipped(profile)
    assert [d.title() for d in diagnostics if d.severity is not Severity.NOTE] == []


STOCK = "default allow\ninclude @stock-denylist\n"


class TestDeadRules:
    def test_below_a_broader_rule(self, tmp_path: Path) -> None:
        rules = STOCK + "deny EPERM chroot\nallow openat2\ndeny EPERM openat2 when how == 0"
        assert [(code, line) for code, line, _ in found(tmp_path, rules)] == [("SBX500", 3), ("SBX500", 5)]

    def test_covered_by_several(self, tmp_path: Path) -> None:
        rules = STOCK + "allow getpriority when which < 3\nallow getpriority when which >= 2\nallow getpriority"
        assert found(tmp_path, rules)[0][:2] == ("SBX500", 5)

    def test_one_value_short_of_covered(self, tmp_path: Path) -> None:
        rules = STOCK + "allow getpriority when which < 3\nallow getpriority when which > 3\nlog getpriority"
        assert found(tmp_path, rules) == []

    def test_a_condition_that_never_holds(self, tmp_path: Path) -> None:
        rules = STOCK + "log getpriority when which == 1 and which == 2"
        assert codes(tmp_path, rules) == ["SBX500"]

    def test_alive_on_one_abi_is_alive(self, tmp_path: Path) -> None:
        assert codes(tmp_path, STOCK + "on aarch64 { log getpid }\nlog getpid") == []

    def test_relaxing_a_list_by_a_rule_above_it(self, tmp_path: Path) -> None:
        assert codes(tmp_path, "default allow\nallow setns\nallow bpf\ninclude @stock-denylist") == []

    def test_a_rule_below_the_list_comes_too_late(self, tmp_path: Path) -> None:
        assert codes(tmp_path, STOCK + "allow setns") == ["SBX500"]

    def test_a_named_call_of_a_rule_that_lives(self, tmp_path: Path) -> None:
        reports = found(tmp_path, STOCK + "log { getpid setns }")
        assert [(code, line) for code, line, _ in reports] == [("SBX501", 3)]
        assert "`setns`" in reports[0][2]

    def test_a_call_taken_out_of_a_group(self, tmp_path: Path) -> None:
        head = "use <groups>\nuse <stock>"
        rules = STOCK + "log getpid\nlog @default"
        assert [code for code, _, _ in found(tmp_path, rules, head)] == []

    def test_a_child_may_replace_its_parents_rules(self, tmp_path: Path) -> None:
        text = """use <stock>
profile parent {
  syscalls { abi x86_64; default allow; allow chroot; include @stock-denylist; log getpid }
  files { root private }
}
profile child extends parent { syscalls { include @stock-denylist; trap getpid } }
"""
        _, diagnostics = of_text(tmp_path, text, "child")
        assert [d.title() for d in diagnostics if d.severity is not Severity.NOTE] == []

    def test_what_is_too_complex_is_left_to_the_proof(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def fails(abi: AbiRules) -> tuple[Undecided, ...]:
            raise TooComplex("more than the budget", 1, str(abi))

        monkeypatch.setattr("sbc.analysis.dead_rules.undecided_rules", fails)
        assert codes(tmp_path, STOCK + "allow bpf") == []


def test_verdicts_of_what_is_too_complex_are_those_that_stand_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sbc.analysis.calls.Table", lambda: Table(40))
    calls = Calls(shipped("agent-check")[0].syscalls.filters[0].abis[0])
    assert calls.verdicts("clone") == {ALLOW, errno_verdict(1)}


class TestClone3:
    def test_eperm(self, tmp_path: Path) -> None:
        assert codes(tmp_path, "default allow\ndeny EPERM clone3\ninclude @stock-denylist") == ["SBX502"]

    def test_killed(self, tmp_path: Path) -> None:
        assert codes(tmp_path, "default allow\nkill-process clone3\ninclude @stock-denylist") == ["SBX502"]

    def test_by_default_of_an_allow_list(self, tmp_path: Path) -> None:
        rules = "default deny EPERM\nnewer than linux 6.12 deny ENOSYS\nallow { read clone }"
        assert codes(tmp_path, rules) == ["SBX502"]

    def test_no_threads_are_meant(self, tmp_path: Path) -> None:
        rules = "default deny EPERM\nnewer than linux 6.12 deny ENOSYS\nallow { read write }"
        assert codes(tmp_path, rules) == []


class TestNewer:
    def test_an_allow_list_without(self, tmp_path: Path) -> None:
        assert found(tmp_path, "default deny EPERM\nallow read")[0][:2] == ("SBX503", 1)

    @pytest.mark.parametrize("default", ["kill-process", "trap", "deny 38", "deny ENOSYS"])
    def test_what_programs_take_for_absent(self, tmp_path: Path, default: str) -> None:
        assert codes(tmp_path, f"default {default}\nallow read") == ([] if default[-2:] in ("38", "YS") else ["SBX503"])


class TestIoUring:
    def test_sockets_denied_by_rule(self, tmp_path: Path) -> None:
        rules = "default allow\nallow io_uring_*\ninclude @stock-denylist"
        ((code, line, title),) = found(tmp_path, rules)
        assert (code, line) == ("SBX504", 2)
        assert all(call in title for call in ("`io_uring_setup`", "`io_uring_enter`", "`io_uring_register`"))

    def test_an_allow_list_without_sockets(self, tmp_path: Path) -> None:
        rules = "default deny ENOSYS\nallow { read openat io_uring_setup io_uring_enter }"
        assert codes(tmp_path, rules) == ["SBX504"]

    def test_the_ring_cannot_be_made(self, tmp_path: Path) -> None:
        rules = "default deny ENOSYS\nallow { read io_uring_enter }"
        assert codes(tmp_path, rules) == []

    def test_nothing_of_its_work_is_denied(self, tmp_path: Path) -> None:
        rules = "default allow\nallow { io_uring_* socket }\ninclude @stock-denylist"
        assert codes(tmp_path, rules) == []

    @pytest.mark.parametrize("call", ["openat", "openat2", "statx", "connect", "sendto", "read", "mkdirat"])
    def test_one_call_of_a_row_is_denied(self, tmp_path: Path, call: str) -> None:
        rules = f"default allow\nallow {{ io_uring_* socket }}\ndeny EPERM {call}\ninclude @stock-denylist"
        assert [title for code, _, title in found(tmp_path, rules) if code == "SBX504"] == [
            f"`{call}` is denied, but `io_uring_setup`, `io_uring_enter` and `io_uring_register` are open: "
            "a ring carries it out unseen"
        ]

    def test_one_call_of_a_row_is_denied_for_some_arguments(self, tmp_path: Path) -> None:
        rules = "default allow\nallow { io_uring_* socket }\ndeny EPERM openat when flags has any O_CREAT"
        assert "SBX504" in codes(tmp_path, f"{rules}\ninclude @stock-denylist")

    @pytest.mark.parametrize("rule", ["deny ENOSYS openat2", "deny EPERM chmod", "deny EPERM { fork vfork }"])
    def test_what_a_ring_adds_nothing_to(self, tmp_path: Path, rule: str) -> None:
        rules = f"default allow\nallow {{ io_uring_* socket }}\n{rule}\ninclude @stock-denylist"
        assert "SBX504" not in codes(tmp_path, rules)

    def test_an_allow_list_of_the_newer_call(self, tmp_path: Path) -> None:
        rules = "default deny ENOSYS\nallow { %s io_uring_* }"
        every = "openat unlinkat renameat renameat2 mkdirat symlinkat linkat ftruncate fallocate fsetxattr fgetxattr "
        every += "statx socket connect bind listen accept4 shutdown sendto recvfrom read write splice fsync fadvise64"
        assert codes(tmp_path, rules % every) == []
        assert codes(tmp_path, rules % every.replace("connect", "")) == ["SBX504"]


class TestSiblings:
    @pytest.mark.parametrize(
        ("call", "newer"),
        [("openat", "openat2"), ("fchmodat", "fchmodat2"), ("chown", "fchownat"),
         ("accept", "accept4"), ("newfstatat", "statx"), ("renameat", "renameat2")],
    )  # fmt: skip
    def test_a_newer_one_whatever_else_is_open(self, tmp_path: Path, call: str, newer: str) -> None:
        titles = [title for code, _, title in found(tmp_path, STOCK + f"deny EPERM {call}") if code == "SBX505"]
        assert len(titles) == 1
        assert f"`{newer}` " in titles[0]

    def test_chmod(self, tmp_path: Path) -> None:
        ((code, line, title),) = found(tmp_path, STOCK + "deny EPERM chmod")
        assert (code, line) == ("SBX505", 3)
        assert "`fchmodat2` (Linux 6.6)" in title

    def test_all_but_the_newest(self, tmp_path: Path) -> None:
        ((_, _, title),) = found(tmp_path, STOCK + "deny EPERM { chmod fchmod fchmodat }")
        assert title == "`chmod` is denied, but `fchmodat2` (Linux 6.6) can do its work and is open"

    def test_all(self, tmp_path: Path) -> None:
        assert codes(tmp_path, STOCK + "deny EPERM { chmod fchmod fchmodat fchmodat2 }") == []

    @pytest.mark.parametrize("call", ["openat2", "statx", "memfd_secret", "process_madvise", "faccessat2"])
    def test_a_newer_call_whose_elders_are_open(self, tmp_path: Path, call: str) -> None:
        assert codes(tmp_path, STOCK + f"deny EPERM {call}") == []

    def test_the_mount_calls(self, tmp_path: Path) -> None:
        rules = "default allow\nlog getpid\ndeny EPERM { mount open_tree move_mount fsmount fsopen fsconfig fspick }"
        reports = [r for r in found(tmp_path, rules) if r[0] == "SBX505"]
        assert "`open_tree_attr` (Linux 6.15)" in reports[0][2]

    def test_a_newer_default_closes_them(self, tmp_path: Path) -> None:
        rules = STOCK + "newer than linux 6.5 deny ENOSYS\ndeny EPERM { chmod fchmod fchmodat }"
        assert codes(tmp_path, rules) == []

    def test_clone_by_its_flags(self, tmp_path: Path) -> None:
        rules = "default allow\nallow clone3\ndeny EPERM clone when flags has any 0x10000000\ninclude @stock-denylist"
        ((code, _, title),) = found(tmp_path, rules)
        assert code == "SBX505"
        assert title == "`clone` is denied, but `clone3` (Linux 5.3) can do its work and is open"

    def test_an_older_door_to_the_kernel(self, tmp_path: Path) -> None:
        reports = found(tmp_path, "default allow\nlog getpid\ndeny EPERM finit_module")
        assert [code for code, _, _ in reports] == ["SBX506", "SBX505"]

    def test_every_relation_has_two_sides(self) -> None:
        """The age of a call is read from its siblings' entries."""
        for call, others in siblings().items():
            first = siblings().get(others[0].call, ())
            assert call in {sibling.call for sibling in first}, call


def test_default_allow_alone(tmp_path: Path) -> None:
    assert codes(tmp_path, "default allow\ndeny EPERM keyctl") == ["SBX506"]


@pytest.mark.parametrize("verdict", ["allow", "log"])
def test_a_foreign_abi_that_is_let_in(tmp_path: Path, verdict: str) -> None:
    text = f"""use <stock>
profile case {{
  syscalls {{ abi x86_64; foreign-abi {verdict}; default allow; include @stock-denylist }}
  files {{ root private }}
}}
"""
    _, diagnostics = of_text(tmp_path, text)
    assert [d.code for d in diagnostics] == ["SBX507"]


def test_c4_the_childs_statement_stands_and_is_told(tmp_path: Path) -> None:
    text = """profile parent { files { root private; write /srv/data } }
profile child extends parent { files { read /srv/data } }
"""
    policy, diagnostics = of_text(tmp_path, text, "child")
    assert [(rule.access, str(rule.path)) for rule in policy.files.rules] == [("read", "/srv/data")]
    assert [(d.code, d.title()) for d in diagnostics] == [
        ("SBX540", "`read /srv/data` replaces the parent's `write /srv/data`")
    ]


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ('allow file-reed* { subpath "/x" }', "SBX420"),
        ('allow file-read* { subpth "/x" }', "SBX422"),
        ('allow file-read* { regex "(((" }', "SBX424"),
        ('allow file-read* { regex "(?:a)" }', "SBX424"),
        ('allow file-read* { regex "^/a(b|c)" }', None),
        ("allow file-read* { vnode-type NONSENSE }", "SBX424"),
        ("allow file-read* { vnode-type SYMLINK }", None),
        ('import ""', "SBX424"),
        ('import "../x.sb"', "SBX424"),
        ('import "/a/../x.sb"', "SBX425"),
        ('import "system.sb"', None),
        ('on linux { allow file-reed* { subpath "/x" } }', "SBX420"),
    ],
)
def test_the_words_of_seatbelt_are_checked_by_every_check(tmp_path: Path, statement: str, code: str | None) -> None:
    text = f"profile case {{ files {{ root host }}\nseatbelt {{ {statement} }} }}\n"
    _, diagnostics = of_text(tmp_path, text)
    assert [one.code for one in diagnostics if one.severity is Severity.ERROR] == ([code] if code else [])


def test_errors_of_other_profiles_that_analyses_find(tmp_path: Path) -> None:
    other = "syscalls { default allow; deny EPERM getpid; deny EPERM getpid }"
    text = f"profile a {{ files {{ root host }} }}\nprofile b {{ files {{ root host }}\n{other} }}\n"
    assert [one.code for one in of_text(tmp_path, text, "a")[1]] == ["SBX500"]
