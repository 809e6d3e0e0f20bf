"""The caller's umask shapes nothing of a sandbox, and is not the command's. `how`: backend and umask."""

import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.support import PATHS, SYSTEM, USER, Caller, bundle, interpreter_for_anybody
from tests.shared_data import ROOT

CODE = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
import sbc_runtime
os.umask(int(sys.argv[2], 8))
outcome = sbc_runtime.load(sys.argv[3]).run(
    ["/bin/sh", "-c", sys.argv[6]], params={"t": sys.argv[4]}, backend=sys.argv[5], allow_wider=True)
print(json.dumps([outcome.stdout.kept.decode(), outcome.stderr.kept.decode(), outcome.failure]))
"""
SCRIPT = (
    "umask; stat -c '%a %n' / /deep /deep/er /deep/er/w /etc /dev /dev/shm /tmp; touch /deep/er/w/f; mkdir /deep/er/w/d"
)


def run(caller: Caller, made: Path, tree: Path, *, how: tuple[str, str], script: str) -> list[str]:
    program = interpreter_for_anybody() if caller.other else sys.executable
    assert program is not None
    command = [program, "-I", "-c", CODE, str(ROOT / "runtime"), how[1], str(made), str(tree), how[0], script]
    more: dict[str, Any] = {"user": USER, "group": USER, "extra_groups": []} if caller.other else {}
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd="/", env={}, timeout=600, **more)
    told, errors, failure = json.loads(done.stdout)
    assert failure is None, failure
    assert errors == ""
    return told.splitlines()


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", ["0777", "0077", "0000"])
def test_in_the_sandbox(caller: Caller, backend: str, umask: str) -> None:
    tree = caller.tree()
    files = f"root private; {SYSTEM}; devices minimal; write ${{t}} as /deep/er/w; tmp /tmp size 1MiB; start-in /"
    made = bundle(f"param t : dir; files {{ {files} }}; {PATHS}")
    told = run(caller, made, tree, how=(backend, umask), script=SCRIPT)
    assert told == [
        "0022", "755 /", "755 /deep", "755 /deep/er", "755 /deep/er/w", "755 /etc", "755 /dev", "1777 /dev/shm",
        "1777 /tmp",
    ]  # fmt: skip
    assert (mode(tree / "f"), mode(tree / "d")) == (0o644, 0o755)


def test_without_a_sandbox(caller: Caller) -> None:
    tree = caller.tree()
    made = bundle(f"param t : dir; files {{ root host; read /; write ${{t}}; devices host }}; network host; {PATHS}")
    assert run(caller, made, tree, how=("process", "0777"), script=f"umask; mkdir {tree}/d") == ["0022"]
    assert mode(tree / "d") == 0o755
