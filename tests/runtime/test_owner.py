"""A tree that the command could not write: what is said, and that no command is printed that would do harm."""

import os
import pwd
import shlex
from pathlib import Path

import pytest

from sbc_runtime.prepare.owner import may_be_given
from tests.runtime.support import Caller
from tests.runtime.test_paths import profile


@pytest.fixture
def root() -> Caller:
    return Caller("root")


HOMES = sorted({os.path.realpath(one.pw_dir) for one in pwd.getpwall()})


@pytest.mark.parametrize(
    "path",
    [
        "/", "/usr", "/usr/local", "/etc", "/etc/x", "/var", "/var/lib", "/var/lib/x", "/var/tmp", "/tmp", "/opt",
        "/srv",
        "/home", "/home/somebody", "/root", "/mnt", "/proc/self", "/sys/fs", "/boot/efi", "/run/user/0",
        *HOMES, *(os.path.dirname(one) for one in HOMES),
    ],
)  # fmt: skip
def test_what_is_never_given_away(path: str) -> None:
    assert not may_be_given(path)


@pytest.mark.parametrize("path", ["/home/somebody/project", "/root/project", "/srv/builds/1", "/tmp/x", "/var/tmp/x"])
def test_what_may_be(path: str) -> None:
    assert may_be_given(path)


@pytest.mark.parametrize("target", ["/", "/usr", "/home", "/var/tmp/..", pwd.getpwuid(0).pw_dir])
def test_the_remedy_for_a_system_folder(root: Caller, target: str) -> None:
    made = profile("write ${t}; start-in /", "network host")
    outcome = root.run(made, ["/bin/true"], {"t": target})
    assert outcome.kind == "setup-failed"
    assert outcome.failure is not None
    assert "chown" not in str(outcome.failure)
    assert "choose a tree" in outcome.failure.remedy


def test_the_remedy_is_one_word_for_the_shell(root: Caller) -> None:
    tree = root.tree() / "a b;'c"
    tree.mkdir()
    outcome = root.run(profile("write ${t} as /w; start-in /w"), ["/bin/true"], {"t": tree})
    assert outcome.failure is not None
    assert shlex.split(outcome.failure.remedy) == ["chown", "-R", "65534:65534", str(tree)]


def test_a_tree_whose_owner_may_not_write(root: Caller) -> None:
    tree: Path = root.tree()
    tree.chmod(0o555)
    outcome = root.run(profile("write ${t} as /w; start-in /w"), ["/bin/true"], {"t": tree})
    assert outcome.failure is not None
    assert outcome.failure.remedy.startswith("chmod")
