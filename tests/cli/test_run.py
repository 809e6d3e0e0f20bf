"""`sbc run` and `sbc doctor`, as whole processes: exit statuses, one line for each of ours, reports, signals."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sbc.cli.relied_on import relied_on
from tests.cli.conftest import PROFILES, ROOT

SBC = [sys.executable, "-m", "sbc.cli.main"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT / 'compiler'}{os.pathsep}{ROOT / 'runtime'}"}
PROFILE = """\
sbx 1
use <stock>
profile small {{
  param tree : dir
  syscalls {{ include @stock-denylist; default allow }}
  files {{ root private; read {{ /usr /bin /lib /lib64 }} optional; write ${{tree}} as /work; start-in /work }}
  environment {{ set PATH = "/usr/bin:/bin" }}
  {more}
}}
"""

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def namespaces_work() -> bool:
    done = subprocess.run([*SBC, "doctor", "--json"], capture_output=True, text=True, env=ENVIRONMENT, check=False)
    return bool(json.loads(done.stdout)["ready"])


@pytest.fixture(scope="module", autouse=True)
def sandbox() -> None:
    if not namespaces_work():
        pytest.skip("no backend that isolates works here (`sbc doctor` says why)")


def given(path: Path) -> Path:
    """Make a folder that belongs to whom the command is on the host: where root calls, 65534."""
    path.mkdir(exist_ok=True)
    if os.geteuid() == 0:
        os.chown(path, 65534, 65534)
    return path


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return given(tmp_path / "tree")


@pytest.fixture
def run(tmp_path: Path, tree: Path) -> Run:
    """Run a command under a small profile; `more` adds blocks to it, `options` options of `sbc run`."""

    def go(*command: str, more: str = "", options: tuple[str, ...] = ()) -> "subprocess.CompletedProcess[str]":
        profile = tmp_path / "small.sbx"
        profile.write_text(PROFILE.format(more=more))
        arguments = ["run", str(profile), "-D", f"tree={tree}", *options, "--", *command]
        return subprocess.run(
            [*SBC, *arguments], capture_output=True, text=True, env=ENVIRONMENT, check=False, stdin=subprocess.DEVNULL
        )

    return go


@pytest.mark.parametrize(
    ("command", "status", "said"),
    [
        (("true",), 0, ""),
        (("sh", "-c", "exit 1"), 1, ""),
        (("sh", "-c", "exit 124"), 124, ""),
        (("sh", "-c", "kill -TERM $$"), 128 + signal.SIGTERM, ""),
        (("no-such-command",), 127, "no-such-command"),
        (("/work",), 126, "/work"),
    ],
)
def test_the_commands_own_end_is_passed_on(run: Run, command: tuple[str, ...], status: int, said: str) -> None:
    done = run(*command)
    assert done.returncode == status
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == (1 if said else 0)


@pytest.mark.parametrize(
    ("more", "command", "status", "said"),
    [
        ("limits { wall 300ms }", ("sleep", "30"), 124, "wall limit"),
        ("limits { output 1KiB }", ("sh", "-c", "yes | head -c 100000; sleep 30"), 137, "output limit"),
    ],
)
def test_limits_of_ours_are_said_in_one_line(
    run: Run, more: str, command: tuple[str, ...], status: int, said: str
) -> None:
    done = run(*command, more=more)
    assert done.returncode == status
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_what_came_before_the_output_limit_is_kept(run: Run) -> None:
    done = run("sh", "-c", "yes | head -c 100000", more="limits { output 1KiB }")
    assert done.stdout == "y\n" * 512


def test_the_report_says_what_was_in_force(run: Run, tmp_path: Path) -> None:
    done = run("sh", "-c", "exit 3", options=("--report", str(tmp_path / "report.json")))
    assert done.returncode == 3
    made = json.loads((tmp_path / "report.json").read_text())
    assert made["outcome"] == {**made["outcome"], "kind": "exited", "by": "command", "code": 3}
    assert made["verified"] is True
    assert made["protections"]["seccomp"] is True
    assert made["network"] == "none"


def test_a_report_that_the_command_could_write_is_refused(run: Run, tree: Path) -> None:
    done = run("touch", "ran", options=("--report", str(tree / "report.json")))
    assert done.returncode == 125
    assert "the command can write" in done.stderr
    assert list(tree.iterdir()) == []


def test_a_report_goes_where_its_path_led_before_the_run(run: Run, tree: Path, tmp_path: Path) -> None:
    """The command owns a link on the way to it, and turns it round."""
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()
    after.mkdir()
    (tree / "link").symlink_to(before)
    command = f"rm link; ln -s {after} link; readlink link"
    done = run("sh", "-c", command, options=("--report", str(tree / "link" / "report.json")))
    assert done.returncode == 0
    assert done.stdout == f"{after}\n"
    assert [path.name for path in before.iterdir()] == ["report.json"]
    assert list(after.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("absent.sbb", "--", "true"), "absent.sbb"),
        (("absent.sbx", "--", "true"), "absent.sbx"),
        ((str(PROFILES / "agent-check.sbx"), "--", "true"), "`workdir` has no value"),
        ((str(PROFILES / "agent-check.sbx"), "-D", "workdir=/nonexistent", "--", "true"), "/nonexistent"),
        ((str(PROFILES / "agent-check.sbx"), "-D", "nope=1", "--", "true"), "nope"),
        ((str(PROFILES / "agent-check.sbx"), "-D", "workdir", "--", "true"), "NAME=VALUE"),
        ((str(PROFILES / "agent-check.sbx"), "-D", "workdir=.", "--backend", "oci", "--", "true"), "oci"),
        ((str(PROFILES / "agent-check.sbx"), "-D", "workdir=."), "after `--`"),
    ],
)
def test_nothing_is_run_where_the_sandbox_cannot_be_set_up(
    tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    done = subprocess.run(
        [*SBC, "run", *arguments], capture_output=True, text=True, env=ENVIRONMENT, check=False, cwd=given(tmp_path)
    )
    assert done.returncode == 125
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_an_interrupt_cancels(tmp_path: Path, tree: Path) -> None:
    profile = tmp_path / "small.sbx"
    profile.write_text(PROFILE.format(more=""))
    arguments = ["run", str(profile), "-D", f"tree={tree}", "--", "sh", "-c", "echo started; sleep 300"]
    with subprocess.Popen(
        [*SBC, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "started\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(300) == 130
        assert "cancelled" in process.stderr.read()


def test_a_profile_is_compiled_once(tmp_path: Path, tree: Path) -> None:
    """A changed source, also one that is used, is compiled again."""
    environment = {**ENVIRONMENT, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    (tmp_path / "rules.sbx").write_text("sbx 1\nrules @more { deny EPERM sethostname }\n")
    profile = tmp_path / "small.sbx"
    profile.write_text(
        'sbx 1\nuse "rules.sbx"\n'
        + PROFILE.format(more="")
        .removeprefix("sbx 1\n")
        .replace("include @stock-denylist", "include @more; include @stock-denylist")
    )
    command = [*SBC, "run", str(profile), "-D", f"tree={tree}", "--", "hostname", "x"]
    kept = tmp_path / "cache" / "sbc"
    content: list[bytes] = []
    for errno in ("EPERM", "EPERM", "EXDEV"):
        (tmp_path / "rules.sbx").write_text(f"sbx 1\nrules @more {{ deny {errno} sethostname }}\n")
        subprocess.run(command, env=environment, check=False, capture_output=True)
        (bundle,) = kept.glob("*.bundle.json")
        content.append(bundle.read_bytes())
    assert content[0] == content[1]
    assert content[1] != content[2]


def test_running_a_bundle_imports_no_compiler(tmp_path: Path, tree: Path) -> None:
    profile = tmp_path / "small.sbx"
    profile.write_text(PROFILE.format(more=""))
    subprocess.run(
        [*SBC, "compile", str(profile), "-o", str(tmp_path)], env=ENVIRONMENT, check=True, capture_output=True
    )
    program = (
        "import sys; from sbc.cli.main import main; status = main(sys.argv[1:]);"
        "print(sorted(m for m in sys.modules if m.split('.')[0] in ('lark', 'jinja2')"
        " or m.startswith(('sbc.syntax', 'sbc.backends', 'sbc.policy', 'sbc.resolve')))); sys.exit(status)"
    )
    arguments = ["run", str(tmp_path / "small.sbb"), "-D", f"tree={tree}", "--", "true"]
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, env=ENVIRONMENT, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "[]\n", "")


def test_a_terminal_for_the_command(tmp_path: Path, tree: Path) -> None:
    """With a terminal on all three descriptors the command gets one of its own, of the same size."""
    import fcntl
    import pty
    import struct
    import termios

    profile = tmp_path / "small.sbx"
    profile.write_text(PROFILE.format(more="").replace("root private;", "root private; devices standard;"))
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 77, 0, 0))
    arguments = ["run", str(profile), "-D", f"tree={tree}", "--", "sh", "-c", "tty; stty size; read x; echo got $x"]
    with subprocess.Popen([*SBC, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=ENVIRONMENT) as process:
        os.close(theirs)
        said = b""
        end = time.monotonic() + 300
        while b"77" not in said and time.monotonic() < end:
            said += os.read(ours, 1000)
        os.write(ours, b"hello\r")
        while b"got hello" not in said and time.monotonic() < end:
            said += os.read(ours, 1000)
        assert process.wait(300) == 0
    os.close(ours)
    assert b"/dev/pts/" in said
    assert b"33 77" in said


def test_doctor_says_what_works(tmp_path: Path) -> None:
    done = subprocess.run([*SBC, "doctor"], capture_output=True, text=True, env=ENVIRONMENT, check=False, cwd=tmp_path)
    assert done.returncode == 0
    assert "backend namespace: ready" in done.stdout


def test_the_cache_is_relied_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    found = relied_on("/x/small.sbx", ("small.sbx", "lib/above.sbx", "<stock>"))
    assert {"/x/small.sbx", "/x/lib/above.sbx", str(tmp_path / "sbc"), str(ROOT / "compiler/sbc")} <= set(found)
    assert relied_on("/x/small.sbb", ("small.sbx",)) == (str(ROOT / "compiler/sbc"), "/x/small.sbb")


def test_the_profile_in_the_tree_is_read_only(tree: Path) -> None:
    (tree / "lib").mkdir()
    (tree / "lib/above.sbx").write_text(PROFILE.format(more="").replace("small", "above"))
    (tree / "small.sbx").write_text('sbx 1\nuse "lib/above.sbx"\nprofile small extends above { }\n')
    for one in ("lib", "lib/above.sbx", "small.sbx"):
        given(tree / one) if (tree / one).is_dir() else os.chown(tree / one, tree.stat().st_uid, -1)
    script = (
        "for one in lib/above.sbx small.sbx; do (echo x > $one) 2>/dev/null || echo held; done; mv lib x || echo held"
    )
    command = [*SBC, "run", str(tree / "small.sbx"), "-D", f"tree={tree}", "--", "/bin/sh", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=False)
    assert done.stdout.split() == ["held"] * 3
