"""How runs end: statuses, signals, limits, refusals; and that everything ends with them."""

import os
import random
from pathlib import Path

import pytest

import sbc_runtime
from tests.runtime.processes import marked, words
from tests.runtime.support import PATHS, SYSTEM, Caller, bundle, out, stock

FILES = f"files {{ root private; {SYSTEM}; tmp /tmp size 64MiB; devices minimal; start-in /tmp }}"


def limited(limits: str) -> Path:
    return bundle(f"{FILES}; network none; {PATHS}; limits {{ {limits} }}")


PLAIN = f"{FILES}; network none; {PATHS}"


def test_statuses(caller: Caller) -> None:
    plain = bundle(PLAIN)
    for status in (0, 1, 124, 125, 126, 127, 255):
        outcome = caller.run(plain, f"exit {status}")
        assert (outcome.kind, outcome.by, outcome.code, outcome.status) == ("exited", "command", status, status)


def test_signals(caller: Caller) -> None:
    outcome = caller.run(bundle(PLAIN), "kill -TERM $$")
    assert (outcome.kind, outcome.by, outcome.code, outcome.signal) == ("signalled", "command", 143, 15)


@pytest.mark.parametrize(
    ("argv", "code", "errno"),
    [(["no-such-program"], 127, 2), (["/tmp"], 126, 13), (["/usr/bin/no"], 127, 2), ([""], 127, 2)],
)
def test_what_cannot_be_executed(caller: Caller, argv: list[str], code: int, errno: int) -> None:
    outcome = caller.run(bundle(PLAIN), argv)
    assert (outcome.kind, outcome.by, outcome.code) == ("exited", "sandbox", code)
    assert outcome.failure is not None
    assert outcome.failure.errno == errno


def test_scripts_without_a_first_line_are_the_shells(caller: Caller) -> None:
    tree = caller.tree()
    script = tree / "script"
    script.write_text("echo script $1\n")
    script.chmod(0o755)
    caller.own(script)
    script.chmod(0o755)
    made = bundle(f"param t : dir; files {{ root private; {SYSTEM}; write ${{t}} as /t; devices none }}; {PATHS}")
    assert out(caller.run(made, ["./script", "one"], {"t": tree}, cwd="/")) == "script one\n"


def test_the_wall_limit(caller: Caller) -> None:
    # It waits for nothing that the command has started: that would be for as good as ever.
    outcome = caller.run(limited("wall 300ms"), "sleep 10000 & setsid sleep 10000 & sleep 10000")
    assert (outcome.kind, outcome.by, outcome.code) == ("timed-out", "sandbox", 124)


def test_a_timeout_can_only_shorten(caller: Caller) -> None:
    long = "wall 3h"
    assert caller.run(limited("wall 300ms"), "sleep 10000", timeout=10000).kind == "timed-out"
    assert caller.run(limited(long), "sleep 10000", timeout=0.2).kind == "timed-out"


def test_the_cpu_limit(caller: Caller) -> None:
    outcome = caller.run(limited("cpu 1s; wall 10min"), "while :; do :; done")
    assert (outcome.kind, outcome.code) == ("cpu-limit", 137)


def test_the_cpu_limit_counts_all_processes(caller: Caller) -> None:
    # None of them comes near the limit, and they never end.
    script = "while :; do (j=0; while [ $j -lt 50000 ]; do j=$((j+1)); done); done"
    outcome = caller.run(limited("cpu 1s; wall 10min"), script)
    assert (outcome.kind, outcome.code) == ("cpu-limit", 137)


HOG = "import sys, time; b = bytearray(int(sys.argv[1]) << 20); b[::4096] = b'x' * len(b[::4096]); time.sleep(1000)"


def test_a_memory_hog(caller: Caller) -> None:
    outcome = caller.run(limited("memory 96MiB; wall 10min"), ["/usr/bin/python3", "-c", HOG, "100"])
    assert (outcome.kind, outcome.code) == ("memory-limit", 137)
    assert outcome.usage.memory is not None
    assert outcome.usage.memory < 192 << 20


def test_a_spread_hog(caller: Caller) -> None:
    script = 'for i in 1 2 3 4 5 6; do /usr/bin/python3 -c "$0" 30 & done; wait'
    outcome = caller.run(limited("memory 128MiB; wall 10min"), ["/bin/sh", "-c", script, HOG])
    assert (outcome.kind, outcome.code) == ("memory-limit", 137)
    assert outcome.usage.memory is not None
    assert outcome.usage.memory < 256 << 20


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm"])
def test_files_in_memory_count(caller: Caller, place: str) -> None:
    outcome = caller.run(limited("memory 32MiB; wall 10min"), f"head -c 60m /dev/zero > {place}/x; sleep 1000")
    # /dev/shm is itself no larger than the limit.
    assert outcome.kind == "memory-limit"


def test_pages_shared_by_fork_count_once(caller: Caller) -> None:
    script = (
        "import os, time; b = bytearray(60 << 20); b[::4096] = b'x' * len(b[::4096])\n"
        "for i in range(4):\n if os.fork() == 0: time.sleep(0.5); os._exit(0)\n"
        "time.sleep(0.6)"
    )
    assert caller.run(limited("memory 160MiB; wall 10min"), ["/usr/bin/python3", "-c", script]).ok


def test_a_fork_bomb(caller: Caller) -> None:
    script = "i=0; while [ $i -lt 30 ]; do sleep 1000 & i=$((i+1)); done 2>/dev/null; echo unlimited"
    outcome = caller.run(limited("processes 10; wall 10min"), script)
    assert outcome.kind in {"exited", "process-limit"}
    assert b"unlimited" not in outcome.stdout.kept
    (limit,) = [one for one in outcome.limits if one.key == "processes"]
    assert limit.how == (("rlimit",) if outcome.cgroup is None else ("cgroup",))


def test_exactly_the_processes_that_the_limit_says(caller: Caller) -> None:
    # Each lives until there are no more to come.
    script = (
        "import os, sys\nhere, there = os.pipe()\nfor i in range(int(sys.argv[1]) - 1):\n"
        " if os.fork() == 0: os.close(there); os.read(here, 1); os._exit(0)\n"
    )
    made = limited("processes 8; wall 10min")
    assert caller.run(made, ["/usr/bin/python3", "-c", script, "8"]).ok
    assert not caller.run(made, ["/usr/bin/python3", "-c", script, "9"]).ok


def test_the_file_size_limit(caller: Caller) -> None:
    outcome = caller.run(limited("file-size 1MiB"), ["/usr/bin/head", "-c", "2m", "/dev/zero"])
    assert outcome.ok  # pipes have no size
    outcome = caller.run(limited("file-size 1MiB"), "exec head -c 2m /dev/zero > /tmp/x")
    assert (outcome.kind, outcome.code) == ("file-size", 137)


def test_the_output_limit_keeps_the_head(caller: Caller) -> None:
    outcome = caller.run(limited("output 50KiB; wall 10min"), "head -c 200m /dev/zero | tr '\\0' a; sleep 1000")
    assert (outcome.kind, outcome.code) == ("output-limit", 137)
    assert outcome.stdout.kept == b"a" * (50 << 10)
    assert outcome.stdout.cut


def test_output_up_to_the_limit_is_fine(caller: Caller) -> None:
    outcome = caller.run(limited("output 50KiB"), "head -c 51200 /dev/zero; head -c 51200 /dev/zero >&2")
    assert outcome.ok
    assert (outcome.stdout.total, outcome.stderr.total) == (51200, 51200)


def test_large_input_with_large_output(caller: Caller) -> None:
    data = os.urandom(3 << 20)
    outcome = caller.run(bundle(PLAIN), ["/bin/cat"], stdin=data)
    assert outcome.ok
    assert outcome.stdout.kept == data


def test_input_that_nobody_reads(caller: Caller) -> None:
    assert caller.run(bundle(PLAIN), ["/bin/true"], stdin=b"x" * (3 << 20)).ok


def test_no_input(caller: Caller) -> None:
    assert out(caller.run(bundle(PLAIN), ["/bin/cat"])) == ""


def test_open_files_and_core(caller: Caller) -> None:
    made = limited("open-files 64; core-size 0")
    assert out(caller.run(made, "ulimit -n; ulimit -Hn; cat /proc/self/limits | grep core")).split()[:2] == ["64", "64"]


def test_what_is_left_in_the_background_ends(caller: Caller) -> None:
    tree = caller.tree()
    text = (
        f"param t : dir; files {{ root private; {SYSTEM}; write ${{t}} as /t; devices minimal; start-in /t }}; {PATHS}"
    )
    number = random.randint(10**6, 10**7)  # noqa: S311
    both = f"sleep {number} & setsid sh -c ': > there; sleep {number} & wait' &"
    assert caller.run(bundle(text), f"{both} until [ -e there ]; do sleep 0.01; done; exit 0", {"t": tree}).ok
    assert [one for one in marked(f"sleep {number}") if words(one)[0] == b"sleep"] == []


def test_each_denied_call_gives_its_errno(caller: Caller) -> None:
    tree = caller.tree()
    script = (
        "import ctypes, errno, socket\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "def e(*a):\n"
        " ctypes.set_errno(0); r = libc.syscall(*a); return errno.errorcode.get(ctypes.get_errno(), r)\n"
        "print(e(101, 0, 0, 0, 0), e(435, 0, 0), e(272, 0x10000000), e(308, 0, 0), e(250, 0, 0, 0, 0, 0))\n"
        "try: socket.socket(socket.AF_ALG, 5, 0)\n"
        "except OSError as x: print(errno.errorcode[x.errno])\n"
    )
    if os.uname().machine != "x86_64":
        pytest.skip("the numbers are those of x86_64")
    told = out(caller.run(stock("agent-check"), ["/usr/bin/python3", "-c", script], {"workdir": tree}))
    assert told.split() == ["EPERM", "ENOSYS", "EPERM", "EPERM", "EPERM", "EAFNOSUPPORT"]


def test_cancelling(caller: Caller) -> None:
    if caller.other:
        pytest.skip("in this process only")
    run = sbc_runtime.load(bundle(PLAIN)).start(["/bin/sleep", "10000"])
    run.cancel()
    outcome = run.wait()
    assert (outcome.kind, outcome.by, outcome.code) == ("cancelled", "sandbox", 130)
    assert run.wait() is outcome
    assert run.fileno() == -1


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({}, "no value"),
        ({"workdir": "/no/such"}, "there is no"),
        ({"workdir": "/etc/passwd"}, "not a folder"),
        ({"workdir": "/var/tmp", "x": "1"}, "no parameter `x`"),
    ],
)
def test_wrong_parameters_run_nothing(caller: Caller, params: dict[str, str], words: str) -> None:
    outcome = caller.run(stock("agent-check"), ["/bin/true"], params)
    assert (outcome.kind, outcome.by, outcome.code) == ("setup-failed", "sandbox", 125)
    assert outcome.failure is not None
    assert words in str(outcome.failure)


def test_an_unknown_backend_runs_nothing(caller: Caller) -> None:
    outcome = caller.run(bundle(PLAIN), ["/bin/true"], backend="oci")
    assert outcome.kind == "setup-failed"
