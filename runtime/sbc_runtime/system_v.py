"""What System V objects of a sandbox hold: segments, message queues and semaphores outlive every process.

/proc/sysvipc/* (sysvipc(7), proc_sysvipc(5)) shows the objects of the IPC namespace of whoever opened it. A table is
read to its end: one read(2) gives no more than the kernel's buffer, a page (`seq_read_iter`, `fs/seq_file.c`).
"""

import contextlib
import os
import time

NAMES = ("shm", "msg", "sem")

OBJECT = 1024
"""Bytes of the kernel's own for one object, at least (a segment has an inode and a file): `ipc/shm.c`."""

MESSAGE = 64
"""Bytes of the kernel's own for one message (`struct msg_msg`, `ipc/msgutil.c`)."""

SEMAPHORE = 64
"""Bytes for one semaphore: a cache line (`struct sem`, `ipc/sem.c`)."""

MOST = 8 << 20
"""Bytes of one table that are read: more than 32,768 lines, the most that a kernel allows unless its boot line says
otherwise (`IPCMNI`, `include/linux/ipc_namespace.h`).
"""

_PART = 4096
_HEADER = 256
"""A table that is shorter has its heading alone."""

REST = 4
"""The next reading comes after this many times what the last one took, where it found no more than the one before.

A table of 4,000 lines is read in some 5 ms: the processes must not go unseen for it.
"""


def open_tables() -> tuple[int, ...]:
    """Open the tables of the own IPC namespace, in the order of `NAMES`; nothing for what the kernel lacks."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        found.extend(os.open(f"/proc/sysvipc/{name}", os.O_RDONLY | os.O_CLOEXEC) for name in NAMES)
    return tuple(found)


def table(descriptor: int) -> tuple[int, list[bytes]]:
    """Give the number of columns, and the fields of all lines without the heading, one after the other."""
    text = part = os.pread(descriptor, _PART, 0)
    if len(text) < _HEADER:
        return 1, []
    parts = [text]
    size = len(text)
    while part and size < MOST:
        part = os.pread(descriptor, _PART, size)
        parts.append(part)
        size += len(part)
    heading, _, lines = b"".join(parts).partition(b"\n")
    columns = len(heading.split())
    fields = lines.split()
    return columns, fields[: len(fields) - len(fields) % columns]


def segments(descriptor: int) -> int:
    """Bytes that segments hold, mapped or not, in memory or swapped."""
    # key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime rss swap
    columns, fields = table(descriptor)
    return len(fields) // columns * OBJECT + sum(map(int, fields[14::columns])) + sum(map(int, fields[15::columns]))


def queues(descriptor: int) -> int:
    """Bytes that wait in queues."""
    # key msqid perms cbytes qnum ...
    columns, fields = table(descriptor)
    messages = sum(map(int, fields[4::columns]))
    return len(fields) // columns * OBJECT + sum(map(int, fields[3::columns])) + messages * MESSAGE


def semaphores(descriptor: int) -> int:
    """Bytes that sets of semaphores take."""
    # key semid perms nsems ...
    columns, fields = table(descriptor)
    return len(fields) // columns * OBJECT + sum(map(int, fields[3::columns])) * SEMAPHORE


class SystemV:
    """The objects of one sandbox, seen through tables that its init has opened."""

    def __init__(self, tables: tuple[int, ...]) -> None:
        self._tables = tables
        self._next = 0.0
        self._used = 0

    def used(self) -> int:
        """Give the bytes that they hold, or held a moment ago (`REST`)."""
        if time.monotonic() >= self._next:
            begun = time.thread_time()
            readers = (segments, queues, semaphores)
            used = sum(read(one) for read, one in zip(readers, self._tables, strict=False))
            # Not by the clock: on a busy machine this process waits, and the command may not.
            spent = time.thread_time() - begun
            self._next = time.monotonic() + spent * (1 if used > self._used else REST) if used else 0.0
            self._used = used
        return self._used
