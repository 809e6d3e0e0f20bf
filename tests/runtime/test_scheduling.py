"""A run is scheduled as the thread is that starts it, at every call, whatever the resident helper once took over."""

import json
import os

import pytest

from sbc.kernel.numbers import numbers
from sbc_runtime.arch import own_arch
from sbc_runtime.scheduling import Scheduling, reaches
from tests.runtime.support import PATHS, SYSTEM, Caller, bundle, out
from tests.shared_data import ROOT

OPEN = f"syscalls none; files {{ root private; {SYSTEM}; devices minimal; start-in / }}; {PATHS}"

SEEN = """
import ctypes, os
call = ctypes.CDLL(None).syscall
slack = int(open("/proc/self/timerslack_ns").read())
print(os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0), *os.sched_getaffinity(0), slack, call(IOPRIO, 1, 0))
"""

RUN = """
import ctypes, json, os, sys, threading
asked = json.load(sys.stdin)
sys.path.insert(0, asked["runtime"])
import sbc_runtime
profile = sbc_runtime.load(asked["bundle"])
libc = ctypes.CDLL(None)
told = []

def run():
    done = profile.run(asked["command"], backend=asked["backend"], allow_wider=True)
    told.append([done.stdout.kept.decode().split(), str(done.failure or ""), done.stderr.kept.decode()])

def changed():
    # A thread of its own: what is changed here is not so for the others.
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), max(7, os.getpriority(os.PRIO_PROCESS, 0)))
    os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    libc.prctl(29, 123456, 0, 0, 0)
    libc.syscall(asked["ioprio"], 1, 0, 2 << 13 | 6)
    run()

def idle():
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    run()

run()
for work in (changed, run, idle, run):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
print(json.dumps(told))
"""


@pytest.mark.parametrize("backend", ["namespace", "bwrap", "process"])
def test_a_run_is_scheduled_as_its_caller(caller: Caller, backend: str) -> None:
    number = numbers(own_arch().name)["ioprio_set"]
    asked = {
        "runtime": str(ROOT / "runtime"),
        "bundle": str(bundle(OPEN)),
        "command": ["/usr/bin/python3", "-I", "-S", "-c", SEEN.replace("IOPRIO", str(number + 1))],
        "backend": backend,
        "ioprio": number,
    }
    told = json.loads(caller.python(["-c", RUN], json.dumps(asked)))
    assert all(one[1] == "" for one in told), told
    first, changed, second, idle, last = (list(map(int, one[0])) for one in told)
    cpus = sorted(os.sched_getaffinity(0))
    assert first[:2] == [os.getpriority(os.PRIO_PROCESS, 0), os.SCHED_OTHER]
    assert first[2:-2] == cpus
    assert changed == [max(7, first[0]), os.SCHED_BATCH, cpus[-1], 123456, 2 << 13 | 6]
    assert second == first, "lower niceness than the last run's"
    assert idle[:2] == [first[0], os.SCHED_IDLE]
    assert last == first, "a policy that an ordinary user cannot leave"


def test_what_can_be_reached_without_privileges() -> None:
    plain = Scheduling(0, os.SCHED_OTHER, 0, (0,), 0, 0)
    idle, nice, fifo = (
        plain._replace(policy=os.SCHED_IDLE),
        plain._replace(nice=5),
        plain._replace(policy=1, priority=5),
    )
    assert all(reaches(plain, one) for one in (plain, idle, nice, plain._replace(policy=os.SCHED_BATCH)))
    assert not any(reaches(one, plain) for one in (idle, nice))
    assert reaches(fifo, plain)
    assert reaches(fifo, fifo._replace(priority=1))
    assert not reaches(fifo, fifo._replace(priority=6))
    assert not any(reaches(one, fifo) for one in (plain, fifo._replace(policy=2)))


FIRST_IN_LINE = """
import os, resource
print(*resource.getrlimit(resource.RLIMIT_NICE), *resource.getrlimit(resource.RLIMIT_RTPRIO))
for attempt in (lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)), lambda: os.nice(-1)):
    try:
        attempt()
        print("done")
    except PermissionError:
        print("refused")
"""


@pytest.mark.parametrize("backend", ["namespace", "bwrap", "process"])
def test_a_command_is_never_first_in_line(caller: Caller, backend: str) -> None:
    """What the caller may, by limits that few have, is tried in a guest."""
    command = ["/usr/bin/python3", "-I", "-S", "-c", FIRST_IN_LINE]
    assert out(caller.run(bundle(OPEN), command, backend=backend, allow_wider=True)).split() == [
        *"0000",
        "refused",
        "refused",
    ]
