"""Any one of our processes is killed at a random moment: nothing is left, and no outcome is a pass."""

import json
import os
import random
import select
import signal
import subprocess
import time
from collections.abc import Collection
from pathlib import Path
from typing import IO, Any

import pytest

from tests.runtime.processes import below, marked, parent, remaining, staying, words
from tests.runtime.support import USER, Caller, interpreter_for_anybody, stock
from tests.shared_data import ROOT

GONE_IN = 120.0
"""Seconds; it takes milliseconds. On a machine with nothing to spare a process waits for its turn to end."""


def ours(pid: int) -> bool:
    """Whether a process is not one that the command started, whose names are known."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip() not in {"sh", "sleep"}
    except OSError:
        return False


class Host:
    """A host process of the caller's, and the run that it started."""

    def __init__(self, caller: Caller, backend: str, tree: Path) -> None:
        self.mark = str(random.randint(10**6, 10**7))  # noqa: S311
        program = interpreter_for_anybody()
        assert program is not None
        script = str(ROOT / "tests/runtime/kill_runner.py")
        arguments = [str(ROOT / "runtime"), str(stock("agent-check")), str(tree), backend, self.mark]
        command = [program, "-I", script, *arguments]
        more: dict[str, Any] = {"user": USER, "group": USER, "extra_groups": []} if caller.other else {}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, env={}, cwd="/", **more)
        out = self.process.stdout
        assert out is not None
        self.out: IO[bytes] = out
        self.helper = int(self.out.readline())

    def left(self, others: Collection[int] = ()) -> list[int]:
        """Whoever of the run, of its helper's session and of others has not ended."""
        return remaining({self.helper, *others}) or marked(f"sleep {self.mark}")

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.out.close()


@pytest.mark.parametrize("delay", [0.0, 0.01, 0.03, 0.06, 0.1, 0.4])
def test_a_killed_host_leaves_nothing(caller: Caller, backend: str, delay: float) -> None:
    host = Host(caller, backend, caller.tree())
    time.sleep(delay)
    host.close()
    assert staying(host.left) == []


def attempt(caller: Caller, backend: str, tree: Path, chosen: random.Random) -> str:
    """Start a run, kill one of our processes, and see what is left; give its name."""
    host = Host(caller, backend, tree)
    mounts = Path("/proc/self/mountinfo").read_text()
    try:
        time.sleep(chosen.choice((0, 0.01, 0.03, 0.06, 0.1, 0.2)) * chosen.random() * 2)
        everybody = [host.process.pid, *below(host.process.pid)]
        victim = chosen.choice([one for one in everybody if ours(one)])
        name, sure = killed(victim, host)
        if select.select([host.out], [], [], GONE_IN if sure else 0.5)[0]:
            answer = host.out.readline()
            if answer:
                kind, _, code, number, ok = json.loads(answer)
                # Told by the kernel that the command was killed, or not known; never that it exited.
                assert kind in {"sandbox-failed", "setup-failed"} or (kind, number) == ("signalled", 9), (name, answer)
                assert (ok, code != 0) == (False, True), (name, answer)
        else:
            assert not sure, name
            host.process.kill()
        assert (name, staying(lambda: marked(f"sleep {host.mark}"))) == (name, [])
        host.process.kill()
        host.process.wait()
        assert (name, staying(lambda: host.left(everybody))) == (name, [])
    finally:
        host.close()
    assert Path("/proc/self/mountinfo").read_text() == mounts
    return name


def killed(victim: int, host: Host) -> tuple[str, bool]:
    """Kill a process, and give its name ("" where it has ended by itself) and whether the run ends with it for sure.

    A spare supervisor or init is none of the run's; without the helper the run goes on, and it may without the answer
    of a bubblewrap that is asked for its version.
    """
    if victim == host.process.pid:
        host.process.kill()
        return "host", True
    try:
        name = Path(f"/proc/{victim}/comm").read_text().strip()
        above = parent(victim)
        runs = words(victim)[:2] == [b"bwrap", b"--args"]
        os.kill(victim, signal.SIGKILL)
    except (OSError, IndexError):
        return "", False
    return name, {"sbc-supervisor": above == host.helper, "bwrap": runs}.get(name, False)


def many(caller: Caller, backend: str, times: int, seed: int) -> set[str]:
    chosen, tree = random.Random(seed), caller.tree()  # noqa: S311
    return {attempt(caller, backend, tree, chosen) for _ in range(times)}


def test_whoever_is_killed_nothing_is_left(caller: Caller, backend: str) -> None:
    many(caller, backend, 4, random.randrange(1 << 30))  # noqa: S311


@pytest.mark.slow
def test_two_hundred_kills(caller: Caller, backend: str) -> None:
    victims = many(caller, backend, 50, 7)
    assert len(victims) >= 3
