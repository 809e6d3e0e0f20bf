"""What runs the command is nothing that the command can change."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runtime.support import Caller, out
from tests.runtime.test_paths import profile
from tests.runtime.test_protected import refused
from tests.shared_data import ROOT


@pytest.fixture
def tree(caller: Caller) -> Path:
    """A folder with `a/own/f`, `b/own` (a file) and `free`."""
    made = caller.tree()
    for folder in ("a", "a/own", "b", "free"):
        (made / folder).mkdir()
    for file in ("a/own/f", "b/own"):
        (made / file).write_text(file)
    caller.own(*made.rglob("*"))
    return made


def test_what_the_caller_relies_on(caller: Caller, backend: str, tree: Path) -> None:
    script = (
        "for one in a/own/f a/own/new b/own a/new b/new free/new; do (echo x > $one) 2>/dev/null && echo $one; done; "
        "for one in a a/own b b/own; do mv $one x 2>/dev/null || rm $one 2>/dev/null || echo held; done"
    )
    relied_on = [str(tree / "a/own"), str(tree / "b/own"), str(tree / "nothing")]
    outcome = caller.run(
        profile("write ${t} as /w; start-in /w"), script, {"t": tree}, backend=backend, relied_on=relied_on
    )
    assert out(outcome).split() == ["a/new", "b/new", "free/new", *["held"] * 4]
    assert [one for one in outcome.notes if "part of what runs" in one] == [
        f"`{tree / one}` is read-only: it is part of what runs the command" for one in ("a/own", "b/own")
    ]


@pytest.mark.parametrize("place", ["a/own", "a"])
def test_what_is_writable_by_name(caller: Caller, backend: str, tree: Path, place: str) -> None:
    made = profile("write ${t} as /w; start-in /w")
    outcome = caller.run(made, "true", {"t": tree / "a/own"}, backend=backend, relied_on=[str(tree / place)])
    refused(outcome, "paths", f"`{tree / 'a/own'}` is part of what runs the command (`{tree / place}`)")


def test_what_is_not_writable_is_of_no_account(caller: Caller, tree: Path) -> None:
    made = profile("read ${t} as /w; start-in /w")
    outcome = caller.run(made, "cat a/own/f", {"t": tree}, relied_on=[str(tree / "a/own"), "/usr/bin"])
    assert out(outcome) == "a/own/f"
    assert not any("part of what runs" in one for one in outcome.notes)


def test_this_package_inside_the_tree(caller: Caller, backend: str, tree: Path) -> None:
    """What the caller's process imports after the run is what it would have imported before it."""
    shutil.copytree(ROOT / "runtime/sbc_runtime", tree / "sbc_runtime", ignore=shutil.ignore_patterns("__pycache__"))
    caller.own(*(tree / "sbc_runtime").rglob("*"), tree / "sbc_runtime")
    hostile = "for one in $(find /w -name '*.py'); do (echo '?' > $one) 2>/dev/null && echo $one; done; true"
    program = tree / "call.py"
    program.write_text(
        f"import sys; sys.path.insert(0, {str(tree)!r}); sys.dont_write_bytecode = True\n"
        "import json, sbc_runtime\n"
        f"loaded = sbc_runtime.load({str(profile('write ${t} as /w; start-in /w'))!r})\n"
        f"outcome = loaded.run(['/bin/sh', '-c', {hostile!r}], params={{'t': {str(tree)!r}}}, backend={backend!r})\n"
        "import sbc_runtime.report\n"
        "print(json.dumps([outcome.stdout.kept.decode(), str(outcome.failure)]))\n"
    )
    caller.own(program)
    told = json.loads(caller.python([str(program)]))
    assert told == ["/w/call.py\n", "None"]


def test_its_virtual_environment(tmp_path: Path) -> None:
    made = tmp_path / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(made)], check=True)
    script = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'runtime')!r})\n"
        "from sbc_runtime.prepare.own import places\n"
        "print(places(('/x',)))\n"
    )
    done = subprocess.run([str(made / "bin/python"), "-I", "-c", script], capture_output=True, text=True, check=True)
    expected = [f"{made}/{name}" for name in ("bin", "lib", "lib64", "pyvenv.cfg")]
    assert done.stdout == f"{(str(ROOT / 'runtime/sbc_runtime'), *expected, '/x')}\n"
