"""The work for many binds grows no worse than linear: counted in lines of Python, not in time."""

import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

import sbc_runtime
from sbc_runtime import scheduling, unix_diag
from sbc_runtime.job import Caller as Host
from sbc_runtime.job import Job, Options
from sbc_runtime.kernel_view import MountLine
from sbc_runtime.mount_check import compare, wanted
from sbc_runtime.mount_sources import Sources
from sbc_runtime.mounts import Builder, frame_of
from sbc_runtime.prepare.above import parents
from sbc_runtime.prepare.run import prepare
from sbc_runtime.prepared import Prepared
from tests.runtime.support import Caller, out
from tests.runtime.test_paths import profile

RULES = {
    "read": "read ${{t}}/d{0}",
    "hide": "hide ${{t}}/d{0}",
    "write below hide": "hide ${{t}}/d{0}; write ${{t}}/d{0}/e",
}


def lines(act: Callable[[], object]) -> int:
    """How many lines of Python an act executes."""
    count = 0

    def trace(_frame: FrameType, event: str, _argument: object) -> Any:  # noqa: ANN401
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(before)
    return count


def above(place: str, numbers: dict[str, int]) -> int:
    """The number of the mount that a place is mounted in."""
    return next((numbers[one] for one in parents(place) if one in numbers), 0)


def work(kind: str, number: int, tree: str) -> tuple[int, int]:
    rules = "; ".join(RULES[kind].format(one) for one in range(number))
    bundle = sbc_runtime.load(profile(f"write ${{t}} as /w; {rules}; start-in /w")).loaded.bundle
    host = Host("/", "/", None, "/tmp", (), scheduling.own())
    job = Job("test", ("/bin/true",), {"t": tree}, (), host, Options())
    made: list[Prepared] = []
    parents.cache_clear()
    prepared = lines(lambda: made.append(prepare(bundle, None, job)))
    plan = wanted(made[0])
    numbers = {place: at for at, place in enumerate(plan, 1)}
    shown = tuple(
        MountLine(number, above(place, numbers), "0:1", "/", place, plan[place].options, plan[place].kind or "ext4")
        for place, number in numbers.items()
    )
    checked = lines(lambda: compare(shown, made[0])) + lines(
        lambda: Builder(frame_of(made[0])).take(made[0], Sources({}, {}))
    )
    assert not compare(shown, made[0])[0]
    return prepared, checked


@pytest.mark.parametrize("kind", RULES)
def test_no_worse_than_linear(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # How many sockets others have bound at this moment is no part of what is counted.
    monkeypatch.setattr(unix_diag, "bound", tuple[unix_diag.Bound, ...])
    caller = Caller("root" if os.geteuid() == 0 else "user")
    tree = caller.tree()
    for number in range(600):
        (tree / f"d{number}/e").mkdir(parents=True)
        caller.own(tree / f"d{number}", tree / f"d{number}/e")
    few, some, many = (work(kind, number, str(tree)) for number in (150, 300, 600))
    for at in (0, 1):
        assert many[at] - some[at] <= 2.1 * (some[at] - few[at])
    rules = "; ".join(RULES[kind].format(one) for one in range(600))
    made = profile(f"write ${{t}} as /w; {rules}; start-in /w")
    assert out(caller.run(made, "ls | wc -l", {"t": tree})) == "600\n"
