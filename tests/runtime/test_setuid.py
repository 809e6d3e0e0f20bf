"""A program that is setuid root, in what the command may run, makes nobody root (execve(2); mount(8), `nosuid`)."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.runtime.support import PATHS, SYSTEM, USER, Caller, bundle, missing, out


@pytest.fixture
def tree(caller: Caller) -> Path:
    if os.geteuid() != 0:
        missing("root", "only root makes programs that are setuid root")
    made = caller.tree()
    found = shutil.which("id")
    assert found is not None
    shutil.copy(found, made / "id")
    os.chown(made / "id", 0, 0)
    (made / "id").chmod(0o6755)
    return made


@pytest.mark.parametrize("access", ["read", "write"])
@pytest.mark.parametrize("backend", ["namespace", "bwrap", "process"])
def test_nobody_becomes_root(caller: Caller, tree: Path, backend: str, access: str) -> None:
    outside = subprocess.run(
        [tree / "id", "-u"], capture_output=True, text=True, check=True, user=USER, group=USER, extra_groups=[]
    )
    if outside.stdout != "0\n":
        pytest.skip("setuid programs gain nothing outside either: what holds the test's files is mounted nosuid")
    place = "" if backend == "process" else " as /t"
    files = f"root private; {SYSTEM}; {access} ${{t}}{place}; devices minimal; start-in /usr"
    made = bundle(f"param t : dir; syscalls none; files {{ {files} }}; network none; {PATHS}")
    program = f"{tree}/id" if backend == "process" else "/t/id"
    told = out(caller.run(made, f"{program} -u; {program} -g", {"t": tree}, backend=backend, allow_wider=True))
    assert told.split() == [str(caller.owner)] * 2
