"""What holds for a sandbox holds for bubblewrap's as well: the same tests, as root and as an ordinary user.

Left out are those that name the other backend's own traits, with the reason.
"""

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from sbc_runtime import bwrap_find
from sbc_runtime.errors import SetupFailed
from tests.runtime import test_agent_check, test_outcomes, test_paths
from tests.runtime.support import Caller, missing

LEFT_OUT = {
    "test_the_report_is_what_the_kernel_showed": "names the backend",
    "test_capabilities_filter_and_privileges": "reads init's folder in /proc, which is covered here",
    "test_an_unknown_backend_runs_nothing": "names a backend itself",
    "test_cancelling": "starts a run without a caller",
    "test_a_tree_in_a_closed_folder": "holds for a private root alone: `test_bwrap.py` has that half",
}


@pytest.fixture(params=["root", "user"])
def caller(request: pytest.FixtureRequest) -> Caller:
    try:
        bwrap_find.find()
    except SetupFailed as failed:
        missing("bwrap", str(failed))
    return Caller(request.param, backend="bwrap")


@pytest.fixture
def tree(request: pytest.FixtureRequest, caller: Caller) -> Path:
    # Each module of laws has its own way to make a tree.
    made: Any = getattr(LAWS[request.function.__name__], "tree", None)
    return caller.tree() if made is None else made.__wrapped__(caller)


LAWS: dict[str, ModuleType] = {
    name: module
    for module in (test_agent_check, test_outcomes, test_paths)
    for name in vars(module)
    if name.startswith("test_") and name not in LEFT_OUT
}
globals().update({name: getattr(module, name) for name, module in LAWS.items()})


def test_what_is_left_out_is_there() -> None:
    there = {name for module in (test_agent_check, test_outcomes, test_paths) for name in vars(module)}
    assert set(LEFT_OUT) <= there
