"""What a command can try on init: run inside a sandbox, by the name of what is tried. Prints what came of it."""

import contextlib
import ctypes
import errno
import fcntl
import os
import resource
import signal
import struct
import sys
import time
from collections.abc import Callable
from typing import Any

LIBC = ctypes.CDLL(None, use_errno=True)
CALL = LIBC.syscall
CALL.restype = ctypes.c_long
NUMBERS = dict(zip(sys.argv[2].split(), map(int, sys.argv[3].split()), strict=True)) if len(sys.argv) > 3 else {}
PR_SET_PDEATHSIG = 1
F_SETSIG = 10
SIGEV_THREAD_ID = 4


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")


def call(name: str, *arguments: int) -> str:
    ctypes.set_errno(0)
    found = CALL(NUMBERS[name], *(ctypes.c_ulong(one) for one in arguments))
    return "done" if found >= 0 else errno.errorcode[ctypes.get_errno()]


def buffer(content: bytes) -> int:
    made = ctypes.create_string_buffer(content, max(len(content), 1))
    kept.append(made)
    return ctypes.addressof(made)


kept: list[object] = []


def calls() -> None:
    """Print what each call says of this process, and of init by every spelling of its number."""
    nothing = struct.pack("=QQ", 0, 0)
    # size, policy, flags, nice, priority, and three times for the deadline policy
    idle = struct.pack("=IIQiIQQQ", 48, 5, 0, 19, 0, 0, 0, 0)
    mask = buffer(b"\1" + bytes(127))
    here = buffer(bytes(16))
    vector = buffer(struct.pack("@PL", here, 8))
    given: dict[str, Callable[[int], tuple[int, ...]]] = {
        "prlimit64": lambda pid: (pid, resource.RLIMIT_FSIZE, buffer(nothing), 0),
        "sched_setscheduler": lambda pid: (pid, os.SCHED_IDLE, buffer(bytes(4))),
        "sched_setparam": lambda pid: (pid, buffer(bytes(4))),
        "sched_setaffinity": lambda pid: (pid, 128, mask),
        "sched_setattr": lambda pid: (pid, buffer(idle), 0),
        "process_vm_readv": lambda pid: (pid, vector, 1, vector, 1, 0),
        "process_vm_writev": lambda pid: (pid, vector, 1, vector, 1, 0),
        "move_pages": lambda pid: (pid, 0, 0, 0, 0, 0),
        "migrate_pages": lambda pid: (pid, 64, buffer(b"\1" + bytes(7)), buffer(b"\1" + bytes(7))),
        "get_robust_list": lambda pid: (pid, here, here),
        "pidfd_open": lambda pid: (pid, 0),
        "kcmp": lambda pid: (pid, pid, 0, 0, 0),
        "setpriority": lambda pid: (0, pid, 19),
        "ioprio_set": lambda pid: (1, pid, 3 << 13),
    }
    for name, arguments in given.items():
        say(name, *(call(name, *arguments(pid)) for pid in (1, 1 << 32 | 1, os.getpid())))
    say("ptrace", *(call("ptrace", request, 1, 0, 0) for request in (16, 0x4206)))
    event = buffer(struct.pack("=IIQQQQQ", 1, 128, 1, 0, 0, 0, 1).ljust(128, b"\0"))
    say("perf_event_open", call("perf_event_open", event, 1, 0xFFFFFFFF, 0xFFFFFFFF, 0))
    say("by-group", call("setpriority", 1, 0, 19), call("ioprio_set", 2, 0, 3 << 13))
    say("by-user", call("setpriority", 2, os.getuid(), 19), call("ioprio_set", 3, os.getuid(), 3 << 13))
    say("threads", "1" if not os.path.exists("/proc/1/task") else len(os.listdir("/proc/1/task")))
    for name in ("oom_score_adj", "oom_adj", "autogroup", "timerslack_ns", "coredump_filter", "comm", "clear_refs"):
        try:
            os.write(os.open(f"/proc/1/{name}", os.O_WRONLY), b"0")
            say("/proc/1", name)
        except OSError:
            pass


def signals() -> None:
    """Send init every signal in every way."""
    mine = os.getpid()
    for number in range(1, 65):
        if number not in (signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD, 32, 33):
            signal.signal(number, signal.SIG_IGN)
    for number in range(1, 65):
        for group in (1, -1):
            attempt(os.kill, group, number)
        call("tgkill", 1, 1, number)
        call("tkill", 1, number)
        for name in ("rt_sigqueueinfo", "rt_tgsigqueueinfo"):
            info = buffer(struct.pack("=iii", number, 0, -1).ljust(128, b"\0"))
            call(name, *((1,) if name == "rt_sigqueueinfo" else (1, 1)), number, info)
        attempt(by_folder, number)
        attempt(by_descriptor, number)
        attempt(by_timer, number)
        by_parent(number)
    assert os.getpid() == mine
    orphan()


def attempt(function: Callable[..., object], *arguments: Any) -> None:  # noqa: ANN401
    with contextlib.suppress(OSError):
        function(*arguments)


def by_folder(number: int) -> None:
    """A folder of /proc is as good as a pidfd."""
    folder = os.open("/proc/1", os.O_RDONLY | os.O_DIRECTORY)
    try:
        signal.pidfd_send_signal(folder, number)
    finally:
        os.close(folder)


def by_descriptor(number: int) -> None:
    """fcntl(2): what a descriptor says goes to its owner."""
    here, there = os.pipe()
    fcntl.fcntl(here, F_SETSIG, number)
    fcntl.fcntl(here, fcntl.F_SETOWN, 1)
    fcntl.fcntl(here, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(there, b"x")
    os.close(here)
    os.close(there)


def by_timer(number: int) -> None:
    """timer_create(2) with a thread of another process."""
    event = struct.pack("=QiiiI", 0, number, SIGEV_THREAD_ID, 1, 0).ljust(64, b"\0")
    call("timer_create", 1, buffer(event), buffer(bytes(4)))


def by_parent(number: int) -> None:
    """A process whose parent ends gets a signal, and init as its parent."""
    middle = os.fork()
    if middle == 0:
        if os.fork() == 0:
            LIBC.prctl(PR_SET_PDEATHSIG, number, 0, 0, 0)
            time.sleep(0.001)
        os._exit(0)
    os.waitpid(middle, 0)


def orphan() -> None:
    """Wait until init has reaped a process that lost its parent."""
    here, there = os.pipe()
    middle = os.fork()
    if middle == 0:
        if (inner := os.fork()) == 0:
            os._exit(0)
        os.write(there, str(inner).encode())
        os._exit(0)
    os.waitpid(middle, 0)
    inner = int(os.read(here, 16))
    end = time.monotonic() + 300
    while time.monotonic() < end:
        try:
            os.kill(inner, 0)
        except ProcessLookupError:
            say("reaped")
            return
        time.sleep(0.01)


def oom() -> None:
    """Print the score after an attempt to lower it."""
    attempt(lower)
    with open("/proc/self/oom_score_adj") as file:
        say(file.read().strip())


def lower() -> None:
    with open("/proc/self/oom_score_adj", "w") as file:
        file.write("-1000")


def last_in_line() -> None:
    """Fill one processor with processes, and make init and all of them the last in line there."""
    for pid in (0, 1):
        attempt(os.sched_setaffinity, pid, {min(os.sched_getaffinity(0))})
    attempt(os.sched_setscheduler, 1, os.SCHED_IDLE, os.sched_param(0))
    for _ in range(150):
        try:
            if os.fork() == 0:
                break
        except OSError:
            break
    while True:
        pass


globals()[sys.argv[1]]()
sys.stdout.flush()
os._exit(7)
