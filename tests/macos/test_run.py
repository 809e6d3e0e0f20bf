"""A run on macOS, as far as it can be made here: a stand-in takes sandbox-exec's place (`stand_in.py`)."""

import contextlib
import gc
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from sbc_runtime.bundle import decode
from sbc_runtime.loaded import Loaded
from sbc_runtime.loader import for_machine
from sbc_runtime.macos import arguments
from sbc_runtime.macos.run import MacRun
from sbc_runtime.macos.values import Host
from sbc_runtime.outcome import Outcome
from sbc_runtime.report import to_json
from sbc_runtime.request import Request
from tests.macos import stand_in
from tests.runtime.processes import living, until
from tests.runtime.support import bundle
from tests.shared_data import ROOT

SMALL = """\
sbx 1
profile small {
  param tree : dir
  files { root host; read /; write ${tree}; read ${tree}/.git optional; hide ~/.ssh optional; devices standard }
  network none
  environment { set PATH = "/usr/bin:/bin"; on linux { set X = "linux" } on macos { set X = "mac" } }
  MORE
  seatbelt { default allow }
}
"""


@cache
def loaded(text: str) -> Loaded:
    return for_machine(decode(bundle(text).read_bytes()), "darwin", "arm64", "little")


class Mac:
    """A folder that stands for a Mac: a home, a tree, a folder for temporary files, and the stand-in."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = tmp_path.resolve()
        self.home, self.tree, self.tmpdir = (self.folder / name for name in ("home", "tree", "tmp"))
        for one in (self.home, self.tree, self.tmpdir):
            one.mkdir()
        self.log = self.folder / "log.json"
        self.program = self.folder / "sandbox-exec"
        stand_in.install(self.program, self.log)
        monkeypatch.setattr(arguments, "SANDBOX_EXEC", str(self.program))
        self.host = Host(501, str(self.home), str(self.home), str(self.tmpdir), str(self.tree))

    def stands_for(self, script: str) -> None:
        self.program.write_text(f"#!/bin/sh\n{script}\n")

    def run(self, *argv: str, more: str = "", text: str = SMALL, **asked: Any) -> Outcome:  # noqa: ANN401
        return self.start(*argv, more=more, text=text, **asked).wait()

    def start(self, *argv: str, more: str = "", text: str = SMALL, **asked: Any) -> MacRun:  # noqa: ANN401
        host = asked.pop("host", self.host)
        asked = {"params": {"tree": str(self.tree)}, **asked}
        return MacRun(loaded(text.replace("MORE", more)), Request(argv, **asked), host)

    def logged(self) -> Any:  # noqa: ANN401
        return json.loads(self.log.read_text())


@pytest.fixture
def mac(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mac:
    return Mac(tmp_path, monkeypatch)


def test_the_arguments() -> None:
    given = {"worktree": "/Users/u/a b=c", "home": "/Users/u"}
    assert arguments.arguments("/p/profile.sb", given, ["/bin/sh", "-c", "true"]) == [
        *("/usr/bin/sandbox-exec", "-f", "/p/profile.sb", "-D", "worktree=/Users/u/a b=c", "-D", "home=/Users/u"),
        *("/bin/sh", "-c", "true"),
    ]
    with pytest.raises(ValueError, match="absolute"):
        arguments.arguments("/p", {}, ["-n"])


def test_what_the_command_gets(mac: Mac) -> None:
    os.umask(0o077)
    try:
        script = "echo out; echo err >&2; cat; echo $X; exit 7"
        outcome = mac.run("sh", "-c", script, stdin=b"in\n")
    finally:
        os.umask(0o022)
    assert (outcome.kind, outcome.code, outcome.by) == ("exited", 7, "command"), outcome.failure
    assert outcome.stdout.kept == b"out\nin\nmac\n"
    assert (outcome.stderr.kept, outcome.stderr.total, outcome.stderr.cut) == (b"err\n", 4, False)
    seen = mac.logged()
    place = seen["arguments"][1]
    assert seen["arguments"] == [
        *("-f", place, "-D", f"tree={mac.tree}", "-D", f":HOME={mac.home}", "-D", f"home={mac.home}"),
        *("/usr/bin/sh", "-c", script),
    ]
    assert place.startswith(f"{mac.home}/Library/Caches/sbc/seatbelt/run-")
    assert seen["modes"] == ["0o600", "0o700"]
    assert seen["session"] is True
    assert seen["descriptors"] == []
    assert {"PATH": "/usr/bin:/bin", "X": "mac"}.items() <= seen["environment"].items()
    assert set(seen["environment"]) - {"PATH", "X", "LC_CTYPE"} == set()
    assert (seen["umask"], seen["cwd"]) == ("0o22", str(mac.tree))
    assert not Path(place).parent.exists()


def test_what_is_reported(mac: Mac) -> None:
    (mac.home / ".ssh").mkdir()
    run = mac.start("true")
    made = json.loads(to_json(run.report()))
    assert (made["backend"], made["level"], made["verified"]) == ("seatbelt", "seatbelt", False)
    assert set(made["protections"].values()) == {"unread"}
    assert [one["path"] for one in made["absent"]] == [f"{mac.tree}/.git"]
    assert "nothing was read back" in made["notes"][0]
    assert made["outcome"]["kind"] == "exited"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exit 127", ""),
        ("echo 'sandbox-exec: sandbox_apply: Operation not permitted' >&2; exit 71", "Operation not permitted"),
        ("echo 'sandbox-exec: no version specified' >&2; exit 65", "no version"),
    ],
)
def test_a_failing_sandbox_exec_is_no_run(mac: Mac, script: str, said: str) -> None:
    mac.stands_for(script)
    outcome = mac.run("true")
    if said:
        assert (outcome.kind, outcome.code, outcome.by) == ("setup-failed", 125, "sandbox")
        assert said in str(outcome.failure)
        assert outcome.isolation is None
    assert outcome.code != 0
    assert not outcome.ok


def test_without_sandbox_exec_nothing_is_run(mac: Mac) -> None:
    mac.program.unlink()
    outcome = mac.run("touch", str(mac.tree / "ran"))
    assert (outcome.kind, outcome.code) == ("setup-failed", 125)
    assert "sandbox-exec" in str(outcome.failure)
    assert not (mac.tree / "ran").exists()


def test_a_builder_without_sandbox_exec(mac: Mac) -> None:
    mac.program.unlink()
    outcome = mac.run("true", more="containment required")
    assert outcome.failure is not None
    assert (outcome.code, outcome.failure.step) == (125, "containment_unavailable")


def test_a_profile_that_may_not_execute_the_command(mac: Mac) -> None:
    closed = SMALL.replace("root host; read /;", "root private; read /opt optional;").replace(
        "seatbelt { default allow }", ""
    )
    outcome = mac.run("/bin/true", text=closed)
    assert (outcome.kind, outcome.code) == ("setup-failed", 125)
    assert "execvp() of '/bin/true' failed" in str(outcome.failure)


def test_programs_that_cannot_be_executed(mac: Mac) -> None:
    assert mac.run("no-such-program").code == 127
    assert mac.run(str(mac.tree)).code == 126
    assert not mac.log.exists()


def test_limits(mac: Mac) -> None:
    outcome = mac.run("sh", "-c", "sleep 10000 & sleep 10000", more="limits { wall 300ms }")
    assert (outcome.kind, outcome.code) == ("timed-out", 124)
    outcome = mac.run("sh", "-c", "head -c 100000 /dev/zero", more="limits { output 1KiB }")
    assert (outcome.kind, outcome.code, len(outcome.stdout.kept)) == ("output-limit", 137, 1024)
    outcome = mac.run("sh", "-c", "head -c 100000 /dev/zero > f", more="limits { file-size 1KiB }")
    assert (outcome.code, (mac.tree / "f").stat().st_size) != (0, 100000)
    outcome = mac.run("sh", "-c", "ulimit -n; ulimit -c", more="limits { open-files 64 }")
    assert outcome.stdout.kept.split()[0] == b"64"


def test_what_is_left_in_the_background_ends(mac: Mac) -> None:
    outcome = mac.run("sh", "-c", "sleep 10000 & echo $!")
    assert gone(int(outcome.stdout.kept))
    assert outcome.code == 0


def test_cancelling(mac: Mac) -> None:
    run = mac.start("sleep", "10000")
    run.cancel()
    outcome = run.wait()
    assert (outcome.kind, outcome.code) == ("cancelled", 130)


def test_a_terminal(mac: Mac) -> None:
    read, write = os.pipe()
    null = os.open("/dev/null", os.O_RDONLY)
    try:
        outcome = mac.run("sh", "-c", "tty; stty size", stdin=null, stdout=write, terminal=(33, 77))
    finally:
        os.close(write)
        os.close(null)
    with os.fdopen(read, "rb") as file:
        assert file.read().split()[-2:] == [b"33", b"77"]
    assert outcome.code == 0


LIMITED = "limits { memory 1GiB }"


def test_what_macos_does_not_hold_is_refused_unless_it_is_accepted(mac: Mac) -> None:
    outcome = mac.run("true", more=LIMITED)
    assert outcome.code == 125
    assert "memory 1GiB" in str(outcome.failure)
    outcome = mac.run("true", more=LIMITED, allow_wider=True)
    assert outcome.code == 0
    assert [one.text for one in outcome.losses if one.direction == "wider"] == ["memory 1GiB"]
    assert [(one.key, one.how) for one in outcome.limits] == [("memory", ("none",))]


def test_a_written_syscalls_block_is_lost(mac: Mac) -> None:
    outcome = mac.run(
        "true",
        more="syscalls { default allow; include @stock-denylist }",
        text=SMALL.replace("sbx 1", "sbx 1\nuse <stock>"),
    )
    assert (outcome.code, "no filters of system calls" in str(outcome.failure)) == (125, True), outcome.failure
    assert mac.run("true", more="syscalls none").code == 0


def test_what_cannot_be_meant_is_told_at_once(mac: Mac, recwarn: pytest.WarningsRecorder) -> None:
    with pytest.raises(ValueError, match="at least a program"):
        mac.start()
    with pytest.raises(ValueError, match="with a terminal"):
        mac.start("true", terminal=(3, 4))
    with pytest.raises(ValueError, match="no open descriptor"):
        mac.start("true", stdout=9999)
    run = mac.start("true")
    with pytest.raises(ValueError, match="rows and columns"):
        run.resize(0, 1)
    assert run.wait().code == 0
    gc.collect()
    assert not recwarn.list


def test_root_runs_nothing(mac: Mac) -> None:
    outcome = mac.run("true", host=mac.host._replace(uid=0))
    assert (outcome.code, outcome.failure and outcome.failure.step) == (125, "identity")


@pytest.mark.parametrize("place", ["report.json", "sub/report.json"])
def test_a_report_goes_nowhere_the_command_can_write(mac: Mac, place: str) -> None:
    (mac.tree / "sub").mkdir()
    outcome = mac.run("true", report=str(mac.tree / place))
    assert (outcome.code, outcome.failure and outcome.failure.step) == (125, "report")


def test_the_profile_is_not_the_commands_to_change(mac: Mac) -> None:
    outcome = mac.run("true", params={"tree": str(mac.home)}, host=mac.host._replace(cwd=str(mac.home)))
    assert outcome.code == 125
    assert not mac.log.exists()


def test_parameters_are_canonical(mac: Mac) -> None:
    (mac.folder / "link").symlink_to(mac.tree)
    outcome = mac.run("true", params={"tree": f"{mac.folder}/link/../link/"})
    assert outcome.code == 0, outcome.failure
    assert f"tree={mac.tree}" in mac.logged()["arguments"]


def test_a_rule_that_would_match_nothing_is_refused(mac: Mac) -> None:
    elsewhere = mac.folder / "elsewhere"
    elsewhere.mkdir()
    (mac.tree / ".git").symlink_to(elsewhere)
    outcome = mac.run("true")
    assert outcome.code == 125
    assert "through a link" in str(outcome.failure)


@pytest.mark.parametrize("name", [".ssh", ".SSH", ".ssh/keys"])
def test_an_order_that_the_values_make_wrong_is_refused(mac: Mac, name: str) -> None:
    """The rule on the tree comes before the one on the folder of keys, which would undo it."""
    tree = mac.home / name
    tree.mkdir(parents=True)
    outcome = mac.run("true", params={"tree": str(tree)})
    assert (outcome.code, outcome.failure and outcome.failure.step) == (125, "paths")
    assert "hide ~/.ssh" in str(outcome.failure)
    assert "write ${tree}" in str(outcome.failure)
    assert str(outcome.failure).count(".sbx:") == 2
    assert not mac.log.exists()


def descriptors() -> set[str]:
    return {f"{one} {os.readlink(f'/proc/self/fd/{one}')}" for one in os.listdir("/proc/self/fd") if _there(one)}


def _there(descriptor: str) -> bool:
    return os.path.lexists(f"/proc/self/fd/{descriptor}")


def children() -> set[str]:
    found: set[str] = set()
    for one in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):  # a thread that has ended meanwhile
            found.update(one.read_text().split())
    return found


def test_nothing_is_left_of_fifty_runs(mac: Mac) -> None:
    mac.stands_for('shift 8; exec "$@"')
    gc.collect()
    before = descriptors(), children(), threading.active_count()
    null = os.open("/dev/null", os.O_RDWR)
    kinds: tuple[dict[str, Any], ...] = (
        {},
        {"stdin": b"x" * 100_000},
        {"stdin": null, "stdout": null, "terminal": (24, 80)},
        {"stdin": null, "stdout": null, "stderr": "null"},
    )
    run = None
    for at in range(50):
        streams = kinds[at % len(kinds)]
        run = mac.start("sh", "-c", "exit 3" if "terminal" in streams else "head -c 10; exit 3", **streams)
        if at % 5 == 0:
            run.cancel()
            run.resize(3, 4)
        elif at % 2:
            assert run.fileno() >= 0
            assert select.select([run.fileno()], [], [], 30)[0]
        assert run.wait().code in ({3, 130} if at % 5 == 0 else {3})
        assert run.wait() is not None
        assert run.fileno() == -1
    os.close(null)
    del run
    gc.collect()
    assert (descriptors(), children(), threading.active_count()) == before
    assert list((mac.home / "Library/Caches/sbc/seatbelt").iterdir()) == []


def test_a_run_that_cannot_start_leaves_nothing(mac: Mac) -> None:
    gc.collect()
    before = descriptors(), children()
    mac.program.write_text("#!/nothing\n")
    outcome = mac.run("true")
    assert (outcome.code, outcome.failure and outcome.failure.step) == (125, "backend")
    assert (descriptors(), children()) == before
    assert list((mac.home / "Library/Caches/sbc/seatbelt").iterdir()) == []


def written(file: Path) -> str:
    """Wait for a line in a file."""
    for _ in range(30_000):
        if file.exists() and (text := file.read_text()).endswith("\n"):
            return text
        time.sleep(0.01)
    pytest.fail(f"nothing has written {file.name}")


def gone(pid: int) -> bool:
    """Wait for a process to end; one that nobody waits for counts as gone."""
    return until(lambda: not living(pid), 300)


def test_a_killed_keeper_is_no_verdict(mac: Mac) -> None:
    mac.stands_for('shift 8; exec "$@"')
    run = mac.start("sh", "-c", f"echo $$ > {mac.tree}/pid; exec sleep 10000")
    written(mac.tree / "pid")
    pid = int((mac.tree / "pid").read_text())
    keeper = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(keeper, signal.SIGKILL)
    outcome = run.wait()
    assert (outcome.kind, outcome.code, outcome.by) == ("sandbox-failed", 125, "sandbox")
    assert gone(pid)


HOST = """
import sys
sys.path[:0] = {paths!r}
from pathlib import Path
from sbc_runtime.bundle import decode
from sbc_runtime.loader import for_machine
from sbc_runtime.macos import arguments
from sbc_runtime.macos.run import MacRun
from sbc_runtime.macos.values import Host
from sbc_runtime.request import Request
arguments.SANDBOX_EXEC = {program!r}
loaded = for_machine(decode(Path({bundle!r}).read_bytes()), "darwin", "arm64", "little")
run = MacRun(
    loaded,
    Request(["sh", "-c", "sleep 10000 & echo $$ $!; wait"], {{"tree": {tree!r}}}, stdout=1, stderr=2),
    Host(501, {home!r}, None, {home!r}, {tree!r}),
)
assert run.fileno() >= 0, run.wait()
{end}
"""


@pytest.mark.parametrize("end", ["run.wait()", "sys.stdin.read()"])
def test_with_the_host_process_the_command_ends(mac: Mac, end: str) -> None:
    mac.stands_for('shift 8; exec "$@"')
    place = bundle(SMALL.replace("MORE", ""))
    told = {"program": str(mac.program), "bundle": str(place), "tree": str(mac.tree), "home": str(mac.home)}
    text = HOST.format(paths=[str(ROOT / "runtime")], end=end, **told)
    host = subprocess.Popen([sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert host.stdout is not None
    assert host.stdin is not None
    with host.stdout:
        pids = [int(one) for one in host.stdout.readline().split()]
        if end == "run.wait()":
            host.kill()
        host.stdin.close()
        host.wait()
    assert len(pids) == 2
    assert all(gone(pid) for pid in pids)
    folder = mac.home / "Library/Caches/sbc/seatbelt"
    for _ in range(6000):
        if not list(folder.iterdir()):
            break
        time.sleep(0.05)
    assert list(folder.iterdir()) == []


def test_a_slow_reader_loses_nothing(mac: Mac) -> None:
    mac.stands_for('shift 8; exec "$@"')
    read, write = os.pipe()
    run = mac.start("head", "-c", "300000", "/dev/zero", stdout=write, stderr="null")
    os.close(write)
    time.sleep(1.5)  # longer than a stream that nobody writes to is waited for
    with os.fdopen(read, "rb") as file:
        found = len(file.read())
    outcome = run.wait()
    assert (found, outcome.stdout.total, outcome.stdout.cut, outcome.code) == (300000, 300000, False, 0)


def test_who_leaves_the_session_does_not_keep_the_run_from_ending(mac: Mac) -> None:
    mac.stands_for('shift 8; exec "$@"')
    # It has left before the command ends, which would else be the end of it as well.
    left = "setsid sh -c 'echo $$ > left; exec sleep 10000' & until [ -s left ]; do sleep 0.01; done; cat left"
    outcome = mac.run("sh", "-c", left)
    assert outcome.code == 0
    os.kill(int(outcome.stdout.kept), signal.SIGKILL)
    assert any("lives on" in one for one in outcome.notes)


def test_a_protected_path_that_was_made_is_no_pass(mac: Mac) -> None:
    text = SMALL.replace("read ${tree}/.git optional", "read ${tree}/a/b optional")
    outcome = mac.run("mkdir", "-p", "a/b", text=text)
    assert (outcome.by, outcome.code, outcome.ok) == ("sandbox", 125, False)
    assert outcome.failure is not None
    assert outcome.failure.step == "created-protected"
    made = [(one.could_be_created, one.created) for one in outcome.absent if one.path.endswith("/a/b")]
    assert made == [(True, True)]
    # Its own name is closed by the profile's rule.
    assert not any(one.could_be_created for one in mac.run("true").absent)


@pytest.mark.parametrize("backend", ["namespace", "bwrap", "process", "oci"])
def test_other_backends_are_refused(mac: Mac, backend: str) -> None:
    outcome = mac.run("true", backend=backend)
    assert (outcome.code, f"`{backend}` is not there on macOS" in str(outcome.failure)) == (125, True)
