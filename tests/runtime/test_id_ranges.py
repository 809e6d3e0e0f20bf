"""`host-user` as a range: each run has an id of its own, and its tree belongs to one."""

import os
from pathlib import Path

import pytest

import sbc_runtime
from sbc_runtime.errors import SetupFailed
from sbc_runtime.job import BackendChoice
from sbc_runtime.outcome import Outcome
from sbc_runtime.plan import IdRange
from sbc_runtime.prepare.ids import ids, release
from tests.runtime.support import PATHS, SYSTEM, Caller, bundle, out

FIRST = 60100 + 10 * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
"""Of this process: ids that a test elsewhere holds meanwhile would not be free."""

LAST = FIRST + 3


@pytest.fixture
def root() -> Caller:
    return Caller("root")


def profile(span: str) -> Path:
    return bundle(f"""
        param tree : dir
        syscalls none
        files {{ root private; {SYSTEM}; write ${{tree}}; start-in ${{tree}} }}
        identity {{ user 1000; host-user {span}; host-group {FIRST} }}
        {PATHS}
    """)


def tree(root: Caller, owner: int) -> Path:
    made = root.tree()
    os.chown(made, owner, FIRST)
    return made


def host_id(outcome: Outcome) -> int:
    return int(out(outcome).split()[1])


@pytest.mark.parametrize("backend", ["namespace", "bwrap"])
def test_a_tree_decides_which_id_of_a_range_its_run_has(root: Caller, backend: BackendChoice) -> None:
    """Each run of several at once has its own tree, given away before: no other id could write to it."""
    loaded = sbc_runtime.load(profile(f"{FIRST}..{LAST}"))
    owners = list(range(LAST, FIRST - 1, -1))
    command = ["/bin/sh", "-c", "echo x > made && cat /proc/self/uid_map"]
    runs = [loaded.start(command, params={"tree": str(tree(root, one))}, backend=backend) for one in owners]
    assert [host_id(one.wait()) for one in runs] == owners


def test_an_id_outside_of_the_range_is_never_taken(root: Caller) -> None:
    outcome = root.run(profile(f"{FIRST}..{LAST}"), ["/bin/true"], {"tree": tree(root, LAST + 1)})
    assert outcome.failure is not None
    assert f"belongs to {LAST + 1}:{FIRST}, the command runs as the host's {FIRST}" in outcome.failure.why


def test_an_id_is_free_once_there_is_an_outcome(root: Caller) -> None:
    """The next run need not wait until the last one's supervisor has ended, too."""
    loaded = sbc_runtime.load(profile(f"{FIRST}..{FIRST}"))
    mine, other = tree(root, FIRST), tree(root, LAST)
    for _ in range(20):
        refused = loaded.run(["/bin/true"], params={"tree": str(other)})
        assert refused.failure is not None
        assert "belongs to" in refused.failure.why
        assert host_id(loaded.run(["/bin/cat", "/proc/self/uid_map"], params={"tree": str(mine)})) == FIRST


def test_a_lock_ends_where_it_is_released(root: Caller) -> None:
    span: dict[str, int | str | IdRange] = {"host-user": IdRange(FIRST, FIRST)}
    assert ids(span)[0].host_user == FIRST
    try:
        with pytest.raises(SetupFailed, match="in use by another run"):
            ids(span)
    finally:
        release()
    assert ids(span)[0].host_user == FIRST
    release()
