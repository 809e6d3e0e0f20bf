"""Commands that take all there is of threads, disk, inodes and descriptors, and those that try to be left behind."""

import random

import pytest

from sbc_runtime.outcome import Outcome
from tests.runtime.processes import marked
from tests.runtime.support import PATHS, SYSTEM, Caller, bundle, out

FILES = f"files {{ root private; {SYSTEM}; tmp /tmp size 2MiB inodes 200; devices minimal; start-in /tmp }}"


def run(caller: Caller, backend: str, limits: str, script: str, *arguments: str, more: str = "") -> Outcome:
    made = bundle(f"{FILES}; network none; {PATHS}; limits {{ wall 10min; {limits} }}; {more}")
    return caller.run(made, ["/usr/bin/python3", "-I", "-S", "-c", script, *arguments], backend=backend)


THREADS = """
import threading, time
made = 1
try:
    while made < 200:
        threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
        made += 1
except RuntimeError:
    print(made, flush=True)
import os
os._exit(0)
"""


def test_threads_count_as_processes(caller: Caller, backend: str) -> None:
    assert out(run(caller, backend, "processes 12", THREADS)) == "12\n"


def test_a_command_with_the_hosts_uid_0_is_sampled() -> None:
    """The kernel holds no limit on processes for uid 0 of the host, and the report does not say that it does."""
    caller = Caller("root")
    bomb = "import os, time\nfor _ in range(60):\n if os.fork() == 0: time.sleep(1000)\ntime.sleep(1000)"
    outcome = run(caller, "namespace", "processes 12", bomb, more="identity { host-user 0; host-group 0 }")
    (limit,) = (one for one in outcome.limits if one.key == "processes")
    if limit.how == ("cgroup",):
        assert outcome.kind in {"exited", "process-limit"}
        return
    assert limit.how == ("sampled",)
    assert (outcome.kind, outcome.code) == ("process-limit", 137)


FULL = """
import errno, os, sys
for place in ("/tmp", "/dev/shm"):
    written = 0
    try:
        with open(place + "/full", "wb", buffering=0) as file:
            while True:
                written += file.write(bytes(65536))
    except OSError as error:
        print(place, errno.errorcode[error.errno], written >> 20)
    os.unlink(place + "/full")
made = 0
try:
    while True:
        os.close(os.open(f"/tmp/{made}", os.O_CREAT | os.O_WRONLY))
        made += 1
except OSError as error:
    print(errno.errorcode[error.errno], 150 < made < 200)
"""


def test_what_is_full_is_full_for_the_command_alone(caller: Caller, backend: str) -> None:
    told = out(run(caller, backend, "memory 256MiB", FULL)).splitlines()
    assert told[0] == "/tmp ENOSPC 2"
    assert told[1].startswith("/dev/shm ENOSPC ")
    assert 1 <= int(told[1].split()[2]) <= 64
    assert told[2] == "ENOSPC True"


DESCRIPTORS = """
import errno, os, socket
kept = []
def all_of(make):
    try:
        while len(kept) < 5000: kept.append(make())
    except OSError as error:
        print(errno.errorcode[error.errno], len(kept) <= 61)
all_of(lambda: open("/dev/null"))
kept.clear()
all_of(lambda: socket.socketpair())
"""


def test_a_descriptor_hog(caller: Caller, backend: str) -> None:
    assert out(run(caller, backend, "open-files 64", DESCRIPTORS)).splitlines() == ["EMFILE True"] * 2


ESCAPE = """
import os, signal, sys, time
for number in range(6):
    if os.fork() == 0:
        os.setsid()
        if os.fork(): os._exit(0)
        for one in range(1, 65):
            try: signal.signal(one, signal.SIG_IGN)
            except (OSError, ValueError): pass
        os.closerange(0, 64)
        os.chdir("/")
        os.execv("/bin/sleep", ["/bin/sleep", sys.argv[1]])
time.sleep(0.3)
how = sys.argv[2]
if how == "signal": os.kill(os.getpid(), 9)
if how == "wait": time.sleep(1000)
print("done")
"""


@pytest.mark.parametrize(("how", "kind"), [("exit", "exited"), ("signal", "signalled"), ("wait", "timed-out")])
def test_daemons_end_with_the_command(caller: Caller, backend: str, how: str, kind: str) -> None:
    mark = str(random.randint(10**6, 10**7))  # noqa: S311
    made = bundle(f"{FILES}; network none; {PATHS}; limits {{ wall {'4s' if how == 'wait' else '10min'} }}")
    command = ["/usr/bin/python3", "-I", "-S", "-c", ESCAPE, mark, how]
    assert caller.run(made, command, backend=backend).kind == kind
    assert marked(f"/bin/sleep {mark}") == []
