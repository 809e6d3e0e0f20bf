"""The spare supervisor: what a run takes from it is what a run of its own would have had."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sbc_runtime
from sbc_runtime.api import Run
from sbc_runtime.macos.run import MacRun
from tests.runtime.processes import children_of, living, until
from tests.runtime.support import PATHS, SYSTEM, Caller, bundle, stock
from tests.runtime.test_lives import helper, spares
from tests.shared_data import ROOT


def start(script: str) -> Run | MacRun:
    tree = Caller("user" if os.geteuid() else "root").tree()
    return sbc_runtime.load(stock("agent-check")).start(["/bin/sh", "-c", script], params={"workdir": tree})


def told(script: str) -> list[str]:
    outcome = start(script).wait()
    assert outcome.ok, outcome.failure
    return outcome.stdout.kept.decode().split()


@pytest.fixture(autouse=True)
def ready() -> None:
    """A spare supervisor whose processes wait."""
    get_ready()


def get_ready() -> None:
    told("true")
    assert until(lambda: spares() and nests())
    time.sleep(0.1)  # it may get readier; whoever needs that tries again


def nests() -> list[int]:
    """The processes that wait below the spare supervisor."""
    return [below for one in children_of(helper()) for init in children_of(one) for below in children_of(init)]


def test_every_run_has_namespaces_of_its_own() -> None:
    script = "for i in user mnt pid ipc uts cgroup net; do readlink /proc/self/ns/$i; done; sleep 1"
    runs = [start(script) for _ in range(2)]
    first, second = (one.wait().stdout.kept.split() for one in runs)
    assert len(first) == 7
    assert not set(first) & set(second)


def test_a_run_takes_the_spare_ones_processes() -> None:
    assert until(took_the_spare_ones)


def took_the_spare_ones() -> bool:
    """Whether a run was in the namespace that had waited, which it takes once that is ready."""
    get_ready()
    try:
        waiting = [os.readlink(f"/proc/{one}/ns/user") for one in nests()]
    except OSError:
        return False
    return told("readlink /proc/self/ns/user") == waiting


OTHERS = {
    "root": (f"root host; {SYSTEM}; write ${{t}}; devices minimal", "network none"),
    "devices": (f"root private; {SYSTEM}; write ${{t}} as /t; devices standard; start-in /t", "network none"),
    "network": (f"root private; {SYSTEM}; write ${{t}} as /t; devices minimal; start-in /t", "network host"),
}
SEEN = "ls -d /etc/hostname /dev/pts/ptmx 2>/dev/null; grep -c : /proc/net/dev; cat /proc/mounts | wc -l; touch x; ls"


@pytest.mark.parametrize("what", OTHERS)
def test_what_waits_for_a_run_of_another_kind_is_dropped(what: str) -> None:
    """It has begun with its root by then: the run gets one of its own, as the first run of all had."""
    tree = Caller("user" if os.geteuid() else "root").tree()
    plain = f"root private; {SYSTEM}; write ${{t}} as /t; devices minimal; start-in /t"
    texts = ((plain, "network none"), OTHERS[what])
    both = [
        sbc_runtime.load(bundle(f"param t : dir; files {{ {files} }}; {network}; {PATHS}")) for files, network in texts
    ]

    def seen(number: int) -> bytes:
        outcome = both[number].run(
            ["/bin/sh", "-c", f"cd {tree if what == 'root' and number else '.'}; {SEEN}"], params={"t": tree}
        )
        assert outcome.ok, outcome.failure
        return outcome.stdout.kept

    alone = [seen(0), seen(1)]
    assert alone[0] != alone[1]
    for number in (0, 1, 0, 1):
        assert until(lambda: spares() and nests())
        waiting = [*spares(), *nests()]
        assert seen(number) == alone[number]
        assert until(lambda waiting=waiting: not any(map(living, waiting)))


def test_limits_and_niceness_are_those_of_the_call() -> None:
    before = resource.getrlimit(resource.RLIMIT_STACK)
    try:
        resource.setrlimit(resource.RLIMIT_STACK, (1 << 24, before[1]))
        assert told("ulimit -Ss") == ["16384"]
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, before)
    get_ready()
    assert told("ulimit -Ss") != ["16384"]
    if os.geteuid() == 0:
        get_ready()
        os.setpriority(os.PRIO_PROCESS, 0, 3)
        try:
            assert told("nice") == ["3"]
        finally:
            os.setpriority(os.PRIO_PROCESS, 0, 0)
        assert told("nice") == ["0"]


def test_a_folder_that_was_made_anew_is_seen() -> None:
    tree = Caller("user" if os.geteuid() else "root").tree()
    profile = sbc_runtime.load(stock("agent-check"))
    for _ in range(3):
        tree.rmdir()
        tree.mkdir()
        if os.geteuid() == 0:
            os.chown(tree, 65534, 65534)
        outcome = profile.run(["/bin/sh", "-c", "touch made && ls"], params={"workdir": tree})
        assert outcome.stdout.kept == b"made\n"
        (tree / "made").unlink()
        assert until(lambda: nests() != [])


HOST = """
import sys
sys.path.insert(0, sys.argv[1])
import sbc_runtime
assert sbc_runtime.load(sys.argv[2]).run(["/bin/true"], params={"workdir": sys.argv[3]}).ok
print(open(f"/proc/self/task/{__import__('os').getpid()}/children").read(), flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_it_ends_with_the_host(number: int) -> None:
    tree = Caller("user" if os.geteuid() else "root").tree()
    command = [sys.executable, "-c", HOST, str(ROOT / "runtime"), str(stock("agent-check")), str(tree)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        one = int(host.stdout.readline().split()[0])
        below: list[int] = []
        assert until(lambda: [below.append(pid) for spare in children_of(one) for pid in children_of(spare)])
        host.send_signal(number)
    assert until(lambda: not any(living(pid) for pid in (one, *below)))


def test_the_command_line_names_no_path() -> None:
    assert told("tr '\\0' ' ' < /proc/1/cmdline; cat /proc/1/comm") == ["sbc-helper", "sbc-init"]
    assert Path(f"/proc/{helper()}/cmdline").read_bytes().rstrip(b"\0") == b"sbc-helper"


SIGPIPE = """
import os, signal, sys, time
sys.path.insert(0, sys.argv[1])
import sbc_runtime
from sbc_runtime.host import HOST
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
profile = sbc_runtime.load(sys.argv[2])


def run():
    outcome = profile.run(["/bin/true"], params={"workdir": sys.argv[3]})
    assert outcome.ok, outcome.failure


def children(pid):
    try:
        return [int(one) for one in open(f"/proc/{pid}/task/{pid}/children").read().split()]
    except OSError:
        return []


def state(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0]
    except OSError:
        return "X"


def gone(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    while state(pid) not in "ZX":
        time.sleep(0.01)


run()
(helper,) = children(os.getpid())
if sys.argv[4] == "helper":
    gone(helper)
else:
    # Until what it has forked has forked in turn, and holds nothing of its.
    while not [below for one in children(helper) for init in children(one) for below in children(init)]:
        time.sleep(0.01)
    for spare in children(helper):
        gone(spare)
run()
if sys.argv[4] == "spare":
    assert children(os.getpid()) == [helper]
print("fine")
"""


@pytest.mark.parametrize("killed", ["helper", "spare"])
def test_an_end_that_is_gone_is_no_signal(killed: str) -> None:
    """A host may have SIGPIPE at its default, and the helper has."""
    tree = Caller("user" if os.geteuid() else "root").tree()
    command = [sys.executable, "-c", SIGPIPE, str(ROOT / "runtime"), str(stock("agent-check")), str(tree), killed]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "fine\n"), done.stderr
