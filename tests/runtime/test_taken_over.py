"""What a command takes over from its caller: nothing of it that the profile does not name."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

import sbc_runtime
from tests.runtime.processes import marked, until, words
from tests.runtime.support import PATHS, SYSTEM, Caller, bundle

PROFILE = (
    f"param workdir : dir; syscalls none; files {{ root private; {SYSTEM}; write ${{workdir}} as /work; "
    f"devices minimal; start-in /work }}; network none; {PATHS}; limits {{ core-size 0 }}"
)

INSIDE = """
import ctypes, json, os, resource, signal
libc = ctypes.CDLL(None, use_errno=True)
status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines())
with open("/proc/self/cgroup") as file:
    cgroups = [line.split(":", 2)[2] for line in file.read().split("\\n") if line.startswith("0::")]
print(json.dumps({
    "signals": sorted({int(status[one], 16) for one in ("SigBlk", "SigIgn", "SigPnd", "ShdPnd")}),
    "timers": [signal.getitimer(one) for one in (0, 1, 2)],
    "personality": libc.personality(0xffffffff),
    "umask": os.umask(0),
    "descriptors": sorted(int(one) for one in os.listdir("/proc/self/fd")),
    "groups": os.getgroups(),
    "core": resource.getrlimit(resource.RLIMIT_CORE),
    "cgroups": cgroups,
    "key": libc.syscall(asked[0], 10, b"user", b"sbc-test", None, -3),
}))
"""

OUTSIDE = """
import ctypes, signal, subprocess
backend, inside, number, groups = given
libc = ctypes.CDLL(None, use_errno=True)
if groups:
    os.setgroups(groups)
libc.personality(0x0040000)
signal.setitimer(signal.ITIMER_REAL, 3600)
signal.setitimer(signal.ITIMER_PROF, 3600)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGTERM])
for one in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    signal.signal(one, signal.SIG_IGN)
os.umask(0)
os.set_inheritable(os.open("/etc/passwd", os.O_RDONLY), True)
os.set_inheritable(os.open("/", os.O_RDONLY), True)
# A session keyring of the caller's, with a key in it.
libc.syscall(number[1], 1, None)
libc.syscall(number[0], b"user", b"sbc-test", b"secret", 6, -3)
program = "asked = [%d]\\n" % number[1] + inside
outcome = profile.run(["/usr/bin/python3", "-I", "-S", "-c", program], params={"workdir": tree}, backend=backend,
                      allow_wider=True)
tell([outcome.kind, outcome.stdout.kept.decode(), outcome.stderr.kept.decode() + str(outcome.failure or "")])
"""

NUMBERS = {"x86_64": (248, 250), "aarch64": (217, 219)}
"""Of add_key(2) and keyctl(2)."""


@pytest.mark.parametrize("backend", ["namespace", "bwrap", "process"])
def test_nothing_of_the_callers(caller: Caller, backend: str) -> None:
    numbers = NUMBERS.get(os.uname().machine)
    if numbers is None:
        pytest.skip("the numbers are those of x86_64 and aarch64")
    groups = [0, 4, 27] if caller.name == "root" else []
    kind, text, said = caller.host(OUTSIDE, bundle(PROFILE), backend, INSIDE, numbers, groups)
    assert kind == "exited", said
    assert text, said
    seen = json.loads(text)
    assert seen["signals"] == [0, 1 << 12 | 1 << 24], "Python itself ignores SIGPIPE and SIGXFSZ"
    assert seen["timers"] == [[0.0, 0.0]] * 3
    assert seen["personality"] == 0
    assert seen["umask"] == 0o22
    assert seen["descriptors"] == [0, 1, 2, 3], "3 is the listed folder"
    assert set(seen["groups"]) <= {caller.owner}, seen["groups"]
    # At 0 a program that core dumps are piped to would be started.
    assert seen["core"] == [1, 1]
    assert seen["key"] == -1, "the caller's key is found"
    if backend != "process":
        assert set(seen["cgroups"]) <= {"/"}


SECRET, OWN = f"sbc-test-secret-{os.urandom(8).hex()}", f"sbc-test-own-{os.urandom(8).hex()}"
"""Those of this process: others may run the same tests at the same time."""

HELD = """
import time
secret, own, mark, backend = given
run = profile.start(["/bin/sleep", mark], params={"workdir": tree}, backend=backend, allow_wider=True)
end = time.monotonic() + 120
lines, carriers, command = [], [], None
while command is None and time.monotonic() < end:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file: line = file.read()
            with open(f"/proc/{pid}/stat") as file: state = file.read()
        except OSError: continue
        if secret.encode() in line: lines.append(line.decode())
        if line.replace(b"\\0", b" ") == f"/bin/sleep {mark} ".encode(): command = pid
# Who carries what is the caller's own, as far as this caller may look.
for pid in filter(str.isdigit, os.listdir("/proc")):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file: found = own.encode() in file.read()
        with open(f"/proc/{pid}/comm") as file: name = file.read().strip()
    except OSError: continue
    if found and int(pid) != os.getpid(): carriers.append(name)
run.cancel()
run.wait()
tell([command is not None, lines, carriers])
"""


def seconds() -> str:
    """A time to sleep by which a command is known."""
    return str(random.randint(10**6, 10**7))  # noqa: S311


@pytest.mark.parametrize("backend", ["namespace", "bwrap", "process"])
def test_values_of_the_environment_are_on_no_command_line(caller: Caller, backend: str) -> None:
    """And those of the caller's own environment are in that of no process of a run, from the first one on."""
    made = bundle(PROFILE.replace("environment { ", f'environment {{ set TOKEN = "{SECRET}"; '))
    ran, lines, carriers = caller.host(HELD, made, SECRET, OWN, seconds(), backend, environ={"MINE": OWN})
    assert ran
    assert lines == []
    assert carriers == []


INIT = """
import contextlib, time
mark, backend = given
run = profile.start(["/bin/sleep", mark], params={"workdir": tree}, backend=backend)
end = time.monotonic() + 120
found = None
while found is None and time.monotonic() < end:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file: line = file.read()
            with open(f"/proc/{pid}/stat") as file: parent = file.read().rpartition(")")[2].split()[1]
            if line.replace(b"\\0", b" ") == f"/bin/sleep {mark} ".encode(): found = parent
        except OSError: continue
kept = [""] * 4
while len(kept) > 3 and time.monotonic() < end:  # the command may be there before init has closed its gate
    with contextlib.suppress(OSError):
        kept = [os.readlink(f"/proc/{found}/fd/{one}") for one in os.listdir(f"/proc/{found}/fd")]
with open(f"/proc/{found}/environ", "rb") as file: environ = file.read().decode()
run.cancel()
run.wait()
tell([kept, environ])
"""


def test_init_holds_two_pipes_and_a_clean_environment() -> None:
    """What could be reached through it if anything could: its status, the lifeline, and the ends of its children."""
    kept, environ = Caller("root").host(INIT, bundle(PROFILE), seconds(), "namespace", environ={"MINE": OWN})
    assert sorted(one.partition(":")[0] for one in kept) == ["anon_inode", "pipe", "pipe"]
    assert "anon_inode:[signalfd]" in kept
    assert environ == ""


ENTER = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
ids, pid = int(sys.argv[1]), sys.argv[2]
os.setgroups([]); os.setresgid(ids, ids, ids); os.setresuid(ids, ids, ids)
libc.prctl(4, 1, 0, 0, 0)
try:
    there = os.open(f"/proc/{pid}/ns/user", os.O_RDONLY)
    print("entered" if libc.setns(there, 0x10000000) == 0 else ctypes.get_errno())
except PermissionError as error:
    print(error.errno)
print(libc.ptrace(16, int(pid), 0, 0), *(ctypes.get_errno(),))
"""


def entered(pid: int) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-I", "-c", ENTER, "65534", str(pid)], capture_output=True, text=True, check=True, cwd="/"
    )
    return done.stdout.split()


@pytest.mark.parametrize("backend", ["namespace", "bwrap"])
def test_no_other_process_of_the_host_user_can_enter(backend: str) -> None:
    """As root: the command is uid 65534 of the host, which others are too. The control: a namespace that 65534 made."""
    caller = Caller("root")
    mark = seconds()
    run = sbc_runtime.load(bundle(PROFILE)).start(
        ["/bin/sleep", mark],
        params={"workdir": caller.tree()},
        backend=backend,  # pyright: ignore[reportArgumentType]
    )
    found: list[int] = []
    command = [b"/bin/sleep", mark.encode()]
    try:
        assert until(lambda: found or found.extend(one for one in marked(mark) if words(one) == command))
        assert Path(f"/proc/{found[0]}/status").read_text().split("Uid:")[1].split()[0] == "65534"
        assert entered(found[0]) in (["13", "-1", "1"], ["1", "-1", "1"])
    finally:
        run.cancel()
        outcome = run.wait()
    assert any(one.startswith("host_id_shared") for one in outcome.notes)
    with subprocess.Popen(
        ["unshare", "-U", "sh", "-c", "echo; exec sleep 60"],
        stdout=subprocess.PIPE,
        cwd="/",
        user=65534,
        group=65534,
        extra_groups=[],
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"\n"
        assert entered(other.pid)[0] == "entered"
        other.kill()
