"""What the sandboxes that the plans make really hold: each is run, by root and by nobody, where bubblewrap works."""

import os
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sbc.backends.bpf.target import BpfTarget
from sbc.backends.bwrap.target import BwrapTarget
from sbc.diagnostics.diagnostic import Failed
from sbc.policy.conditions import ALWAYS, Between, Condition, Masked, Not
from sbc.policy.filesystem import ProcRule
from sbc.policy.policy import Policy
from sbc_runtime.action import KILL_PROCESS, errno_verdict
from tests.targets.bwrap_plan import NOBODY, bwrap, plan, run
from tests.targets.policies import (
    TMP,
    WORKDIR,
    files,
    filtered,
    gate,
    hide,
    origin,
    policy,
    read,
    tmp,
    write,
)

EPERM = errno_verdict(1)
SYSTEM = tuple(read(path, optional=True) for path in ("/usr", "/bin", "/sbin", "/lib", "/lib64"))


@pytest.fixture
def area() -> Iterator[Path]:
    """Give a folder that everybody may use, with files to protect."""
    with tempfile.TemporaryDirectory(prefix="sbc-") as name:
        top = Path(name)
        for folder in ("w/ro/hidden/out", "w/keep/deep/.git", "secret/inside"):
            (top / folder).mkdir(parents=True)
        for file in ("w/f", "w/ro/f", "w/ro/hidden/f", "w/ro/hidden/out/f", "w/keep/deep/.git/config", "secret/key"):
            (top / file).write_text("content\n")
        (top / "w/key").write_text("secret\n")
        for path in (top, *top.rglob("*")):
            path.chmod(0o777 if path.is_dir() else 0o666)
        yield top


EXIT_7 = bytes.fromhex("b83c000000bf070000000f05")
"""`mov eax, 60; mov edi, 7; syscall`: exit(7), and no other call."""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the program is for x86-64")
def test_run_with_each_call_stopped(area: Path) -> None:
    base, start = 0x400000, 120
    head = struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, base + start, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 5, 0, base, base, start + len(EXIT_7), start + len(EXIT_7), 0x1000)
    program = area / "exit7"
    program.write_bytes(b"\x7fELF\x02\x01\x01" + bytes(9) + head + segment + EXIT_7)
    program.chmod(0o755)
    numbers = {"execve": 59, "wait4": 61, "write": 1, "exit_group": 231, "close": 3, "prctl": 157, "rt_sigprocmask": 14}
    conditions: list[tuple[str, Condition]] = [
        ("execve", Not(Masked(1, 64, (1 << 64) - 1, 0))),
        ("execve", Masked(2, 64, (1 << 64) - 1, 0)),
        ("wait4", Masked(0, 32, 0xFFFFFFFF, 0xFFFFFFFF)),
        ("wait4", Masked(0, 32, 0xFFFFFFFF, 1)),
        ("wait4", Masked(3, 64, (1 << 64) - 1, 0)),
        ("wait4", Between(2, 32, 1, 0xFFFFFFFF)),
        ("write", Masked(2, 64, (1 << 64) - 1, 8)),
        ("write", Between(2, 64, 9, 1 << 20)),
    ]
    for verdict in (EPERM, KILL_PROCESS):
        for call, condition in [*((call, ALWAYS) for call in numbers), *conditions]:
            made = policy(syscalls=filtered((numbers[call], call, verdict, condition)))
            try:
                BwrapTarget().emit(made)
                said = True
            except Failed:
                said = False
            assert (with_filter(made, program) == 7) == said, (call, verdict, condition)


def with_filter(made: Policy, program: Path) -> int:
    (one,) = BpfTarget().emit(made).files
    reading, writing = os.pipe()
    os.write(writing, one.content)
    os.close(writing)
    try:
        words = [bwrap(), "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "--seccomp", str(reading)]
        return subprocess.run([*words, str(program)], pass_fds=[reading], capture_output=True, check=False).returncode
    finally:
        os.close(reading)


UIDS = sorted({os.geteuid(), NOBODY})


def private(area: Path, *rules: object, **options: object) -> Policy:
    return policy(
        files(*SYSTEM, *rules, root="private", **options),  # type: ignore[arg-type]
        params=(WORKDIR,),
    )


@pytest.mark.parametrize("uid", UIDS)
def test_run_order_by_depth(area: Path, uid: int) -> None:
    w = f"{area}/w"
    made = policy(
        files(hide(f"{w}/ro/hidden"), write(w), read(f"{w}/ro"), write(f"{w}/ro/hidden/out"), hide(f"{w}/key"))
    )
    script = f"""
        cd {w}; echo x > f && cat f
        echo x > ro/f && echo WROTE-RO; cat ro/f
        ls ro/hidden; cat ro/hidden/f && echo READ-HIDDEN; echo x > ro/hidden/new && echo WROTE-HIDDEN
        echo y > ro/hidden/out/f && cat ro/hidden/out/f
        cat key && echo EMPTY-KEY
        mv ro ro2 && echo MOVED; mv key key2 && echo MOVED
        echo x > {area}/secret/key && echo WROTE-HOST
    """
    done = run(made, script, {}, uid)
    assert done.stdout.split() == ["x", "content", "out", "y", "EMPTY-KEY"], done.stderr
    assert (area / "w/key").read_text() == "secret\n"


@pytest.mark.parametrize("uid", UIDS)
def test_run_ancestors_are_pinned(area: Path, uid: int) -> None:
    made = private(area, write("${workdir}", "/work"), read("${workdir}/keep/deep/.git"))
    script = """
        cd /work; mv keep k2 && echo MOVED; mv keep/deep keep/d2 && echo MOVED; mv keep/deep/.git keep/g && echo MOVED
        echo x > keep/deep/.git/config && echo WROTE; rm -rf keep/deep/.git 2>/dev/null; cat keep/deep/.git/config
        echo fine > keep/deep/x && cat keep/deep/x
    """
    done = run(made, script, {"workdir": f"{area}/w"}, uid)
    assert done.stdout.split() == ["content", "fine"], done.stderr
    assert (area / "w/keep/deep/x").read_text() == "fine\n"


@pytest.mark.parametrize("uid", UIDS)
def test_run_private_root(area: Path, uid: int) -> None:
    made = private(area, write("${workdir}", "/work"), tmps=(tmp(TMP, 1 << 20),), start_in="/work")
    script = f"""
        pwd; ls /; ls {area} 2>/dev/null; mkdir /new 2>/dev/null && echo WROTE-ROOT
        mkdir /dev/new 2>/dev/null && echo WROTE-DEV
        head -c 4 /dev/zero | wc -c; echo x > /dev/null && echo null; : > /dev/shm/x && echo shm
        echo x > /dev/full || echo full; test -e /dev/tty || echo no-tty; test -e /dev/pts || echo no-pts
        head -c 2000000 /dev/zero > /tmp/big 2>/dev/null || echo bounded
        cat /proc/net/dev | grep -c :
        wc -l < /proc/net/route
    """
    done = run(made, script, {"workdir": f"{area}/w"}, uid)
    lines = done.stdout.split()
    assert lines[0] == "/work"
    assert set(lines[1 : lines.index("4")]) <= {"bin", "dev", "lib", "lib64", "proc", "sbin", TMP[1:], "usr", "work"}
    after = lines[lines.index("4") + 1 :]
    assert after[:6] == ["null", "shm", "full", "no-tty", "no-pts", "bounded"], (done.stdout, done.stderr)


@pytest.mark.parametrize("uid", UIDS)
def test_run_proc_is_protected(area: Path, uid: int) -> None:
    entries = [("read-only", "sys"), ("read-only", "bus"), ("hide", "kmsg"), ("hide", "timer_list"), ("hide", "absent")]
    rules = tuple(ProcRule(kind, entry, origin("proc", entry)) for kind, entry in entries)  # type: ignore[arg-type]
    made = policy(files(*SYSTEM, root="private"), proc=rules)
    script = """
        v=$(cat /proc/sys/kernel/hostname); (echo "$v" > /proc/sys/kernel/hostname) 2>/dev/null && echo WROTE
        cat /proc/timer_list | wc -c; test -e /proc/absent || echo absent; ls -d /proc/[0-9]* | wc -l
    """
    done = run(made, script, {}, uid)
    assert done.returncode == 0, done.stderr
    hidden, absent, processes = done.stdout.split()
    assert (hidden, absent) == ("0", "absent")
    assert int(processes) < 6


@pytest.mark.parametrize("uid", UIDS)
@pytest.mark.parametrize("devices", ["none", "standard", "host"])
def test_run_devices(area: Path, uid: int, devices: str) -> None:
    made = policy(files(devices=devices))  # type: ignore[arg-type]
    script = """
        test -e /dev/null && echo null; test -d /dev/pts && ls /dev/pts
        mkdir /dev/sbc-test-x 2>/dev/null && echo W; ls /dev/shm
    """
    done = run(made, script, {}, uid)
    wanted = {"none": [], "standard": ["null", "ptmx"], "host": ["null"]}[devices]
    if devices == "host" and uid == 0:
        wanted.append("W")  # the loss says so
        Path("/dev/sbc-test-x").rmdir()
    assert done.stdout.split() == wanted, (done.stdout, done.stderr)


@pytest.mark.parametrize("uid", UIDS)
def test_run_a_file_as_writable_path(area: Path, uid: int) -> None:
    made = private(area, write("${workdir}/f", "/out"))
    done = run(made, "echo new > /out; mkdir /out/x 2>/dev/null || echo file", {"workdir": f"{area}/w"}, uid)
    assert done.stdout.split() == ["file"], done.stderr
    assert (area / "w/f").read_text() == "new\n"


def test_run_a_missing_path_is_an_error_unless_optional(area: Path) -> None:
    uid = os.geteuid()
    done = run(private(area, read(f"{area}/absent")), "echo ran", {}, uid)
    assert done.returncode != 0
    assert "ran" not in done.stdout
    done = run(
        private(area, read(f"{area}/absent", optional=True), hide(f"{area}/w/absent", optional=True)),
        "echo ran",
        {},
        uid,
    )
    assert done.stdout.split() == ["ran"], done.stderr
    assert not (area / "w/absent").exists()


def test_run_an_unfinished_plan_does_not_start() -> None:
    done = subprocess.run([bwrap(), *plan(gate()), "true"], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "Invalid uid" in done.stderr
    words = [word.replace("${:user}", "0").replace("${:group}", "0") for word in plan(gate())]
    done = subprocess.run([bwrap(), *words, "true"], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "--sbc-" in done.stderr


def test_run_hundreds_of_mounts(area: Path) -> None:
    folders = [area / f"w/{n}" for n in range(300)]
    for folder in folders:
        folder.mkdir()
    made = policy(files(write(f"{area}/w"), *(read(str(folder)) for folder in folders)))
    done = run(
        made, f"mkdir {area}/w/7/x 2>/dev/null || echo refused; mkdir {area}/w/new && echo made", {}, os.geteuid()
    )
    assert done.stdout.split() == ["refused", "made"], done.stderr
