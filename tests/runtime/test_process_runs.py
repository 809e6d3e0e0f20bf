"""Whole runs with `--backend process`: refused unless its losses are accepted, and never taken by itself."""

import shlex

from sbc_runtime import landlock
from sbc_runtime.backends.process_tree import look
from sbc_runtime.backends.registry import AUTO
from sbc_runtime.outcome import Outcome, Usage
from tests.runtime.support import PATHS, SYSTEM, Caller, bundle, out

PROFILE = f"""
param workdir : dir
files {{ root private; {SYSTEM}; write ${{workdir}} as /work; devices minimal; start-in /work }}
network none
{PATHS}
limits {{ wall 1min; core-size 0; open-files 100 }}
"""


def run(
    caller: Caller, script: str, profile: str = PROFILE, *, wider: bool = True, timeout: float | None = None
) -> Outcome:
    tree = {"workdir": caller.tree()}
    return caller.run(bundle(profile), script, tree, backend="process", allow_wider=wider, timeout=timeout)


def test_it_is_refused_unless_its_losses_are_accepted(caller: Caller) -> None:
    tree = caller.tree()
    seen = caller.run(bundle(PROFILE), "touch made", {"workdir": tree}, backend="process")
    assert (seen.kind, seen.code) == ("setup-failed", 125)
    assert seen.failure is not None
    assert seen.failure.step == "losses"
    assert "--allow-wider" in seen.failure.remedy
    assert list(tree.iterdir()) == []


def test_auto_never_takes_it() -> None:
    assert "process" not in AUTO


def test_a_run(caller: Caller) -> None:
    tree = caller.tree()
    seen = caller.run(
        bundle(PROFILE), "pwd; echo x > made; ulimit -n", {"workdir": tree}, backend="process", allow_wider=True
    )
    assert out(seen) == f"{tree}\n100\n", "without mounts the tree keeps its own name"
    assert (tree / "made").read_text() == "x\n"
    assert seen.isolation is not None
    assert (seen.isolation.backend, seen.isolation.level, seen.isolation.verified) == ("process", "none", True)
    protections = seen.isolation.protections
    assert (protections.no_new_privs, protections.seccomp, protections.rlimits) == (True, True, True)
    assert protections.landlock is (True if landlock.abi() else None)
    assert protections.mount_namespace is None
    assert {"isolation", "ipc"} <= {loss.text for loss in seen.losses if loss.direction == "wider"}


def test_the_stock_filter_and_the_second_one(caller: Caller) -> None:
    program = """
import ctypes, errno, os, socket
libc = ctypes.CDLL(None, use_errno=True)
print(libc.unshare(0x10000000), errno.errorcode[ctypes.get_errno()])
for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_NETLINK):
    try:
        socket.socket(family, socket.SOCK_DGRAM).close()
        print("made")
    except OSError as error:
        print(errno.errorcode[error.errno])
"""
    seen = run(caller, f"/usr/bin/python3 -I -S -c {shlex.quote(program)}")
    assert out(seen).split() == ["-1", "EPERM", "made", "EACCES", "EACCES"]


def test_a_timeout_ends_who_left_the_session(caller: Caller) -> None:
    script = "setsid sh -c 'echo $$; exec sleep 1000' & wait; sleep 1000"
    seen = run(caller, script, timeout=2)
    assert (seen.kind, seen.code) == ("timed-out", 124)
    pids = seen.stdout.kept.split()
    assert all(look(pid.decode()) is None for pid in pids)


def test_exit_codes(caller: Caller) -> None:
    assert run(caller, "exit 9").code == 9
    assert run(caller, "kill -KILL $$").code == 137
    tree = caller.tree()
    seen = caller.run(bundle(PROFILE), ["no-such"], {"workdir": tree}, backend="process", allow_wider=True)
    assert (seen.code, seen.by) == (127, "sandbox")


def test_what_nobody_counts_is_not_told(caller: Caller) -> None:
    """Only a cgroup sums up here: without one, `0` would be a claim."""
    limits = "limits { wall 1min; cpu 50s; memory 1GiB; processes 100; core-size 0 }"
    seen = run(caller, "exit 0", PROFILE.replace("limits { wall 1min; core-size 0; open-files 100 }", limits))
    assert out(seen) == ""
    assert seen.usage == Usage()


def test_a_profile_without_a_filter_for_calls(caller: Caller) -> None:
    seen = run(caller, "grep -E '^Seccomp(_filters)?:' /proc/self/status", PROFILE + "syscalls none\n")
    assert out(seen).split() == ["Seccomp:", "2", "Seccomp_filters:", "1"], "the second filter is there all the same"
