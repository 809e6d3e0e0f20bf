"""`sbc run --gate` and `containment required`: a verdict comes from the command in its sandbox, or there is none."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sbc.kernel.numbers import numbers
from tests.cli.conftest import PROFILES, ROOT
from tests.cli.test_run import ENVIRONMENT, SBC, given, namespaces_work

REFUSED = "gate refused: sandboxing requested but unavailable"
NO_NAMESPACES = """
import os, struct, sys
sys.path.insert(0, sys.argv[1])
from sbc_runtime import libc
numbers = [int(one) for one in sys.argv[2].split(",")]
code = [(0x20, 0, 0, 0)]
code += [(0x15, len(numbers) - at, 0, number) for at, number in enumerate(numbers)]
code += [(6, 0, 0, 0x7FFF0000), (6, 0, 0, 0x50001)]
libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
libc.FilterProgram(b"".join(struct.pack("=HBBI", *one) for one in code)).load()
os.execv(sys.executable, [sys.executable, *sys.argv[3:]])
"""
"""Becomes another program inside a filter, as containers have one: unshare and mount are refused."""

REFUSED_CALLS = ",".join(str(numbers(os.uname().machine)[name]) for name in ("unshare", "mount"))

Gate = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module", autouse=True)
def sandbox() -> None:
    if not namespaces_work():
        pytest.skip("no backend that isolates works here (`sbc doctor` says why)")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tmp_path.chmod(0o711)
    return given(tmp_path / "tree")


@pytest.fixture
def gate(tree: Path, tmp_path: Path) -> Gate:
    """Run a command under a stock profile; `without`: where neither namespaces nor mounts can be made."""

    def go(
        *command: str,
        name: str = "gate",
        options: tuple[str, ...] = ("--gate",),
        without: bool = False,
        **variables: str,
    ) -> "subprocess.CompletedProcess[str]":
        start = (
            [sys.executable, "-c", NO_NAMESPACES, str(ROOT / "runtime"), REFUSED_CALLS, *SBC[1:]] if without else SBC
        )
        report = ("--report", str(tmp_path / "report.json"))
        asked = ["run", str(PROFILES / f"{name}.sbx"), "-D", f"worktree={tree}", *report, *options, "--", *command]
        environment = {"PATH": "/usr/bin:/bin", **ENVIRONMENT, **variables}
        return subprocess.run(
            [*start, *asked], capture_output=True, text=True, env=environment, check=False, stdin=subprocess.DEVNULL
        )

    return go


def reported(tmp_path: Path) -> Any:  # noqa: ANN401 (any JSON value)
    return json.loads((tmp_path / "report.json").read_text())


@pytest.mark.parametrize(("command", "status"), [("true", 0), ("exit 1", 1), ("exit 125", 125), ("kill -9 $$", 137)])
def test_the_exit_status_is_the_verdict(gate: Gate, command: str, status: int) -> None:
    done = gate("/bin/sh", "-c", command)
    assert (done.returncode, done.stderr) == (status, "")


def test_what_a_gate_may_change(gate: Gate, tree: Path) -> None:
    for name in (".git", "node_modules"):
        given(tree / name)
    script = """
        cd "$1" && echo x > made && echo x > /tmp/made || exit 9
        for place in .git/config node_modules/x /etc/x /usr/x /var/x; do
            (echo x > "$place") 2>/dev/null && echo "$place"
        done
        rmdir .git node_modules 2>/dev/null && echo removed
        exit 0
    """
    done = gate("/bin/sh", "-c", script, "sh", str(tree))
    assert (done.returncode, done.stdout) == (0, "")
    assert (tree / "made").read_text() == "x\n"
    assert not Path("/tmp/made").exists()


def test_a_protected_path_that_the_command_made_is_no_pass(gate: Gate, tree: Path) -> None:
    done = gate("/bin/mkdir", str(tree / ".git"))
    assert done.returncode == 125
    assert "gate refused: created-protected" in done.stderr


def test_a_protected_path_that_the_command_replaced_is_no_pass(gate: Gate, tree: Path, tmp_path: Path) -> None:
    (tree / "real").mkdir()
    (tree / ".git").symlink_to("real")
    owner = tree.stat()
    for one in (tree / "real", tree / ".git"):
        os.chown(one, owner.st_uid, owner.st_gid, follow_symlinks=False)
    assert gate("/bin/ls", str(tree / ".git")).returncode == 0
    done = gate("/bin/sh", "-c", f"rm {tree}/.git && mkdir {tree}/.git")
    assert done.returncode == 125
    assert "gate refused: replaced-protected" in done.stderr
    assert [one["place"] for one in reported(tmp_path)["replaced"]] == [str(tree / ".git")]


def test_a_limit_is_no_pass(gate: Gate) -> None:
    done = gate("/bin/sleep", "60", options=("--gate", "--timeout", "0.2"))
    assert done.returncode == 124
    assert "gate refused: timed-out" in done.stderr


@pytest.mark.parametrize("options", [("--gate",), ("--gate", "--backend", "namespace"), ("--gate", "--allow-wider")])
def test_without_a_sandbox_there_is_no_verdict(gate: Gate, tree: Path, options: tuple[str, ...]) -> None:
    done = gate("/bin/touch", str(tree / "ran"), options=options, without=True)
    assert done.returncode == 125
    assert REFUSED in done.stderr.splitlines()
    assert not (tree / "ran").exists()


def test_the_process_backend_is_no_sandbox_of_a_gate(gate: Gate, tree: Path) -> None:
    done = gate("/bin/touch", str(tree / "ran"), options=("--gate", "--backend", "process", "--allow-wider"))
    assert done.returncode == 125
    assert "gate refused" in done.stderr
    assert not (tree / "ran").exists()


def test_a_gate_whose_sandbox_is_switched_off_says_so(gate: Gate, tmp_path: Path) -> None:
    done = gate("/bin/sh", "-c", "env; exit 3", SBC_SANDBOX_GATES="0", API_KEY="k", LD_LIBRARY_PATH="/x", LC_AUTH="t")
    assert done.returncode == 3
    assert "WITHOUT A SANDBOX" in done.stderr
    assert not {"API_KEY", "LD_LIBRARY_PATH", "LC_AUTH", "SBC_SANDBOX_GATES"} & {
        line.partition("=")[0] for line in done.stdout.splitlines()
    }
    made = reported(tmp_path)
    assert (made["level"], made["verified"], made["backend"]) == ("none", False, None)
    assert "SBC_SANDBOX_GATES=0" in str(made["notes"])


def test_without_a_sandbox_the_wall_limit_kills(gate: Gate) -> None:
    done = gate("/bin/sh", "-c", "sleep 60 & sleep 60", options=("--gate", "--timeout", "0.2"), SBC_SANDBOX_GATES="0")
    assert done.returncode == 124


@pytest.mark.parametrize("said", ["1", "", "false", "00"])
def test_only_zero_switches_it_off(gate: Gate, said: str) -> None:
    done = gate("/bin/sh", "-c", "echo x > /etc/sbc-test 2>/dev/null || echo held", SBC_SANDBOX_GATES=said)
    assert (done.returncode, done.stdout) == (0, "held\n")
    assert ("not understood" in done.stderr) == (said not in {"1", ""})


def test_the_switch_is_for_gates_alone(gate: Gate) -> None:
    done = gate("/bin/sh", "-c", "echo x > /etc/sbc-test 2>/dev/null || echo held", options=(), SBC_SANDBOX_GATES="0")
    assert done.stdout == "held\n"


@pytest.mark.parametrize(
    "asked",
    [
        {"options": ("--gate",), "SBC_SANDBOX_GATES": "0"},
        {"options": ("--backend", "process", "--allow-wider")},
        {"options": ("--allow-wider",), "without": True},
        {"options": (), "without": True, "SBC_SANDBOX_GATES": "0"},
    ],
)
def test_a_builder_is_never_run_without_a_sandbox(
    gate: Gate, tree: Path, tmp_path: Path, asked: dict[str, object]
) -> None:
    done = gate("/bin/touch", str(tree / "ran"), name="builder", **asked)
    assert done.returncode == 125
    assert "containment_unavailable" in done.stderr
    assert not (tree / "ran").exists()
    assert reported(tmp_path)["outcome"]["failure"]["step"] == "containment_unavailable"
