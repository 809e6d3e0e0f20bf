"""Hosts that fork: a child that is no part of a run neither keeps it alive nor ends it."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

import sbc_runtime
from tests.runtime.processes import marked, until, words
from tests.runtime.support import Caller, stock
from tests.shared_data import ROOT

HOST = """
import ctypes, os, sys, time
sys.path.insert(0, sys.argv[1])
import sbc_runtime
profile = sbc_runtime.load(sys.argv[2])
run = profile.start(["/bin/sleep", sys.argv[4]], params={"workdir": sys.argv[3]}, backend=sys.argv[5])
while True:
    # An interpreter's own fork tells its modules of it; a library's does not.
    child = os.fork() if sys.argv[6] == "python" else ctypes.PyDLL(None).fork()
    if child == 0:
        time.sleep(600)
        os._exit(0)
    break
print(child, flush=True)
sys.stdin.readline()
del run
print("dropped", flush=True)
sys.stdin.readline()
"""


def caller() -> Caller:
    return Caller("user" if os.geteuid() else "root")


def inside(mark: str) -> list[int]:
    """The command's own process: the one that is neither the host nor bubblewrap."""
    return [one for one in marked(f"/bin/sleep {mark}") if words(one)[:1] == [b"/bin/sleep"]]


@pytest.mark.parametrize("fork", ["python", "library"])
@pytest.mark.parametrize("how", ["killed", "dropped"])
@pytest.mark.parametrize("backend", ["namespace", "bwrap"])
def test_a_forked_child_does_not_keep_a_run_alive(backend: str, how: str, fork: str) -> None:
    mark = str(random.randint(10**6, 10**7))  # noqa: S311
    arguments = [str(ROOT / "runtime"), str(stock("agent-check")), str(caller().tree()), mark, backend, fork]
    command = [sys.executable, "-c", HOST, *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as host:
        assert host.stdin is not None
        assert host.stdout is not None
        child = int(host.stdout.readline())
        try:
            assert until(lambda: inside(mark))
            if how == "killed":
                host.kill()
                host.wait()
            else:
                host.stdin.write("\n")
                host.stdin.flush()
                assert host.stdout.readline() == "dropped\n"
            assert until(lambda: not inside(mark))
            os.kill(child, 0)
        finally:
            host.kill()
            os.kill(child, signal.SIGKILL)


def test_a_forked_child_does_not_end_a_run_nor_take_its_outcome() -> None:
    run = sbc_runtime.load(stock("agent-check")).start(
        ["/bin/sh", "-c", "sleep 0.5; echo told; exit 3"], params={"workdir": caller().tree()}
    )
    child = os.fork()
    if child == 0:
        try:
            seen = run.wait()
            run.cancel()
            os._exit(0 if seen.kind == "sandbox-failed" and not seen.ok else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    time.sleep(0.05)
    outcome = run.wait()
    assert (outcome.kind, outcome.status, outcome.stdout.kept) == ("exited", 3, b"told\n")
