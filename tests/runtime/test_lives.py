"""The processes of a run: what ends what, what is left behind (nothing), and hosts of every kind."""

import asyncio
import contextlib
import ctypes
import gc
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import sbc_runtime
from sbc_runtime.api import Run
from sbc_runtime.host import HOST
from sbc_runtime.macos.run import MacRun
from tests.runtime.processes import children_of, living, marked, parent, until
from tests.runtime.support import Caller, stock
from tests.runtime.test_outcomes import PLAIN, bundle
from tests.shared_data import ROOT


@pytest.fixture
def tree() -> Path:
    return Caller("user" if os.geteuid() else "root").tree()


def spares() -> list[int]:
    """The helper's children, where they are one spare supervisor and no other."""
    try:
        found = children_of(helper())
        return found if [Path(f"/proc/{one}/comm").read_text() for one in found] == ["sbc-spare\n"] else []
    except OSError:
        return []


def helper() -> int:
    assert HOST._helper is not None  # pyright: ignore[reportPrivateUsage]
    return HOST._helper._pid  # pyright: ignore[reportPrivateUsage]


def sleeping(tree: Path) -> tuple[Run | MacRun, int]:
    """Start a command that sleeps by a number of its own; gives the run, and the command's process."""
    number = random.randint(10**6, 10**7)  # noqa: S311
    run = sbc_runtime.load(stock("agent-check")).start(["/bin/sleep", str(number)], params={"workdir": tree})
    found: list[int] = []
    assert until(lambda: found or found.extend(marked(f"/bin/sleep {number}")))
    return run, found[0]


def test_a_killed_supervisor_is_never_a_success(tree: Path) -> None:
    run, command = sleeping(tree)
    supervisor = parent(parent(command))
    assert Path(f"/proc/{supervisor}/comm").read_text() == "sbc-supervisor\n"
    os.kill(supervisor, signal.SIGKILL)
    outcome = run.wait()
    assert (outcome.kind, outcome.by, outcome.code) == ("sandbox-failed", "sandbox", 125)
    assert until(lambda: not living(command))


def test_a_killed_init_is_never_a_success(tree: Path) -> None:
    run, command = sleeping(tree)
    os.kill(parent(command), signal.SIGKILL)
    outcome = run.wait()
    assert (outcome.kind, outcome.by, outcome.code) == ("sandbox-failed", "sandbox", 125)
    assert until(lambda: not living(command))


def test_a_killed_helper_is_replaced(tree: Path) -> None:
    profile = sbc_runtime.load(stock("agent-check"))
    assert profile.run(["/bin/true"], params={"workdir": tree}).ok
    before = helper()
    os.kill(before, signal.SIGKILL)
    os.waitid(os.P_PID, before, os.WEXITED | os.WNOWAIT)
    assert profile.run(["/bin/true"], params={"workdir": tree}).ok
    assert helper() != before


def test_a_helper_that_was_killed_as_it_forked_is_replaced(tree: Path) -> None:
    """Its end of the connection is open yet, in a process that reads nothing from it."""
    profile = sbc_runtime.load(stock("agent-check"))
    assert profile.run(["/bin/true"], params={"workdir": tree}).ok
    assert until(spares)
    before = helper()
    sockets = [one for one in os.listdir(f"/proc/{before}/fd") if is_socket(before, one)]
    kept = [one for one in (taken(before, int(one)) for one in sockets) if one >= 0]
    assert kept
    os.kill(before, signal.SIGKILL)
    os.waitid(os.P_PID, before, os.WEXITED | os.WNOWAIT)
    run = profile.start(["/bin/true"], params={"workdir": tree})
    for one in kept:
        os.close(one)
    assert run.wait().ok
    assert helper() != before


def is_socket(pid: int, descriptor: str) -> bool:
    with contextlib.suppress(FileNotFoundError):  # it is at work yet
        return os.readlink(f"/proc/{pid}/fd/{descriptor}").startswith("socket:")
    return False


def taken(pid: int, descriptor: int) -> int:
    """Take a descriptor from another process (pidfd_getfd(2)); -1 where it has closed it."""
    process = os.pidfd_open(pid)
    try:
        return ctypes.CDLL(None).syscall(438, process, descriptor, 0)
    finally:
        os.close(process)


def test_the_helper_ends_with_the_host(tree: Path) -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import sbc_runtime; from sbc_runtime.host import HOST\n"
        "assert sbc_runtime.load(sys.argv[2]).run(['/bin/true'], params={'workdir': sys.argv[3]}).ok\n"
        "print(HOST._helper._pid, flush=True)"
    )
    arguments = [sys.executable, "-c", program, str(ROOT / "runtime"), str(stock("agent-check")), str(tree)]
    done = subprocess.run(arguments, capture_output=True, check=True, text=True)
    # Where nobody reaps orphans a zombie is left, which has no command line.
    assert until(lambda: int(done.stdout) not in marked("sbc_runtime.helper"))


def test_runs_outlive_the_thread_that_started_them(tree: Path) -> None:
    HOST.close()
    profile = sbc_runtime.load(stock("agent-check"))
    started: list[Run | MacRun] = []

    def start() -> None:
        started.append(profile.start(["/bin/sleep", "0.5"], params={"workdir": tree}))

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert started[0].wait().ok


def test_a_hundred_runs_from_sixteen_threads(tree: Path) -> None:
    profile = sbc_runtime.load(stock("agent-check"))
    wrong: list[object] = []
    numbers = iter(range(100))
    lock = threading.Lock()

    def work() -> None:
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            outcome = profile.run(["/bin/sh", "-c", f"echo {number}; exit {number}"], params={"workdir": tree})
            if (outcome.kind, outcome.status, outcome.stdout.kept) != ("exited", number, f"{number}\n".encode()):
                wrong.append(outcome)

    threads = [threading.Thread(target=work) for _ in range(16)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert wrong == []


def resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1])


def held() -> tuple[int, ...]:
    """Descriptors and resident pages of this process and of the helper."""
    both = (os.getpid(), helper())
    return (*(len(list(Path(f"/proc/{one}/fd").iterdir())) for one in both), *(resident(one) for one in both))


def leaks(tree: Path, runs: int) -> None:
    profile = sbc_runtime.load(stock("agent-check"))
    for _ in range(20):
        profile.run(["/bin/true"], params={"workdir": tree})
    gc.collect()
    assert until(spares)
    before = held()
    for _ in range(runs):
        assert profile.run(["/bin/true"], params={"workdir": tree}).ok
    gc.collect()
    assert until(spares)
    # The helper may just be making something ready; what it has lost it has lost for good.
    assert until(lambda: all(now <= then for now, then in zip(held()[:2], before[:2], strict=True))), (held(), before)
    after = held()
    assert after[2] - before[2] < 256
    assert after[3] - before[3] < 128


def test_nothing_leaks(tree: Path) -> None:
    leaks(tree, 60)


@pytest.mark.slow
def test_nothing_leaks_in_two_thousand_runs(tree: Path) -> None:
    leaks(tree, 2000)


def test_from_asyncio(tree: Path) -> None:
    profile = sbc_runtime.load(stock("agent-check"))

    async def one(number: int) -> int | None:
        run = profile.start(["/bin/sh", "-c", f"sleep 0.1; exit {number}"], params={"workdir": tree})
        done = asyncio.Event()
        loop = asyncio.get_running_loop()
        loop.add_reader(run.fileno(), done.set)
        await done.wait()
        loop.remove_reader(run.fileno())
        return run.wait().status

    async def every() -> list[int | None]:
        return list(await asyncio.gather(*(one(number) for number in range(6))))

    assert asyncio.run(every()) == [0, 1, 2, 3, 4, 5]


def test_streams_to_descriptors(tree: Path) -> None:
    profile = sbc_runtime.load(stock("agent-check"))
    target = tree.parent / "log"
    target.write_text("before\n")
    with target.open("ab") as file, (ROOT / "README.md").open("rb") as source:
        script = "cat; ( : > /proc/self/fd/1 ) 2>/dev/null; echo end; echo err >&2"
        outcome = profile.run(
            ["/bin/sh", "-c", script], params={"workdir": tree}, stdin=source, stdout=file, stderr="null"
        )
    assert outcome.ok
    assert target.read_bytes() == b"before\n" + (ROOT / "README.md").read_bytes() + b"end\n"
    assert outcome.stderr.total == 4


def test_a_reader_that_is_slow_does_not_stop_the_clock(tree: Path) -> None:
    read, write = os.pipe()
    # Were it to wait for the reader, it would wait for ever.
    outcome = sbc_runtime.load(stock("agent-check")).run(
        ["/bin/sh", "-c", "head -c 1m /dev/zero; sleep 1000"], params={"workdir": tree}, stdout=write, timeout=0.5
    )
    assert outcome.kind == "timed-out"
    os.close(read)
    os.close(write)


def test_a_slow_reader_gets_everything(tree: Path) -> None:
    read, write = os.pipe()
    run = sbc_runtime.load(stock("agent-check")).start(
        ["/bin/sh", "-c", "head -c 300k /dev/zero"], params={"workdir": tree}, stdout=write
    )
    os.close(write)
    time.sleep(0.5)
    got = 0
    while part := os.read(read, 65536):
        got += len(part)
    os.close(read)
    assert run.wait().ok
    assert got == 300 << 10


def test_a_terminal(tree: Path) -> None:
    read, write = os.pipe()
    inside, outside = os.pipe()
    text = PLAIN.replace("devices minimal", "devices standard")
    profile = sbc_runtime.load(bundle(text))
    run = profile.start(
        ["/bin/sh", "-c", "tty; stty size; read x; echo got $x; until stty size | grep '20 60'; do sleep 0.05; done"],
        stdin=inside,
        stdout=write,
        terminal=(31, 97),
        timeout=120,
    )
    os.close(write)
    shown = b""
    while b"31 97" not in shown:
        part = os.read(read, 4096)
        assert part, run.wait().failure
        shown += part
    run.resize(20, 60)
    os.write(outside, b"line\n")
    while part := os.read(read, 4096):
        shown += part
    assert run.wait().ok
    assert b"/dev/pts/0" in shown
    assert b"got line" in shown
    assert b"20 60" in shown
    for one in (read, inside, outside):
        os.close(one)


def test_the_callers_limits_hold(tree: Path) -> None:
    program = (
        "import resource, sys; sys.path.insert(0, sys.argv[1]); import sbc_runtime\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (300, 300))\n"
        "p = sbc_runtime.load(sys.argv[2])\n"
        "o = p.run(['/bin/sh', '-c', 'ulimit -Hn'], params={'workdir': sys.argv[3]})\n"
        "print(o.stdout.kept.decode(), o.failure)\n"
    )
    arguments = [sys.executable, "-c", program, str(ROOT / "runtime"), str(stock("agent-check")), str(tree)]
    assert subprocess.run(arguments, capture_output=True, check=True, text=True).stdout.split()[0] == "300"
