"""Measures the memory of processes exactly, before anything is decided by it (proc_pid_status(5), proc_pid_smaps(5)).

Cheap to dear: `status`, where each process counts in full; `smaps_rollup`, where a page that several map counts once;
and `smaps`, which tells the pages of file systems and System V segments that are counted there already.
"""

import os
from collections.abc import Iterable

from sbc_runtime.records import NamedTuple
from sbc_runtime.same_memory import repeated
from sbc_runtime.sampled_process import PAGE, Process


class Holders(NamedTuple):
    """Who holds memory: processes below `proc`. `children` names those of init, by the host's numbers (none: -1).

    Both are descriptors.
    `file_systems`: numbers of the devices of memory file systems; what they hold counts there, mapped or not.
    """

    proc: int
    children: int
    file_systems: frozenset[int]


class Sum(NamedTuple):
    """Bytes. `certain`: whether processes that share their whole memory were told from those that do not."""

    used: int
    certain: bool


def by_status(holders: Holders, processes: Iterable[Process]) -> int:
    """Give the bytes that are resident, of no file, and those of page tables; shared ones for each process."""
    used = 0
    for one in processes:
        fields = _fields(holders.proc, one, "status", b"RssAnon:")
        if fields is None:
            used += one.resident * PAGE
            continue
        one.page_tables = fields.get(b"VmPTE:", 0)
        used += fields.get(b"RssAnon:", 0) + fields.get(b"RssShmem:", 0) + one.page_tables
    return used


def exact(holders: Holders, processes: list[Process], elsewhere: int, limit: int) -> Sum:
    """Give the bytes that are in use. `elsewhere`: those of file systems and System V objects.

    Exact where it comes to the limit; below it, it is not less than what is in use.
    """
    # Asked first: whoever shares its parent's memory now is left out, whether it ends or executes something meanwhile.
    same = repeated(holders.children, [one.pid for one in processes])
    shared: dict[str, int] = {}
    own = 0
    for one in processes:
        if same is not None and one.pid in same:
            continue
        fields = _fields(holders.proc, one, "smaps_rollup", b"Pss_Anon:")
        if fields is not None:
            own += fields[b"Pss_Anon:"]
            shared[one.pid] = fields.get(b"Pss_Shmem:", 0)
        else:
            # What cannot be shared out counts in full.
            fields = _fields(holders.proc, one, "status", b"RssAnon:")
            own += one.resident * PAGE if fields is None else fields[b"RssAnon:"]
            shared[one.pid] = 0 if fields is None else fields.get(b"RssShmem:", 0)
        own += one.page_tables
    used = elsewhere + own + sum(shared.values())
    if used < limit:
        return Sum(used, same is not None)
    internal = _internal_device()
    for one in processes:
        if shared.get(one.pid):
            counted = _counted_elsewhere(_content(holders.proc, f"{one.path}/smaps"), holders.file_systems, internal)
            used -= min(counted, shared[one.pid])
    return Sum(used, same is not None)


def _fields(proc: int, process: Process, name: str, needed: bytes) -> dict[bytes, int] | None:
    """Give the fields of a file that are in kB, in bytes: none of a process that has ended, None where it is unread."""
    for _ in range(2):
        fields = _kibibytes(_content(proc, f"{process.path}/{name}"))
        if needed in fields:
            return fields
        # It may have ended, or the thread that it was read by.
        if not process.read() or process.resident == 0:
            return {needed: 0}
    return None


def _kibibytes(text: bytes) -> dict[bytes, int]:
    found: dict[bytes, int] = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) == 3 and words[2] == b"kB":
            found[words[0]] = int(words[1]) * 1024
    return found


def _counted_elsewhere(smaps: bytes, file_systems: frozenset[int], internal: int) -> int:
    """Give the bytes that mappings share in file systems of the sandbox's own, and in System V segments.

    What a private mapping has copied is its own, so as much is taken off.
    """
    total = mapped = anonymous = 0
    counts = False
    for line in smaps.splitlines():
        words = line.split(None, 5)
        if len(words) >= 5 and b":" in words[3] and not words[0].endswith(b":"):
            total += max(mapped - anonymous, 0)
            mapped = anonymous = 0
            major, minor = words[3].split(b":")
            device = os.makedev(int(major, 16), int(minor, 16))
            path = words[5] if len(words) > 5 else b""
            counts = device in file_systems or (device == internal and path.startswith(b"/SYSV"))
        elif counts and words[0] == b"Pss:":
            mapped = int(words[1]) * 1024
        elif counts and words[0] == b"Anonymous:":
            anonymous = int(words[1]) * 1024
    return total + max(mapped - anonymous, 0)


def _internal_device() -> int:
    """Give the device of the kernel's own memory file system, where segments and files of memfd_create(2) are."""
    descriptor = os.memfd_create("sbc-device", os.MFD_CLOEXEC)
    try:
        return os.fstat(descriptor).st_dev
    finally:
        os.close(descriptor)


def _content(proc: int, path: str) -> bytes:
    """Give what a file holds, to its end; nothing where it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=proc)
    except OSError:
        return b""
    parts: list[bytes] = []
    try:
        while part := os.read(descriptor, 1 << 16):
            parts.append(part)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
    return b"".join(parts)
