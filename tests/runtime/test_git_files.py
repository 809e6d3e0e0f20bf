"""A `.git` that leads elsewhere: that is read-only wherever it is visible, and never shown because of it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from sbc_runtime.outcome import Outcome
from tests.runtime.support import PATHS, SYSTEM, Caller, bundle, out
from tests.runtime.test_paths import host, profile
from tests.runtime.test_protected import refused

FILES = "write ${t} as /w; read ${t}/work/.git; start-in /w"


@pytest.fixture
def tree(caller: Caller) -> Path:
    """`real` and `shared` with a file `f` each, and `work` without a `.git` so far."""
    made = caller.tree()
    for folder in ("real", "shared", "work"):
        (made / folder).mkdir()
        (made / folder / "f").write_text(folder)
    caller.own(*made.rglob("*"))
    return made


def put(caller: Caller, path: Path, content: bytes) -> None:
    path.write_bytes(content)
    caller.own(path)


def tried(caller: Caller, tree: Path, backend: str, *places: str, files: str = FILES) -> list[str]:
    """Which places can be written to."""
    script = "; ".join(f"(echo x > {one}/new) 2>/dev/null && echo {one}" for one in places) + "; true"
    return out(caller.run(profile(files), script, {"t": tree}, backend=backend)).split()


@pytest.mark.parametrize(
    ("content", "shared", "open_to"),
    [
        (b"gitdir: ../real\n", None, ["shared"]),
        (b"gitdir: ../real\n", b"../shared\n", []),
        (b"gitdir: ../real\r\n\n\n", b"../shared\r\n", []),
        (b"gitdir: TREE/real", b"TREE/shared", []),
        (b"gitdir: ../real" + b"\n" * 9000, None, ["shared"]),
        (b"gitdir: ../link\n", None, ["shared"]),
        (b"gitdir: ../real\0anything", None, ["shared"]),
        # What git does not follow.
        (b"gitdir:../real\n", None, ["real", "shared"]),
        (b"../real\n", None, ["real", "shared"]),
        (b"", None, ["real", "shared"]),
        (b"gitdir: " + b"x" * 9000, None, ["real", "shared"]),
    ],
)
def test_what_it_leads_to(
    caller: Caller, backend: str, tree: Path, *, content: bytes, shared: bytes | None, open_to: list[str]
) -> None:
    (tree / "link").symlink_to("real")
    put(caller, tree / "work/.git", content.replace(b"TREE", os.fsencode(tree)))
    if shared is not None:
        put(caller, tree / "real/commondir", shared.replace(b"TREE", os.fsencode(tree)))
    assert tried(caller, tree, backend, "real", "shared") == open_to


def test_newlines_are_part_of_the_path(caller: Caller, backend: str, tree: Path) -> None:
    (tree / "a\nb").mkdir()
    caller.own(tree / "a\nb")
    put(caller, tree / "work/.git", b"gitdir: ../a\nb\n")
    assert tried(caller, tree, backend, '"$(printf "a\\nb")"', "real") == ["real"]


def test_a_folder_that_shares_another(caller: Caller, backend: str, tree: Path) -> None:
    (tree / "work/.git").mkdir()
    caller.own(tree / "work/.git")
    put(caller, tree / "work/.git/commondir", b"../../shared\n")
    assert tried(caller, tree, backend, "real", "shared") == ["real"]


def test_a_link_to_a_file(caller: Caller, backend: str, tree: Path) -> None:
    """Git reads the file's path from the folder of the name, not from where the link leads."""
    put(caller, tree / "real/git", b"gitdir: ../shared\n")
    (tree / "work/.git").symlink_to("../real/git")
    caller.own(tree / "work/.git")
    assert tried(caller, tree, backend, "real", "shared") == ["real"]


def test_a_folder_that_is_pinned_already(caller: Caller, backend: str, tree: Path) -> None:
    (tree / "real/x").mkdir()
    caller.own(tree / "real/x")
    put(caller, tree / "work/.git", b"gitdir: ../real\n")
    files = f"{FILES}; read ${{t}}/real/x"
    assert tried(caller, tree, backend, "real", "shared", files=files) == ["shared"]


@pytest.mark.parametrize("kind", ["fifo", "folder", "missing"])
def test_what_is_no_file(caller: Caller, backend: str, tree: Path, kind: str) -> None:
    put(caller, tree / "work/.git", b"gitdir: ../real\n")
    if kind == "fifo":
        os.mkfifo(tree / "real/commondir")
    elif kind == "folder":
        (tree / "real/commondir").mkdir()
    assert tried(caller, tree, backend, "real", "shared") == ["shared"]


def test_what_is_not_there_yet(caller: Caller, backend: str, tree: Path) -> None:
    put(caller, tree / "work/.git", b"gitdir: ../later\n")
    outcome = caller.run(profile(FILES), "true", {"t": tree}, backend=backend)
    assert outcome.ok
    refused(caller.run(profile(FILES), "mkdir later", {"t": tree}, backend=backend), "created-protected", "later")


def test_a_link_on_the_way_that_is_replaced(caller: Caller, backend: str, tree: Path) -> None:
    (tree / "link").symlink_to("real")
    caller.own(tree / "link")
    put(caller, tree / "work/.git", b"gitdir: ../link\n")
    outcome = caller.run(profile(FILES), "rm link; mkdir link", {"t": tree}, backend=backend)
    refused(outcome, "replaced-protected", str(tree / "link"))


def hidden_content(caller: Caller, backend: str, files: str, target: Path, tree: Path) -> Outcome:
    put(caller, tree / "work/.git", b"gitdir: " + os.fsencode(target) + b"\n")
    made = bundle(f"param t : dir; files {{ {files} }}; {PATHS}; network host")
    return caller.run(made, f"cat {target}/f 2>/dev/null || echo none", {"t": tree}, backend=backend)


def test_it_is_never_shown(caller: Caller, backend: str, tree: Path) -> None:
    """Neither in a root of its own, nor where a cover or a private folder hides it."""
    other = caller.tree()
    put(caller, other / "f", b"secret")
    private = f"root private; {SYSTEM}; devices minimal; {FILES}"
    assert out(hidden_content(caller, backend, private, other, tree)) == "none\n"
    rest = "root host; read /; devices minimal; write ${t}; read ${t}/work/.git; start-in /"
    for more in (f"tmp {other} size 1MiB", f"hide {other}"):
        assert out(hidden_content(caller, backend, f"{rest}; {more}", other, tree)) == "none\n"
    # The control: without a cover it is seen.
    assert out(hidden_content(caller, backend, rest, other, tree)) == "secret"


def test_a_statement_of_its_own_stands(caller: Caller, backend: str, tree: Path) -> None:
    put(caller, tree / "work/.git", b"gitdir: ../real\n")
    made = profile(f"{FILES}; write ${{t}}/real")
    outcome = caller.run(made, "echo x > real/new && echo 1", {"t": tree}, backend=backend)
    assert out(outcome) == "1\n"
    assert any("leads to" in one and str(tree / "real") in one for one in outcome.notes)


def test_the_process_backend_says_that_it_cannot(caller: Caller, tree: Path) -> None:
    put(caller, tree / "work/.git", b"gitdir: ../real\n")
    made = host("write ${t}; read ${t}/work/.git", "network host; proc { }; syscalls none")
    outcome = caller.run(made, "true", {"t": tree}, backend="process", allow_wider=True)
    assert any(str(tree / "real") in one.why and one.direction == "wider" for one in outcome.losses), outcome.losses


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_a_work_tree_of_git(caller: Caller, backend: str) -> None:
    """A real `git worktree`: the command reads its history, and changes nothing that a later `git` would trust."""
    made = caller.tree()
    environment = {"HOME": str(made), "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}
    who = ["-c", "user.name=a", "-c", "user.email=a@example.invalid"]
    for words in (
        ["init", "-q", "main"],
        ["-C", "main", *who, "commit", "-q", "--allow-empty", "-m", "first"],
        ["-C", "main", "worktree", "add", "-q", "../work"],
    ):
        subprocess.run(["git", *words], cwd=made, env=environment, check=True)
    caller.own(*made.rglob("*"))
    plan = host("write ${t}; read ${t}/work/.git", "network host")
    script = (
        f"cd {made}/work; git -c safe.directory='*' log --oneline | wc -l;"
        f"for one in {made}/main/.git/config {made}/main/.git/hooks/x {made}/main/.git/worktrees/work/HEAD .git; do"
        " (echo x >> $one) 2>/dev/null || echo held; done; echo x > new && echo written"
    )
    assert out(caller.run(plan, script, {"t": made}, backend=backend)).split() == ["1", *["held"] * 4, "written"]
