"""What is the bwrap backend's own: its init, what bubblewrap lacks, what ends with what, refusals."""

import os
import random
import select
import signal
from pathlib import Path

import pytest

import sbc_runtime
from sbc_runtime import bwrap_find
from sbc_runtime.errors import SetupFailed
from sbc_runtime.outcome import Outcome, Protections
from tests.runtime.processes import marked, parent, staying, until, words
from tests.runtime.support import PATHS, SYSTEM, Caller, bundle, missing, out, stock

BASE = f"root private; {SYSTEM}; tmp /tmp size 64MiB; devices minimal"


@pytest.fixture(autouse=True)
def bubblewrap() -> None:
    try:
        bwrap_find.find()
    except SetupFailed as failed:
        missing("bwrap", str(failed))


@pytest.fixture
def tree(caller: Caller) -> Path:
    return caller.tree()


def run(caller: Caller, tree: Path, argv: list[str] | str, profile: Path | None = None) -> Outcome:
    return caller.run(profile or stock("agent-check"), argv, {"workdir": tree}, backend="bwrap")


def test_the_report_is_what_the_kernel_showed(caller: Caller, tree: Path) -> None:
    outcome = run(caller, tree, ["/bin/true"])
    assert outcome.ok
    assert outcome.isolation is not None
    assert (outcome.isolation.backend, outcome.isolation.level) == ("bwrap", "namespaces")
    assert outcome.isolation.verified
    assert outcome.isolation.protections == Protections(*[True] * 15, landlock=None)
    assert outcome.isolation.filter_bytes is (True if caller.name == "root" else None)
    assert {"sys", "bus"} <= set(outcome.isolation.proc_masked)
    assert outcome.losses == ()


def test_capabilities_filter_and_privileges(caller: Caller, tree: Path) -> None:
    shown = dict(line.split(":\t") for line in out(run(caller, tree, "cat /proc/self/status")).splitlines())
    assert {shown[f"Cap{one}"] for one in ("Inh", "Prm", "Eff", "Bnd", "Amb")} == {"0" * 16}
    assert (shown["NoNewPrivs"], shown["Seccomp"], shown["TracerPid"]) == ("1", "2", "0")


def test_inits_folder_is_empty_and_its_end_cannot_be_forged(caller: Caller, tree: Path) -> None:
    assert out(run(caller, tree, "ls -A /proc/1")) == ""
    # Whoever is asked, init or a status on any descriptor, the kernel alone says how it ended.
    script = "kill -9 1; kill -9 -1; for f in 3 4 5 6 7; do (echo 0 >&$f) 2>/dev/null; done; exit 7"
    outcome = run(caller, tree, script)
    assert (outcome.kind, outcome.by, outcome.status) == ("exited", "command", 7)


def test_init_cannot_be_traced_even_without_a_filter(caller: Caller, tree: Path) -> None:
    profile = bundle(f"param workdir : dir; syscalls none; files {{ {BASE}; write ${{workdir}} as /work }}; {PATHS}")
    attach = "import ctypes,os; l=ctypes.CDLL(None,use_errno=True); print(l.ptrace(16,1,0,0), ctypes.get_errno())"
    outcome = run(caller, tree, ["/usr/bin/python3", "-c", attach], profile)
    if outcome.code == 127:
        pytest.skip("no /usr/bin/python3 to run inside")
    assert out(outcome) == "-1 1\n"


def test_noexec_and_budgets_that_bubblewrap_has_no_option_for(caller: Caller, tree: Path) -> None:
    (tree / "run").write_text("#!/bin/sh\necho ran\n")
    (tree / "run").chmod(0o755)
    files = f"root private; {SYSTEM}; write ${{workdir}} as /work noexec; tmp /tmp size 1MiB inodes 20; devices minimal"
    profile = bundle(f"param workdir : dir; files {{ {files} }}; network none; {PATHS}")
    script = "/work/run 2>/dev/null || echo denied; i=0; while touch /tmp/$i; do i=$((i+1)); done 2>/dev/null; echo $i"
    told = out(run(caller, tree, script, profile)).split()
    assert told[0] == "denied"
    assert 10 <= int(told[1]) < 20


@pytest.mark.parametrize("devices", ["minimal", "standard", "host"])
def test_nothing_is_run_from_devices(caller: Caller, tree: Path, devices: str) -> None:
    files = f"root private; {SYSTEM}; write ${{workdir}} as /work; devices {devices}"
    profile = bundle(f"param workdir : dir; files {{ {files} }}; network none; {PATHS}")
    script = (
        "cp /bin/true /dev/shm/t 2>/dev/null && (/dev/shm/t 2>/dev/null || echo denied); echo x >/dev/null;"
        " while read -r _ _ _ _ place options _; do case $place in /dev|/dev/*) echo $options; esac; done"
        " </proc/self/mountinfo"
    )
    outcome = caller.run(profile, script, {"workdir": tree}, backend="bwrap", allow_wider=devices == "host")
    told = out(outcome).split()
    assert ("denied" in told) is (devices != "host")  # the host's own is covered
    options = [one.split(",") for one in told if one != "denied"]
    assert options
    assert all("noexec" in one for one in options)
    assert outcome.isolation is not None
    assert outcome.isolation.verified


def test_a_tree_in_a_closed_folder(caller: Caller) -> None:
    if caller.name != "root":
        pytest.skip("an ordinary user could not get there itself")
    closed = caller.tree()
    os.chown(closed, 0, 0)
    closed.chmod(0o700)
    inner = closed / "tree"
    inner.mkdir()
    caller.own(inner)
    assert out(run(caller, inner, "touch x; ls")) == "x\n"
    profile = bundle("param workdir : dir; files { root host; write ${workdir}; devices minimal }; network none")
    outcome = run(caller, inner, ["/bin/true"], profile)
    assert outcome.kind == "setup-failed"
    assert outcome.failure is not None
    assert "Permission denied" in outcome.failure.why
    assert "search the folders above" in outcome.failure.remedy


def test_a_bundle_without_arguments_is_refused(caller: Caller, tree: Path) -> None:
    profile = bundle(
        f"param workdir : dir; files {{ {BASE}; start-in /tmp }}; network host {{ connect localhost:80 }}; {PATHS}"
    )
    outcome = caller.run(profile, ["/bin/true"], {"workdir": tree}, backend="bwrap", allow_wider=True)
    assert (outcome.kind, outcome.code) == ("setup-failed", 125)
    assert outcome.failure is not None
    assert "no arguments for bubblewrap" in outcome.failure.why


def here() -> Caller:
    return Caller("user" if os.geteuid() else "root")


@pytest.mark.parametrize("whom", ["outer", "keeper"])
def test_a_killed_part_of_ours_is_never_a_success(whom: str) -> None:
    mark = f"sleep {random.randint(10**6, 10**7)}"  # noqa: S311
    run = sbc_runtime.load(stock("agent-check")).start(mark.split(), params={"workdir": here().tree()}, backend="bwrap")
    inner: list[int] = []
    # The command's own process is the one that is not bubblewrap.
    assert until(lambda: inner or inner.extend(one for one in marked(mark) if words(one)[:1] == [b"sleep"]))
    outer = parent(parent(inner[0]))
    os.kill(outer if whom == "outer" else parent(outer), signal.SIGKILL)
    outcome = run.wait()
    assert (outcome.kind, outcome.by, outcome.code) == ("sandbox-failed", "sandbox", 125) or outcome.signal == 9
    assert staying(lambda: marked(mark)) == []


def test_many_runs_leave_nothing() -> None:
    profile = sbc_runtime.load(stock("agent-check"))
    tree = here().tree()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        assert profile.run(["/bin/true"], params={"workdir": tree}, backend="bwrap").ok
    assert len(os.listdir("/proc/self/fd")) <= before + 2


def test_a_terminal_of_its_own() -> None:
    """The command is in the foreground of a session with a terminal, and Ctrl-C reaches it and nobody else."""
    profile = bundle(f"param workdir : dir; files {{ {BASE}; write ${{workdir}} as /work }}; network none; {PATHS}")
    script = (
        "trap 'echo caught; exit 3' INT; test -t 0 && echo tty; stty size; echo ready; while :; do sleep 0.05; done"
    )
    keys, typed = os.pipe()
    shown, screen = os.pipe()
    run = sbc_runtime.load(profile).start(
        ["/bin/sh", "-c", script],
        params={"workdir": here().tree()},
        backend="bwrap",
        stdin=keys,
        stdout=screen,
        terminal=(30, 100),
    )
    os.close(screen)
    try:
        before = shown_until(shown, b"ready")
        os.write(typed, b"\x03")
        assert b"caught" in shown_until(shown, b"caught")
        outcome = run.wait()
    finally:
        run.cancel()
        for one in (keys, typed, shown):
            os.close(one)
    assert before.split()[:3] == [b"tty", b"30", b"100"]
    assert (outcome.kind, outcome.status) == ("exited", 3)


def shown_until(descriptor: int, word: bytes) -> bytes:
    """Read until a word has come, or for two minutes."""
    seen = b""
    while word not in seen and select.select([descriptor], [], [], 120)[0]:
        part = os.read(descriptor, 4096)
        if not part:
            break
        seen += part
    return seen
