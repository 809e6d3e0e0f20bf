"""Statements that the stock profiles do not use: noexec, every kind of devices, ranges of host ids."""

import os
import select
import shutil
from pathlib import Path

import pytest

import sbc_runtime
from sbc_runtime.prepare.ids import LOCKS
from tests.runtime.support import PATHS, SYSTEM, Caller, bundle, out


def test_noexec(caller: Caller) -> None:
    tree = caller.tree()
    for name in ("here", "there"):
        (tree / name).mkdir()
        shutil.copy("/bin/true", tree / name / "t")
        caller.own(tree / name, tree / name / "t")
        (tree / name / "t").chmod(0o755)
    files = f"root private; {SYSTEM}; write ${{t}}/here as /here noexec; write ${{t}}/there as /there"
    made = bundle(
        f"param t : dir; files {{ {files}; tmp /tmp size 8MiB noexec; devices minimal; start-in /tmp }}; {PATHS}"
    )
    script = (
        "/here/t 2>/dev/null; echo $?; /there/t; echo $?; cp /bin/true /tmp/t; /tmp/t 2>/dev/null; echo $?;"
        "cp /there/t /here/x && (exec /lib64/ld-linux-x86-64.so.2 /here/x) 2>/dev/null; echo $?"
    )
    told = out(caller.run(made, script, {"t": tree})).split()
    assert told[:3] == ["126", "0", "126"]
    assert told[3] != "0"


def devices(kind: str, more: str = "") -> Path:
    return bundle(
        f"files {{ root private; {SYSTEM}; tmp /tmp size 8MiB; devices {kind}; start-in /tmp }}; {PATHS}; {more}"
    )


LOOK = (
    "ls /dev 2>/dev/null | tr '\\n' ' '; echo; echo x > /dev/null && echo 1; grep -c ' /dev/shm ' /proc/self/mountinfo"
)


def test_no_devices(caller: Caller) -> None:
    told = caller.run(devices("none"), "ls /dev 2>/dev/null || echo none; (: > /dev/null) 2>/dev/null || echo 2").stdout
    assert told.kept.split() == [b"none", b"2"]


@pytest.mark.parametrize(("kind", "more"), [("minimal", set[str]()), ("standard", {"tty", "pts", "ptmx"})])
def test_own_devices(caller: Caller, kind: str, more: set[str]) -> None:
    names, works, shm = out(caller.run(devices(kind), LOOK)).splitlines()
    own = {"null", "zero", "full", "random", "urandom", "fd", "stdin", "stdout", "stderr", "shm"}
    assert set(names.split()) == own | more
    assert (works, shm) == ("1", "1")


@pytest.mark.parametrize("backend", ["namespace", "bwrap"])
def test_a_command_can_make_terminals_of_its_own(caller: Caller, backend: str) -> None:
    """As script(1) and test suites do; they are the first of their devpts, and the host's are not there."""
    told = out(caller.run(devices("standard"), "script -qc tty /dev/null; ls /dev/pts", backend=backend))
    assert told.split() == ["/dev/pts/0", "ptmx"]


def test_the_hosts_devices(caller: Caller) -> None:
    secret = Path("/dev/shm") / f"sbc-test-{os.getpid()}"
    secret.write_text("x")
    try:
        names, works, shm = out(caller.run(devices("host"), LOOK)).splitlines()
        there = {one for one in os.listdir("/dev") if not one.startswith("sbc-test-")}  # those of other tests
        assert there <= set(names.split()) | {"pts"}
        assert works == "1"
        assert int(shm) >= 1
        told = out(caller.run(devices("host"), "ls /dev/shm /dev/pts; echo x > /dev/shm/n && cat /dev/shm/n"))
        assert secret.name not in told
        assert told.split()[-1] == "x"
        assert not Path("/dev/shm/n").exists()
        options = out(caller.run(devices("host"), "grep ' /dev ' /proc/self/mountinfo | tail -1 | cut -d' ' -f6"))
        assert {"nosuid", "noexec"} <= set(options.strip().split(","))
    finally:
        secret.unlink()


def test_a_range_gives_each_run_an_id_of_its_own() -> None:
    if os.geteuid() != 0:
        pytest.skip("only uid 0 may choose ids of the host")
    made = devices("minimal", "identity { host-user 60000..60001; host-group 60000 }")
    profile = sbc_runtime.load(made)
    here, there = os.pipe()
    runs = [profile.start(["/bin/sh", "-c", "read go; cat /proc/self/uid_map"], stdin=here) for _ in range(3)]
    # Two have an id and wait; the third is the first to end.
    assert len(select.select(runs, [], [], 120)[0]) == 1
    for one in (here, there):
        os.close(one)
    told = [one.wait() for one in runs]
    assert sorted(int(one.stdout.kept.split()[1]) for one in told if one.ok) == [60000, 60001]
    (refused,) = (one.failure for one in told if not one.ok)
    assert refused is not None
    assert "in use by another run" in refused.why
    # They are free again.
    assert profile.run(["/bin/true"]).ok
    assert Path(LOCKS).stat().st_mode & 0o077 == 0
