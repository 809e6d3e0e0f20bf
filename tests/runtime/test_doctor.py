"""Doctor: what works is tried, and reasons come from failures that are made to happen."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sbc_runtime import doctor, doctor_cache
from sbc_runtime.doctor_reasons import Machine, explain, machine
from sbc_runtime.errors import SetupFailed
from sbc_runtime.outcome import Failure
from tests.runtime.support import RAN, Caller, bundle
from tests.runtime.test_outcomes import PLAIN
from tests.shared_data import ROOT

PROGRAM = """
import json, sys
sys.path.insert(0, sys.argv[1])
from sbc_runtime import doctor_cache
# What it finds in a sandbox is no answer for the runs of other tests, which read the same user's.
doctor_cache.remember = doctor_cache.forget = lambda *_: None
BEFORE
from sbc_runtime.doctor import diagnose
print(json.dumps(diagnose().to_json()))
"""

FILTER = """
from sbc_runtime import libc
from sbc_runtime.arch import native_arch
from sbc_runtime.instruction import *
import os
allow = Instruction(RET | K, 0, 0, 0x7fff0000)
program = [Instruction(LD | W | ABS, 0, 0, OFFSET_NR)]
for number, code in DENIED:
    program += [Instruction(JMP | JEQ | K, 0, 1, number), Instruction(RET | K, 0, 0, 0x50000 | code)]
libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
libc.FilterProgram(pack((*program, allow), native_arch(os.uname().machine).byte_order)).load()
"""


def program(before: str = "") -> str:
    return PROGRAM.replace("BEFORE", before)


def checks(told: str) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in json.loads(told)["checks"]}


def denied(*pairs: tuple[str, int]) -> dict[str, dict[str, Any]]:
    """Diagnose under a filter that denies calls with an errno, as a container's does."""
    from sbc_runtime.numbers import calls

    known = calls(os.uname().machine)
    numbers = [(getattr(known, name) if name != "mount" else 165, code) for name, code in pairs]
    caller = Caller("user" if os.geteuid() else "root")
    return checks(caller.python(["-c", program(FILTER.replace("DENIED", repr(numbers))), str(ROOT / "runtime")]))


def test_everything_works_here(caller: Caller) -> None:
    told = caller.python(["-c", program(), str(ROOT / "runtime")])
    found = json.loads(told)
    assert found["auto"] == "namespace"
    assert found["ready"] is True
    assert [one["name"] for one in found["checks"]] == ["abi", "procfs", "backend namespace", "backend bwrap", "cgroup"]
    assert checks(told)["backend namespace"]["ready"], checks(told)["backend namespace"]["why"]
    assert found["uid"] == (os.geteuid() if not caller.other else 61234)


def test_a_filter_that_denies_ptrace() -> None:
    found = denied(("ptrace", errno.EPERM))
    assert found["backend namespace"]["ready"]
    assert not found["backend bwrap"]["ready"]
    assert "denies ptrace(2)" in found["backend bwrap"]["why"] or "no bubblewrap" in found["backend bwrap"]["why"]


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the number of mount(2) stands here for x86-64 alone")
def test_a_filter_that_denies_mounting() -> None:
    found = denied(("mount", errno.EPERM))
    for name in ("backend namespace", "backend bwrap"):
        assert not found[name]["ready"]
    assert "seccomp filter" in found["backend namespace"]["why"]
    assert "--security-opt seccomp=" in found["backend namespace"]["remedy"]


@pytest.mark.parametrize("code", [errno.EPERM, errno.ENOSYS])
def test_a_filter_that_denies_clone3(code: int) -> None:
    found = denied(("clone3", code))
    if found["backend namespace"]["ready"]:
        return  # made by clone(2) then
    assert "seccomp filter" in found["backend namespace"]["why"]


def in_namespace(script: str, *, uid: int | None = None) -> dict[str, dict[str, Any]]:
    """Diagnose in a mount namespace of its own in which something is covered."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to cover parts of /proc in a mount namespace")
    caller = Caller("root" if uid is None else "user")
    python = sys.executable if uid is None else "/usr/bin/python3"
    drop = "" if uid is None else f"setpriv --reuid {uid} --regid {uid} --clear-groups"
    command = f'{script} && exec {drop} {python} -I -c "$1" "$2"'
    assert caller.owner
    arguments = ["unshare", "-m", "/bin/sh", "-c", command, "sh", program(), str(ROOT / "runtime")]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=600, cwd="/")
    assert done.returncode == 0, done.stderr
    return checks(done.stdout)


@pytest.mark.parametrize("uid", [None, 61234])
def test_a_proc_that_is_covered_in_part(uid: int | None) -> None:
    """A sandbox in a sandbox: the kernel allows no new procfs there, and says only EPERM."""
    found = in_namespace("mount -t tmpfs none /proc/irq", uid=uid)
    for name in ("backend namespace", "backend bwrap"):
        assert not found[name]["ready"]
        assert "`/proc/irq`" in found[name]["why"] or "no bubblewrap" in found[name]["why"]
        assert "cannot be nested" in found[name]["why"] or "no bubblewrap" in found[name]["why"]


def test_no_proc_at_all() -> None:
    found = in_namespace("mount -t tmpfs none /proc")
    assert not found["procfs"]["ready"]
    assert found["procfs"]["remedy"] == "mount -t proc proc /proc"
    assert "backend namespace" not in found


def told(files: dict[str, str], uid: int = 1000) -> Machine:
    base = {"/proc/self/status": "Name:\tx\nSeccomp:\t0\n"}
    return Machine({**base, **files}.get, uid)


DENIED = Failure("namespaces", "Operation not permitted", "", errno.EPERM)


@pytest.mark.parametrize(
    ("failure", "files", "uid", "words", "remedy"),
    [
        (
            DENIED,
            {"/proc/sys/kernel/unprivileged_userns_clone": "0\n"},
            1000,
            "kernel.unprivileged_userns_clone is 0",
            "sysctl -w kernel.unprivileged_userns_clone=1",
        ),
        (
            Failure("bwrap", "loopback: Failed RTM_NEWADDR: Operation not permitted", ""),
            {"/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1\n"},
            1000,
            "AppArmor",
            "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        (
            Failure("namespaces", "No space left on device", "", errno.ENOSPC),
            {"/proc/sys/user/max_user_namespaces": "0\n", "/proc/sys/user/max_net_namespaces": "5\n"},
            1000,
            "user.max_user_namespaces is 0",
            "sysctl -w user.max_user_namespaces=15000",
        ),
        (
            Failure("bwrap", "nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)", ""),
            {"/proc/sys/user/max_user_namespaces": "100\n", "/proc/sys/user/max_net_namespaces": "0\n"},
            0,
            "user.max_net_namespaces is 0",
            "sysctl -w user.max_net_namespaces=15000",
        ),
        (DENIED, {"/proc/self/status": "Seccomp:\t2\n"}, 0, "seccomp filter", "seccomp=FILE"),
        (
            Failure("id maps", "Operation not permitted", "", errno.EPERM),
            {"/proc/self/uid_map": "         0       1000          1\n"},
            0,
            "uid 65534 is not mapped",
            "/etc/subuid",
        ),
        (
            Failure("trace", "Operation not permitted", "", errno.EPERM),
            {"/proc/sys/kernel/yama/ptrace_scope": "2\n"},
            1000,
            "ptrace_scope is 2",
            "ptrace_scope=1",
        ),
    ],
)
def test_reasons(failure: Failure, files: dict[str, str], uid: int, words: str, remedy: str) -> None:
    found = explain(failure, told(files, uid))
    assert not found.ready
    assert words in found.why
    assert remedy in found.remedy


def test_a_setting_is_no_reason_for_another_failure() -> None:
    closed = {"/proc/sys/kernel/unprivileged_userns_clone": "0\n", "/proc/sys/user/max_user_namespaces": "0\n"}
    failure = Failure("paths", "`/x` does not exist", "create it", errno.ENOENT)
    assert explain(failure, told(closed)) == (False, "paths: `/x` does not exist", "create it")
    # Nor is what holds for ordinary users one for root.
    assert "unprivileged_userns_clone" not in explain(DENIED, told(closed, uid=0)).why


def test_an_unsupported_abi(monkeypatch: pytest.MonkeyPatch) -> None:
    class Uname:
        sysname, release, machine = "Linux", "6.0", "sparc64"

    monkeypatch.setattr(doctor.os, "uname", Uname)
    found = doctor.diagnose()
    assert not found.ready
    assert found.checks[0].why == "the ABI of this machine (sparc64) is not supported"
    assert [one.name for one in found.checks] == ["abi", "procfs"]


def test_no_bubblewrap(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> None:
        raise SetupFailed("backend", "there is no bubblewrap here", "install it")

    monkeypatch.setattr(doctor, "find", none)
    found = doctor.check_backend("bwrap", machine())
    assert found[:4] == ("backend bwrap", False, "there is no bubblewrap here", "install it")


def counts(home: Path) -> bool:
    """Tell whether the answer that `namespace` worked is one: it is tried before what has none."""
    return doctor_cache.order(("bwrap", "namespace"), str(home)) == ("namespace", "bwrap")


def test_answers_are_kept_for_this_boot_user_and_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / ".cache/sbc"
    assert not counts(tmp_path)
    doctor_cache.remember("namespace", str(folder))
    assert counts(tmp_path)
    assert (folder.stat().st_mode & 0o777) == 0o700
    other = tmp_path / "python"
    other.write_text("")
    monkeypatch.setattr(sys, "executable", str(other))
    assert not counts(tmp_path)


def test_answers_choose_where_the_first_backend_did_not_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both = ("namespace", "bwrap")
    folder = str(tmp_path / ".cache/sbc")
    (tmp_path / ".cache").mkdir()
    assert doctor_cache.order(both, str(tmp_path)) == both
    assert doctor_cache.order(both, "") == both
    doctor_cache.remember("bwrap", folder)
    assert doctor_cache.order(both, str(tmp_path)) == both[::-1]
    doctor_cache.remember("namespace", folder)
    assert doctor_cache.order(both, str(tmp_path)) == both
    doctor_cache.forget("namespace", folder)
    assert doctor_cache.order(both, str(tmp_path)) == both[::-1]
    # After a restart nothing is known.
    monkeypatch.setattr(doctor_cache, "key", str)
    assert doctor_cache.order(both, str(tmp_path)) == both


@pytest.mark.parametrize("first", ["bwrap", "namespace"])
def test_an_answer_is_a_hint_and_no_check_is_left_out(caller: Caller, first: str) -> None:
    script = """
from sbc_runtime import calling, doctor_cache
home, first = given
os.makedirs(home + "/.cache", exist_ok=True)
calling._home = lambda: home
doctor_cache.remember(first, home + "/.cache/sbc")
outcome = profile.run(command)
tell([told(outcome), outcome.isolation.backend, outcome.isolation.verified, outcome.notes])
"""
    home = caller.tree()
    ran, used, verified, notes = caller.host(script, bundle(PLAIN), str(home), first)
    assert (ran, used, verified) == (RAN, first, True)
    said = [one for one in notes if one.startswith("the backend bwrap was tried first")]
    assert len(said) == (1 if first == "bwrap" else 0)


def test_answers_that_others_could_have_written_are_none(tmp_path: Path) -> None:
    folder = tmp_path / ".cache/sbc"
    doctor_cache.remember("namespace", str(folder))
    kept = folder / "backends.json"
    kept.chmod(0o666)
    assert not counts(tmp_path)
    kept.chmod(0o600)
    folder.chmod(0o777)
    assert not counts(tmp_path)
    folder.chmod(0o700)
    assert counts(tmp_path)
    kept.write_text("[1, {")
    assert not counts(tmp_path)
    kept.rename(tmp_path / "moved")
    kept.symlink_to(tmp_path / "moved")
    assert not counts(tmp_path)
