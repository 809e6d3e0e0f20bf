"""Root calls, and the command's ids may not search the folders above: sources, covers, trees."""

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.runtime.support import Caller, out, stock
from tests.runtime.test_paths import host, profile
from tests.shared_data import ROOT


@pytest.fixture
def closed() -> Path:
    """A folder of root's alone."""
    made = Caller("root").tree()
    os.chown(made, 0, 0)
    made.chmod(0o700)
    return made


@pytest.fixture
def tree() -> Path:
    return Caller("root").tree()


def shown(text: str) -> list[str]:
    """What init's mount table says of places: `PLACE KIND OPTIONS`."""
    lines = [line.split() for line in text.splitlines()]
    return [f"{one[4]} {one[one.index('-') + 1]} {one[5]}" for one in lines]


def test_a_cover(backend: str, closed: Path, tree: Path) -> None:
    (closed / "keys/more").mkdir(parents=True)
    (closed / "file").write_text("secret")
    made = host(f"write ${{t}}; hide {{ {closed}/keys {closed}/file }}", "network host")
    table = out(Caller("root").run(made, "cat /proc/self/mountinfo", {"t": tree}, backend=backend))
    for name in ("keys", "file"):
        line = next(one for one in shown(table) if one.startswith(f"{closed}/{name} "))
        assert line.split()[1] == "tmpfs"
        assert {"ro", "nosuid", "nodev"} <= set(line.split()[2].split(","))


def test_a_cover_holds_when_the_folder_is_opened(backend: str, closed: Path, tree: Path) -> None:
    """The reason why it is not left out: modes may change meanwhile."""
    (closed / "keys").mkdir()
    (closed / "keys/id").write_text("secret")
    os.mkfifo(tree / "go")
    Caller("root").own(tree / "go")
    made = host(f"write ${{t}}; hide {closed}/keys", "network host")
    code = (
        "import os, select, sys, sbc_runtime\n"
        "run = sbc_runtime.load(sys.argv[1]).start(['/bin/sh', '-c', sys.argv[4]], params={'t': sys.argv[2]}, "
        "backend=sys.argv[5])\n"
        "while not os.path.exists(sys.argv[2] + '/ready') and not select.select([run], [], [], 0.01)[0]: pass\n"
        "os.chmod(sys.argv[3], 0o755)\n"
        "if os.path.exists(sys.argv[2] + '/ready'): open(sys.argv[2] + '/go', 'w').write('x\\n')\n"
        "o = run.wait(); print(o.stdout.kept.decode(), o.failure)\n"
    )
    script = f"touch {tree}/ready; read x < {tree}/go; ls -A {closed} {closed}/keys"
    done = subprocess.run(
        [sys.executable, "-c", code, str(made), str(tree), str(closed), script, backend],
        capture_output=True, text=True, check=True, timeout=600, env={"PYTHONPATH": str(ROOT / "runtime")},
    )  # fmt: skip
    assert done.stdout.split() == [f"{closed}:", "keys", f"{closed}/keys:", "None"], done.stderr


def test_what_is_read_only(backend: str, closed: Path, tree: Path) -> None:
    (closed / "tools").mkdir()
    made = host(f"write ${{t}}; read {closed}/tools noexec", "network host")
    table = out(Caller("root").run(made, "cat /proc/self/mountinfo", {"t": tree}, backend=backend))
    line = next(one for one in shown(table) if one.startswith(f"{closed}/tools "))
    assert {"ro", "noexec"} <= set(line.split()[2].split(","))


def test_a_socket(backend: str, closed: Path, tree: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(closed / "s"))
        listener.listen()
        made = host(f"write ${{t}}; read {closed}", "network none")
        outcome = Caller("root").run(made, ["/bin/true"], {"t": tree}, backend=backend)
        assert outcome.ok, outcome.failure


def test_a_tree_is_mounted_elsewhere(backend: str, closed: Path) -> None:
    caller = Caller("root")
    inner = closed / "tree"
    (inner / ".git").mkdir(parents=True)
    caller.own(inner, inner / ".git")
    made = profile("write ${t} as /w; read ${t}/.git; start-in /w")
    script = "touch x; ls; (touch .git/x) 2>/dev/null || echo held"
    assert out(caller.run(made, script, {"t": inner}, backend=backend)).split() == ["x", "held"]


def test_a_tree_in_the_home_of_root(backend: str) -> None:
    home = Path("/root")
    if not home.is_dir() or home.stat().st_mode & 0o077:
        pytest.skip("/root is not root's alone here")
    caller = Caller("root")
    with tempfile.TemporaryDirectory(dir=home, prefix="sbc-test-") as made:
        caller.own(Path(made))
        plan = profile("write ${t} as /w; start-in /w")
        assert out(caller.run(plan, "touch x; ls", {"t": made}, backend=backend)) == "x\n"


def test_a_tree_that_the_command_could_not_reach(backend: str, closed: Path) -> None:
    caller = Caller("root")
    inner = closed / "tree"
    inner.mkdir()
    caller.own(inner)
    outcome = caller.run(host("write ${t}", "network host"), ["/bin/true"], {"t": inner}, backend=backend)
    assert outcome.kind == "setup-failed"
    assert outcome.failure is not None
    assert "search the folders above" in outcome.failure.remedy


@pytest.mark.parametrize("who", ["root", "user"])
def test_builder(backend: str, who: str) -> None:
    """Credentials below a home that is its owner's alone."""
    caller = Caller(who)
    tree = caller.tree()
    home = caller.tree()
    for name in (".ssh", ".aws", ".config/gh"):
        (home / name).mkdir(parents=True)
        (home / name / "key").write_text("secret")
    (home / ".netrc").write_text("secret")
    if who == "root":
        os.chown(home, 0, 0)
    else:
        caller.own(*home.rglob("*"))
    home.chmod(0o700)
    script = (
        f"cat {home}/.ssh/key {home}/.netrc {home}/.config/gh/key 2>/dev/null; cat /proc/self/mountinfo; touch {tree}/x"
    )
    outcome = caller.run(
        stock("builder"), script, {"worktree": tree}, backend=backend, environ={"HOME": str(home)}, cwd=str(tree)
    )
    table = out(outcome)
    assert "secret" not in table
    covered = {line.split()[0]: line.split()[1] for line in shown(table)}
    for name in (".ssh", ".aws", ".config/gh", ".netrc"):
        assert covered[f"{home}/{name}"] == "tmpfs"
    assert (tree / "x").exists()
