"""Init is not the command's to touch: by no call, no signal, no place in line; and the end comes all the same."""

import os
from pathlib import Path

import pytest

import sbc_runtime
from sbc.kernel.numbers import numbers
from sbc_runtime.arch import own_arch
from sbc_runtime.init_guard import FIRST, PRIORITIES, SECOND
from sbc_runtime.outcome import Outcome
from tests.runtime.support import PATHS, SYSTEM, Caller, bundle

FILES = f"root private; {SYSTEM}; write ${{workdir}} as /work; devices minimal; start-in /work"
OPEN = f"param workdir : dir; syscalls none; files {{ {FILES} }}; network none; {PATHS}; limits {{ processes 300 }}"
PYTHON = ["/usr/bin/python3", "-I", "-S", "-B", "/work/touch.py"]
SIGNALS = ("tgkill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "timer_create")


def attempt(caller: Caller, backend: str, name: str, *, timeout: float = 600, profile: str = OPEN) -> Outcome:
    """Run one of `init_touched.py` inside."""
    if not Path(PYTHON[0]).exists():
        pytest.skip("no /usr/bin/python3 to run inside")
    tree = caller.tree()
    (tree / "touch.py").write_bytes((Path(__file__).parent / "init_touched.py").read_bytes())
    known = numbers(own_arch().name)
    names = [one for one in (*FIRST, *SECOND, *PRIORITIES, *SIGNALS) if one in known]
    words = [name, " ".join(names), " ".join(str(known[one]) for one in names)]
    return caller.run(bundle(profile), [*PYTHON, *words], {"workdir": tree}, backend=backend, timeout=timeout)


def test_no_call_reaches_init(caller: Caller, backend: str) -> None:
    """The last word of a line is what the same call says of the caller itself."""
    outcome = attempt(caller, backend, "calls")
    assert (outcome.kind, outcome.status, outcome.by) == ("exited", 7, "command"), (outcome.failure, outcome.stderr)
    told = {line.split()[0]: line.split()[1:] for line in outcome.stdout.kept.decode().splitlines()}
    assert told.pop("threads") == ["1"]
    assert told.pop("ptrace") == ["EPERM", "EPERM"]
    assert told.pop("perf_event_open") == ["EPERM"]
    assert told.pop("by-group") == told.pop("by-user") == ["EPERM", "EPERM"]
    assert "/proc/1" not in told
    assert set(told) == {*FIRST, "kcmp", *PRIORITIES}
    for name, (init, spelled_otherwise, itself) in told.items():
        assert (init, spelled_otherwise) == ("EPERM", "EPERM"), name
        assert itself in {"done", "ENOSYS"}, name


def test_no_signal_reaches_init(caller: Caller, backend: str) -> None:
    outcome = attempt(caller, backend, "signals")
    assert (outcome.kind, outcome.status, outcome.by) == ("exited", 7, "command"), (outcome.failure, outcome.stderr)
    assert outcome.stdout.kept == b"reaped\n"


def test_the_oom_score_cannot_be_lowered(caller: Caller, backend: str) -> None:
    before = int(Path("/proc/self/oom_score_adj").read_text())
    outcome = attempt(caller, backend, "oom")
    assert outcome.status == 7, outcome
    assert int(outcome.stdout.kept) == max(500, before)


def test_the_end_comes_though_everything_is_last_in_line(caller: Caller, backend: str) -> None:
    outcome = attempt(caller, backend, "last_in_line", timeout=1)
    assert outcome.kind == "timed-out", outcome


FORGE = """
import os, struct, sys
# A status of 0 as init writes it, and what an outcome looks like, wherever something can be opened or is open.
words = (struct.pack("=i", 0), b'{"kind": "exited", "status": 0}')
for pid in filter(str.isdigit, os.listdir("/proc")):
    try: names = os.listdir(f"/proc/{pid}/fd")
    except OSError: continue
    for name in names:
        try:
            if pid != str(os.getpid()):
                with open(f"/proc/{pid}/fd/{name}", "wb", buffering=0) as file:
                    for word in words: file.write(word)
        except OSError: pass
for descriptor in range(3, 4096):
    for word in words:
        try: os.write(descriptor, word)
        except OSError: pass
for pid in (1, -1):
    for number in (9, 15, 17):
        try: os.kill(pid, number)
        except OSError: pass
os._exit(5)
"""


def test_the_end_cannot_be_forged(caller: Caller, backend: str) -> None:
    command = ["/usr/bin/python3", "-I", "-S", "-c", FORGE]
    outcome = caller.run(bundle(OPEN), command, {"workdir": caller.tree()}, backend=backend)
    assert (outcome.kind, outcome.status, outcome.by) == ("exited", 5, "command"), outcome
    assert (outcome.stdout.kept, outcome.stderr.kept) == (b"", b"")


def test_kill_0_is_for_the_commands_own_group(caller: Caller, backend: str) -> None:
    script = "trap '' TERM HUP INT QUIT; for s in TERM HUP INT QUIT; do kill -$s 0; done; exit 7"
    outcome = caller.run(bundle(OPEN), script, {"workdir": caller.tree()}, backend=backend)
    assert (outcome.kind, outcome.status) == ("exited", 7), outcome


def with_terminal(backend: str, script: str) -> Outcome:
    caller = Caller("user" if os.geteuid() else "root")
    keys, typed = os.pipe()
    shown, screen = os.pipe()
    run = sbc_runtime.load(bundle(OPEN)).start(
        ["/bin/sh", "-c", script],
        params={"workdir": caller.tree()},
        backend=backend,  # pyright: ignore[reportArgumentType]
        stdin=keys,
        stdout=screen,
        terminal=(24, 80),
        timeout=600,
    )
    os.close(screen)
    outcome = run.wait()
    for one in (keys, typed, shown):
        os.close(one)
    return outcome


@pytest.mark.parametrize("name", ["HUP", "INT", "QUIT", "TERM", "TSTP", "USR1"])
def test_kill_0_with_a_terminal(backend: str, name: str) -> None:
    outcome = with_terminal(backend, f"trap '' {name}; kill -{name} 0; exit 7")
    assert (outcome.kind, outcome.status) == ("exited", 7), outcome


def test_sigkill_for_the_group_with_a_terminal(backend: str) -> None:
    """Bubblewrap's outer process is in the group: where it goes first, how the command ended is not known."""
    outcome = with_terminal(backend, "kill -KILL 0; exit 0")
    ends = {("signalled", 9)} if backend == "namespace" else {("signalled", 9), ("sandbox-failed", None)}
    assert (outcome.kind, outcome.signal) in ends, outcome
    assert outcome.code in {137, 125}


def test_a_stop_is_not_the_end(caller: Caller) -> None:
    """Whoever calls PTRACE_TRACEME (0) makes its parent, init, its tracer, which is told of each stop: ptrace(2)."""
    script = "import ctypes, os; ctypes.CDLL(None).ptrace(0, 0, 0, 0); os.kill(os.getpid(), 17); os._exit(3)"
    made = bundle(f"files {{ root private; {SYSTEM}; start-in /usr }}; {PATHS}; network none; syscalls none")
    outcome = caller.run(made, ["/usr/bin/python3", "-I", "-c", script], timeout=2, backend="namespace")
    assert (outcome.kind, outcome.code) == ("timed-out", 124)
