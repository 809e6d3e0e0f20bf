"""Which repository a folder is in, with a real git, and with repositories that would rather have another answer."""

import os
import subprocess
from pathlib import Path

import pytest

from sbc_runtime.attestation import Refused
from sbc_runtime.repository import Repository, find_git
from tests.windows.support import ORIGIN, git, repository

ENVIRON = {"PATH": os.environ["PATH"]}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return repository(tmp_path / "tree")


def of(folder: Path, **environ: str) -> Repository:
    return Repository(str(folder), {**ENVIRON, **environ})


def test_root_commit_origin_and_path(tree: Path) -> None:
    first = git(tree, "rev-parse", "HEAD")
    git(tree, "commit", "-q", "--allow-empty", "-m", "second")
    below = tree / "a" / "b"
    below.mkdir(parents=True)
    link = tree.parent / "link"
    link.symlink_to(below)
    for folder in (tree, below, link):
        found = of(folder)
        assert (found.root_commit(), found.origin(), found.path()) == (first, ORIGIN, os.path.realpath(tree))


def test_several_roots_are_all_named_in_one_order(tree: Path) -> None:
    git(tree, "checkout", "-q", "--orphan", "other")
    git(tree, "commit", "-q", "--allow-empty", "-m", "another first")
    git(tree, "merge", "-q", "--allow-unrelated-histories", "-m", "joined", "main")
    roots = git(tree, "rev-list", "--max-parents=0", "HEAD").split()
    assert len(roots) == 2
    assert of(tree).root_commit() == ",".join(sorted(roots))


def test_a_linked_working_tree_has_its_own_path(tree: Path) -> None:
    linked = tree.parent / "linked"
    git(tree, "worktree", "add", "-q", str(linked))
    found = of(linked)
    assert found.path() == os.path.realpath(linked)
    assert found.root_commit() == of(tree).root_commit()
    assert found.origin() == ORIGIN


def refused(found: Repository, field: str) -> None:
    for name, ask in (
        ("repositoryPath", found.path),
        ("repositoryRootCommit", found.root_commit),
        ("repositoryOrigin", found.origin),
    ):
        if name == field:
            with pytest.raises(Refused) as told:
                ask()
            assert told.value.field == field


def test_what_cannot_be_found_out_is_refused(tmp_path: Path, tree: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for field in ("repositoryPath", "repositoryRootCommit", "repositoryOrigin"):
        refused(of(empty), field)
    refused(of(repository(tmp_path / "without", origin=None)), "repositoryOrigin")
    git(tree, "remote", "set-url", "--add", "origin", "https://example.org/second.git")
    refused(of(tree), "repositoryOrigin")
    unborn = tmp_path / "unborn"
    unborn.mkdir()
    git(unborn, "init", "-q")
    refused(of(unborn), "repositoryRootCommit")


@pytest.mark.parametrize(
    "url", ["https://me:token@example.org/a", "HTTPS://token@example.org/a", "ssh://me:pw@e.org/a"]
)
def test_a_login_in_the_origin_is_never_named(tmp_path: Path, url: str) -> None:
    with pytest.raises(Refused) as told:
        of(repository(tmp_path / "tree", url)).origin()
    assert "token" not in str(told.value)
    assert "pw" not in str(told.value)


def test_a_user_alone_is_no_login(tmp_path: Path) -> None:
    for number, url in enumerate(("ssh://git@example.org/a", "git@example.org:a", "C:/trees/origin", "/srv/a@b:c")):
        assert of(repository(tmp_path / str(number), url)).origin() == url


def test_a_shallow_clone_has_no_root(tmp_path: Path, tree: Path) -> None:
    git(tree, "commit", "-q", "--allow-empty", "-m", "second")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{tree}", "shallow")
    refused(of(tmp_path / "shallow"), "repositoryRootCommit")


def test_replaced_and_grafted_history_does_not_count(tree: Path) -> None:
    first = git(tree, "rev-parse", "HEAD")
    git(tree, "commit", "-q", "--allow-empty", "-m", "second")
    second = git(tree, "rev-parse", "HEAD")
    git(tree, "replace", "--graft", second)
    assert git(tree, "rev-list", "--max-parents=0", "HEAD") == second
    assert of(tree).root_commit() == first
    git(tree, "replace", "-d", second)
    (tree / ".git" / "info").mkdir(exist_ok=True)
    (tree / ".git" / "info" / "grafts").write_text(f"{second}\n")
    assert of(tree).root_commit() == first


def test_the_callers_environment_and_configuration_do_not_count(tmp_path: Path, tree: Path) -> None:
    other = repository(tmp_path / "other", "https://example.org/other.git")
    (tmp_path / ".gitconfig").write_text(f'[url "https://evil.example/"]\n insteadOf = {ORIGIN}\n')
    found = of(
        tree,
        GIT_DIR=str(other / ".git"),
        GIT_WORK_TREE=str(other),
        HOME=str(tmp_path),
        GIT_CONFIG_COUNT="1",
        GIT_CONFIG_KEY_0="remote.origin.url",
        GIT_CONFIG_VALUE_0="https://evil.example/",
        GIT_TRACE=str(tmp_path / "trace"),
    )
    assert found.origin() == ORIGIN
    assert found.path() == os.path.realpath(tree)
    assert not (tmp_path / "trace").exists()


def test_a_repository_that_names_another_working_tree_is_refused(tmp_path: Path, tree: Path) -> None:
    git(tree, "config", "core.worktree", str(tmp_path / "elsewhere"))
    (tmp_path / "elsewhere").mkdir()
    refused(of(tree), "repositoryPath")


def test_what_a_repository_configures_runs_nothing(tmp_path: Path, tree: Path) -> None:
    ran = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {ran}\n')
    program.chmod(0o755)
    hooks = tree / ".git" / "hooks"
    for hook in ("pre-commit", "post-checkout", "reference-transaction", "post-index-change", "fsmonitor-watchman"):
        (hooks / hook).write_bytes(program.read_bytes())
        (hooks / hook).chmod(0o755)
    for name in (
        "core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "core.alternateRefsCommand",
        "diff.external", "gpg.program", "credential.helper", "remote.origin.uploadpack", "core.gitProxy",
        "pager.remote", "pager.rev-list", "pager.rev-parse",
    ):  # fmt: skip
        git(tree, "config", name, str(program))
    git(tree, "config", "log.showSignature", "true")
    git(tree, "config", "alias.rev-list", f"!{program}")
    git(tree, "config", "alias.remote", f"!{program}")
    found = of(tree)
    assert found.origin() == ORIGIN
    assert found.path() == os.path.realpath(tree)
    assert found.root_commit()
    assert not ran.exists()


def test_missing_history_is_not_fetched(tmp_path: Path, tree: Path) -> None:
    """A promised commit that is not there would be asked of a program that the repository names."""
    ran = tmp_path / "ran"
    first = git(tree, "rev-parse", "HEAD")
    git(tree, "commit", "-q", "--allow-empty", "-m", "second")
    (tree / ".git" / "objects" / first[:2] / first[2:]).unlink()
    git(tree, "config", "extensions.partialClone", "origin")
    git(tree, "config", "core.repositoryFormatVersion", "1")
    git(tree, "config", "remote.origin.promisor", "true")
    git(tree, "config", "remote.origin.url", f"ext::sh -c touch% {ran}")
    git(tree, "config", "protocol.allow", "always")
    git(tree, "config", "protocol.ext.allow", "always")
    refused(of(tree), "repositoryRootCommit")
    assert not ran.exists()
    with pytest.raises(subprocess.CalledProcessError):
        git(tree, "rev-list", "HEAD")
    assert ran.exists(), "this git would have run it"


def test_git_is_found_by_absolute_folders_outside_the_tree(tmp_path: Path, tree: Path) -> None:
    planted = tree / "bin"
    planted.mkdir()
    (planted / "git").write_text("#!/bin/sh\nexit 0\n")
    (planted / "git").chmod(0o755)
    real = find_git(ENVIRON, str(tree))
    assert find_git({"PATH": f"{planted}:.:bin:{ENVIRON['PATH']}"}, os.path.realpath(tree)) == real
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").symlink_to(planted / "git")
    assert find_git({"PATH": f"{tmp_path / 'bin'}:{ENVIRON['PATH']}"}, os.path.realpath(tree)) == real
    for path in ("", ".", str(planted)):
        with pytest.raises(Refused, match="repositoryPath"):
            find_git({"PATH": path}, os.path.realpath(tree))
