"""Ends processes by their ancestry: all that is left where no namespace and no cgroup holds them together.

An orphan falls to its nearest subreaper (PR_SET_CHILD_SUBREAPER, prctl(2)), so that leaving the session or losing the
parent hides nobody. What another service was asked to start is no descendant, and stays.
"""

import contextlib
import os
import signal
import time
from collections.abc import Iterable

from sbc_runtime.records import NamedTuple

PR_SET_CHILD_SUBREAPER = 36


class Process(NamedTuple):
    """A process that has not ended: its parent, and its start in clock ticks, which tells it from a later one."""

    pid: int
    parent: int
    start: int


def look(pid: int | str) -> Process | None:
    """Read /proc/PID/stat (proc_pid_stat(5)); None where the process has ended, reaped or not."""
    try:
        descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fields = os.read(descriptor, 4096).rpartition(b")")[2].split()
    except OSError:
        return None
    finally:
        os.close(descriptor)
    # A first thread that has ended is shown as a zombie while others of its process live.
    if len(fields) < 20 or (fields[0] in {b"Z", b"X"} and int(fields[17]) <= 1):
        return None
    return Process(int(pid), int(fields[1]), int(fields[19]))


def descendants(roots: Iterable[int]) -> list[Process]:
    """Give every living process below these."""
    by_parent: dict[int, list[Process]] = {}
    for name in os.listdir("/proc"):
        if name.isdecimal() and (process := look(name)) is not None:
            by_parent.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    waiting = list(roots)
    while waiting:
        below = by_parent.pop(waiting.pop(), [])
        found += below
        waiting += [process.pid for process in below]
    return found


def kill(processes: Iterable[Process]) -> None:
    """Send SIGKILL to each of these, by a descriptor, so that no process that took over a number is hit."""
    for process in processes:
        try:
            descriptor = os.pidfd_open(process.pid)
        except OSError:
            continue
        try:
            now = look(process.pid)
            if now is not None and now.start == process.start:
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        except OSError:
            continue
        finally:
            os.close(descriptor)


def kill_below(pid: int, spared: frozenset[int] = frozenset()) -> None:
    """Kill everything below a process until nothing lives there, but `spared` children and what is below them.

    The caller reaps: `pid` is its own, or ends later.
    """
    pause = 0.001
    while True:
        mine = [process for process in descendants((pid,)) if process.pid not in spared]
        if spared:
            kept = {process.pid for process in descendants(spared)}
            mine = [process for process in mine if process.pid not in kept]
        if not mine:
            return
        kill(mine)
        time.sleep(pause)
        pause = min(pause * 2, 0.05)


def tasks_of(uid: int) -> int:
    """Count the tasks of a real user id, as RLIMIT_NPROC does."""
    tasks = 0
    for name in os.listdir("/proc"):
        if not name.isdecimal():
            continue
        try:
            with open(f"/proc/{name}/status", "rb") as file:
                fields = dict(line.split(b":", 1) for line in file.read().splitlines() if b":" in line)
        except OSError:
            continue
        if int(fields.get(b"Uid", b"-1").split()[0]) == uid:
            tasks += int(fields.get(b"Threads", b"0"))
    return tasks


def reap(spared: frozenset[int]) -> None:
    """Reap every ended child of the calling process but `spared`."""
    for name in os.listdir("/proc"):
        if name.isdecimal() and int(name) not in spared:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(int(name), os.WNOHANG)
