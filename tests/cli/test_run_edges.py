"""`sbc run` at its edges: what cannot be done is said before the start, with 125; the command's own end counts."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_run import ENVIRONMENT, SBC, given, sandbox
from tests.runtime.support import PATHS, SYSTEM, USER, bundle, folder, interpreter_for_anybody, missing

__all__ = ["sandbox"]

PLAIN = f"files {{ root private; {SYSTEM}; tmp /tmp size 1MiB; devices minimal; start-in /tmp }}; network none; {PATHS}"
RUNS = ("sh", "-c", "echo ran; exit 7")


def run(*options: str, command: tuple[str, ...] = RUNS, **more: object) -> "subprocess.CompletedProcess[str]":
    line = [*SBC, "run", str(bundle(PLAIN)), *options, "--", *command]
    asked: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    return subprocess.run(line, text=True, env=ENVIRONMENT, check=False, stdin=subprocess.DEVNULL, **asked)


def refused(done: "subprocess.CompletedProcess[str]", *words: str) -> None:
    assert (done.returncode, done.stdout) == (125, ""), done
    assert "Traceback" not in done.stderr
    assert all(word in done.stderr for word in words), done.stderr


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "-1", "0", "1e400", "-0.0"])
def test_timeouts_that_are_none(value: str) -> None:
    done = run(f"--timeout={value}")
    refused(done, "timeout", "above zero", "nothing was run")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "options",
    [
        ("--timeout", "soon"),
        ("--backend", "magic"),
        ("--no-such-option",),
        ("--report",),
        ("--pty", "--no-pty"),
        ("-D", "=x"),
        ("-D", "nope"),
        ("other-file",),
    ],
)
def test_calls_that_are_wrong(options: tuple[str, ...]) -> None:
    refused(run(*options), "sbc run")


def test_without_a_file() -> None:
    done = subprocess.run([*SBC, "run", "--", "true"], capture_output=True, text=True, env=ENVIRONMENT, check=False)
    refused(done, "FILE")


@pytest.mark.parametrize("cut", [0, 1, 40, 4000, -1])
def test_bundles_that_are_damaged(tmp_path: Path, cut: int) -> None:
    damaged = tmp_path / "b.sbb"
    content = bundle(PLAIN).read_bytes()
    damaged.write_bytes(content[:cut] + b"\x01" + content[cut:][1:])
    done = subprocess.run(
        [*SBC, "run", str(damaged), "--", "true"], capture_output=True, text=True, env=ENVIRONMENT, check=False
    )
    refused(done, str(damaged), "nothing was run")


def test_a_report_is_found_impossible_before_the_start(tmp_path: Path) -> None:
    """A folder, a path that leads nowhere, what no file may replace: nothing has run, and nothing is left."""
    folder = tmp_path / "folder"
    folder.mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/null")
    (tmp_path / "stdout").symlink_to("/proc/self/fd/1")
    for name in ("folder", "none/r", "pipe", "link", "stdout", "pipe/r"):
        refused(run("--report", str(tmp_path / name), command=("touch", "/tmp/x")), "report", "nothing was run")
    refused(run("--report", "/dev/null"), "report", "no file replaces")
    refused(run("--report", ""), "report")
    assert Path("/dev/null").is_char_device()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["folder", "link", "pipe", "stdout"]


FULL = """
import os, subprocess, sys
sys.path.insert(0, sys.argv[1])
from sbc_runtime import libc
libc.unshare(libc.CLONE_NEWNS)
libc.mount("none", "/", None, libc.MS_REC | libc.MS_PRIVATE)
libc.mount("tmpfs", sys.argv[2], "tmpfs", 0, "size=32k")
with open(sys.argv[2] + "/filler", "wb") as file:
    file.write(bytes(20 << 10))
done = subprocess.run(sys.argv[3:], capture_output=True, text=True)
print([done.returncode, done.stdout, done.stderr, os.listdir(sys.argv[2])])
"""


def test_a_report_on_a_full_disk(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        missing("root", "only root mounts a small tmpfs")
    command = [*SBC, "run", str(bundle(PLAIN)), "--report", str(tmp_path / "r.json"), "--", *RUNS]
    runtime = ENVIRONMENT["PYTHONPATH"].split(os.pathsep)[1]
    done = subprocess.run(
        [sys.executable, "-c", FULL, runtime, str(tmp_path), *command],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        check=True,
    )
    code, out, err, left = eval(done.stdout)  # noqa: S307 (what the script printed is a literal)
    assert (code, out, left) == (125, "", ["filler"])
    assert "No space left on device" in err


def test_a_report_in_a_folder_that_may_not_be_written(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root writes everywhere")
    tmp_path.chmod(0o500)
    refused(run("--report", str(tmp_path / "r.json")), "report", "Permission denied")


def test_a_report_is_written_whole(tmp_path: Path) -> None:
    place = tmp_path / "r.json"
    place.write_text("x" * 200_000)
    assert run("--report", str(place)).returncode == 7
    assert json.loads(place.read_text())["outcome"]["code"] == 7
    assert [one.name for one in tmp_path.iterdir()] == ["r.json"]


def test_the_end_of_the_command_counts_where_nobody_listens() -> None:
    for options in ((), ("--verbose",)):
        with Path("/dev/full").open("w") as full:
            assert run(*options, stderr=full).returncode == 7
        read, write = os.pipe()
        os.close(read)
        assert run(*options, stderr=write).returncode == 7
        os.close(write)


def test_output_that_is_lost_is_said() -> None:
    """A command that ended before it could be told would else seem to have said nothing."""
    with Path("/dev/full").open("w") as full:
        done = run(stdout=full)
    assert done.returncode == 7
    assert "sbc run: stdout: No space left on device: what came after 0 bytes was lost" in done.stderr


def test_a_report_that_was_asked_for_and_cannot_be_told() -> None:
    with Path("/dev/full").open("w") as full:
        assert run("--json", stderr=full).returncode == 125


def test_from_a_folder_that_is_gone(tmp_path: Path) -> None:
    gone = given(tmp_path / "gone")
    script = 'cd "$0" && rmdir "$0" && exec "$@"'
    line = ["/bin/sh", "-c", script, str(gone), *SBC, "run", str(bundle(PLAIN)), "--", *RUNS]
    done = subprocess.run(line, capture_output=True, text=True, env=ENVIRONMENT, check=False)
    assert (done.returncode, done.stdout) == (7, "ran\n"), done.stderr
    given(gone)
    line[line.index("--") : line.index("--")] = ["--report", "r.json"]
    refused(subprocess.run(line, capture_output=True, text=True, env=ENVIRONMENT, check=False), "report")


def test_a_refusal_in_json_has_every_reason() -> None:
    """In a changed root the kernel makes no user namespace, for neither backend."""
    if os.geteuid() != 0:
        missing("root", "only root may change the root")
    script = (
        "import os, sys; sys.path.insert(0, sys.argv[1]); from sbc_runtime import libc\n"
        "libc.unshare(libc.CLONE_NEWNS); libc.mount('none', '/', None, libc.MS_REC | libc.MS_PRIVATE)\n"
        "libc.mount('/', '/mnt', None, libc.MS_BIND | libc.MS_REC); os.chroot('/mnt'); os.chdir('/')\n"
        "os.execv(sys.argv[2], sys.argv[2:])"
    )
    runtime = ENVIRONMENT["PYTHONPATH"].split(os.pathsep)[1]
    for option in ("--verbose", "--json"):
        line = [sys.executable, "-c", script, runtime, *SBC, "run", str(bundle(PLAIN)), option, "--", *RUNS]
        done = subprocess.run(line, capture_output=True, text=True, env=ENVIRONMENT, check=False)
        refused(done, "namespace: namespaces: ", "bwrap: ", "for namespace: ", "for bwrap: ")
    told = json.loads(done.stderr[done.stderr.index("{") :])["outcome"]["failure"]
    assert told["step"] == "backend"
    assert "for namespace: " in told["remedy"]
    assert "for bwrap: " in told["remedy"]


@pytest.mark.parametrize("name", ["b.sbx", "b.sbb"])
def test_a_profile_that_cannot_be_read_runs_nothing(tmp_path: Path, name: str) -> None:
    program = interpreter_for_anybody() if os.geteuid() == 0 else sys.executable
    if program is None:
        missing("namespace", "no interpreter can be executed by an ordinary user")
    closed = folder() / f"closed-{name}"
    closed.write_text("sbx 1\nprofile p { }\n")
    closed.chmod(0)
    target = tmp_path / "ran"
    more: dict[str, Any] = {"user": USER, "group": USER, "extra_groups": []} if os.geteuid() == 0 else {}
    done = subprocess.run(
        [str(program), *SBC[1:], "run", str(closed), "--", "touch", str(target)],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        check=False,
        cwd="/",
        **more,
    )
    closed.unlink()
    refused(done, closed.name, "ermission denied", "nothing was run")
    assert not target.exists()
