"""The reference profile, as root and as an ordinary user: what holds inside, seen from inside."""

import subprocess
from pathlib import Path

import pytest

from sbc_runtime.outcome import Protections
from tests.runtime.support import Caller, out, stock

IN_FORCE = Protections(*[True] * 15, landlock=None)


@pytest.fixture
def tree(caller: Caller) -> Path:
    return caller.tree()


def run(caller: Caller, tree: Path, command: str) -> str:
    return out(caller.run(stock("agent-check"), command, {"workdir": tree}))


def test_the_report_is_what_the_kernel_showed(caller: Caller, tree: Path) -> None:
    outcome = caller.run(stock("agent-check"), ["/bin/true"], {"workdir": tree})
    assert outcome.ok
    assert outcome.by == "command"
    assert outcome.isolation is not None
    assert outcome.isolation.level == "namespaces"
    assert outcome.isolation.backend == "namespace"
    assert outcome.isolation.verified
    assert outcome.isolation.protections == IN_FORCE
    assert outcome.isolation.filter_bytes is (True if caller.name == "root" else None)
    assert {"sys", "bus"} <= set(outcome.isolation.proc_masked)


def test_ids_and_names(caller: Caller, tree: Path) -> None:
    assert run(caller, tree, "id -u; id -g; hostname; pwd") == "1000\n1000\nsandbox\n/work\n"


def test_capabilities_filter_and_privileges(caller: Caller, tree: Path) -> None:
    for process in ("self", "1"):
        shown = dict(line.split(":\t") for line in run(caller, tree, f"cat /proc/{process}/status").splitlines())
        assert {shown[f"Cap{one}"] for one in ("Inh", "Prm", "Eff", "Bnd", "Amb")} == {"0" * 16}
        assert shown["NoNewPrivs"] == "1"
        assert shown["Seccomp"] == "2"


def test_only_the_work_tree_persists(caller: Caller, tree: Path) -> None:
    name = f"sbc-{tree.name}"
    folders = "/ /usr /etc /work /tmp /dev/shm /proc /sys"
    touched = f"for d in {folders}; do touch $d/{name} 2>/dev/null && echo $d; done; true"
    assert run(caller, tree, touched).split() == ["/work", "/tmp", "/dev/shm"]
    assert [one.name for one in tree.iterdir()] == [name]
    assert not Path("/tmp", name).exists()


def test_host_files_are_not_there(caller: Caller, tree: Path) -> None:
    assert run(caller, tree, "ls -a /").split() == [
        ".",
        "..",
        "bin",
        "dev",
        "etc",
        "lib",
        "lib64",
        "proc",
        "sbin",
        "tmp",
        "usr",
        "work",
    ]
    assert sorted(run(caller, tree, "ls /etc").split()) == ["alternatives", "ld.so.cache"]


def test_host_processes_are_invisible(caller: Caller, tree: Path) -> None:
    pids = run(caller, tree, "cd /proc; echo [0-9]*").split()
    assert len(pids) <= 3
    # A process of the host, by a number that nothing inside has.
    with subprocess.Popen(["sleep", "1000"]) as other:
        try:
            assert str(other.pid) not in pids
            assert run(caller, tree, f"kill -0 {other.pid} 2>/dev/null || echo gone") == "gone\n"
        finally:
            other.kill()


def test_network_is_its_own(caller: Caller, tree: Path) -> None:
    lines = run(caller, tree, "cat /proc/net/dev").splitlines()[2:]
    assert [line.split(":")[0].strip() for line in lines] == ["lo"]
    assert run(caller, tree, "cat /proc/net/route").splitlines()[1:] == []
    assert run(caller, tree, "cat /proc/net/unix").splitlines()[1:] == []


def test_proc_is_hardened(caller: Caller, tree: Path) -> None:
    # The value is written back as it is: nothing may change, even where this fails to protect.
    script = (
        "for f in /proc/sys/kernel/panic /proc/sys/vm/swappiness; do "
        "v=$(cat $f) && ( echo $v > $f ) 2>/dev/null && echo written $f; done; "
        "[ -e /proc/keys ] && wc -c < /proc/keys; ls /proc/acpi 2>/dev/null; true"
    )
    assert run(caller, tree, script).split() in (["0"], [])


def test_init_is_not_the_commands_to_touch(caller: Caller, tree: Path) -> None:
    script = (
        "for f in mem fd exe root cwd maps environ; do "
        "( : < /proc/1/$f ) 2>/dev/null && echo $f; ls /proc/1/$f/ 2>/dev/null; done; true"
    )
    assert run(caller, tree, script) == ""
    assert run(caller, tree, "kill -9 1; echo alive") == "alive\n"


def test_environment_is_exactly_the_profiles(caller: Caller, tree: Path) -> None:
    outcome = caller.run(
        stock("agent-check"), ["/usr/bin/env"], {"workdir": tree}, environ={"SECRET": "1", "LANG": "C"}
    )
    assert sorted(out(outcome).splitlines()) == ["HOME=/work", "PATH=/usr/bin:/bin"]
    assert outcome.environment == ("HOME", "PATH")


def test_descriptors_are_the_runs_own(caller: Caller, tree: Path) -> None:
    shown = run(caller, tree, "for f in /proc/self/fd/*; do readlink $f; done; true").split()
    assert all(one.startswith("pipe:") for one in shown[:3])
    assert len(shown) <= 4


def test_nested_namespaces_fail(caller: Caller, tree: Path) -> None:
    assert run(caller, tree, "unshare -U true 2>/dev/null || unshare -m true 2>/dev/null || echo no") == "no\n"


def test_devices(caller: Caller, tree: Path) -> None:
    assert run(caller, tree, "ls /dev").split() == sorted(
        ["fd", "full", "null", "random", "shm", "stderr", "stdin", "stdout", "urandom", "zero"]
    )
    assert (
        run(caller, tree, "head -c 4 /dev/zero | wc -c; head -c 4 /dev/urandom | wc -c; echo x > /dev/null") == "4\n4\n"
    )
    assert run(caller, tree, "(echo x > /dev/full) 2>/dev/null || echo full; echo a | cat /dev/stdin") == "full\na\n"


def test_tmp_has_its_budget(caller: Caller, tree: Path) -> None:
    assert run(caller, tree, "df -k --output=size /tmp | tail -1").strip() == str(512 * 1024)
    assert run(caller, tree, "df --output=itotal /tmp | tail -1").strip() == "65536"


def test_signals_are_as_a_shell_gives_them(caller: Caller, tree: Path) -> None:
    shown = dict(line.split(":\t") for line in run(caller, tree, "cat /proc/self/status").splitlines())
    assert {int(shown[one], 16) for one in ("SigBlk", "SigIgn", "SigCgt")} == {0}
    assert run(caller, tree, "umask") == "0022\n"
