"""Processes that share their whole memory, as a child of vfork(2) or posix_spawn(3) does until it executes something.

Every file of /proc shows such memory once for each of them, and by numbers alone they cannot be told from processes
with as much of their own. kcmp(2) tells; it asks for the host's numbers, which the children of init are followed for.
"""

import contextlib
import errno
import os
from functools import cmp_to_key
from itertools import pairwise

from sbc_runtime import libc

_REFUSED = frozenset({errno.EPERM, errno.ENOSYS, errno.EACCES})


class _CannotTellError(Exception):
    """kcmp(2) is missing or refused here."""


def repeated(children: int, pids: list[str]) -> set[str] | None:
    """Give the processes (by their numbers inside) whose memory is that of another one as well; None: cannot be told.

    `children`: a descriptor of init's `children` (proc_pid_children(5)), below whom all are. A process whose first
    thread has ended is never one of them: it would be compared by that thread, which has no memory, like that of any
    other such process.
    """
    hosts = _host_numbers(children)
    known = [(hosts[pid], pid) for pid in pids if pid in hosts and _has_memory(hosts[pid])]
    if not known:
        return None

    def compared(one: tuple[int, str], other: tuple[int, str]) -> int:
        try:
            # Equal, less, greater, or without an order.
            return (0, -1, 1, 1)[libc.kcmp_memory(one[0], other[0])]
        except OSError as error:
            if error.errno in _REFUSED:
                raise _CannotTellError from None
            return -1  # one of them has ended

    try:
        known.sort(key=cmp_to_key(compared))
        return {one[1] for before, one in pairwise(known) if compared(before, one) == 0}
    except _CannotTellError:
        return None


def _has_memory(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return not file.read().startswith(b"0 ")
    except OSError:
        return False


def _host_numbers(children: int) -> dict[str, int]:
    """Give the host's number of each process below these, by its number inside (`NSpid`, proc_pid_status(5))."""
    found: dict[str, int] = {}
    named = b""
    with contextlib.suppress(OSError):
        while part := os.pread(children, 4096, len(named)):
            named += part
    waiting = [int(one) for one in named.split()]
    while waiting:
        pid = waiting.pop()
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                    waiting += map(int, file.read().split())
        with contextlib.suppress(OSError), open(f"/proc/{pid}/status", "rb") as file:
            for line in file:
                if line.startswith(b"NSpid:"):
                    found[line.split()[-1].decode()] = pid
                    break
    return found
