"""Measures a running sandbox: its processes' memory, cpu time and number, its memory file systems.

Cheap first: statm on kept descriptors; status only when the sum comes near the limit; and before anything is killed
for it smaps_rollup, where a page that several processes share counts once. Files' pages that were only read are not
counted: the kernel can drop them. The next look is never later than the time in which what is left could be filled.
"""

import contextlib
import os
from typing import NamedTuple

from sbc_runtime.outcome import Kind
from sbc_runtime.prepared import LimitValue

INTERVAL = 0.010
"""Seconds between two looks at most."""

LISTING = 0.050
"""Seconds between two listings of the processes at most."""

FASTEST = 0.001
"""Seconds between two looks at least."""

FILL_RATE = 4 << 30
"""Bytes per second that a hog is taken to fill: what is left of the limit, by this, is the time until the next look."""

NEAR = 0.8
"""Share of the limit, by the cheap sum, from which on it is measured exactly."""

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")
_CPUS = os.cpu_count() or 1


class Scope(NamedTuple):
    """What is measured: the sandbox's /proc, its System V segments (-1: unknown), its memory file systems."""

    proc: int
    shared_memory: int
    file_systems: tuple[int, ...]


class Sampler:
    """Measures against limits; `kind` is set once one of them is exceeded."""

    def __init__(self, scope: Scope, limits: LimitValue, *, memory: bool, processes: bool) -> None:
        """`memory`, `processes`: whether these limits are sampled, or enforced otherwise."""
        self._scope = scope
        self._memory_limit = limits.memory if memory else None
        self._process_limit = limits.processes if processes else None
        self._cpu_limit = limits.cpu
        self._statm: dict[str, int] = {}
        self._next_list = 0.0
        self._next_cpu = 0.0
        self.kind: Kind | None = None
        self.memory = 0
        self.cpu = 0
        self.tasks = 0

    @property
    def needed(self) -> bool:
        """Whether there is anything to sample."""
        return self._scope.proc >= 0 and (
            self._memory_limit is not None or self._process_limit is not None or self._cpu_limit is not None
        )

    def look(self, now: float) -> float:
        """Measure, and give the seconds until the next look."""
        wait = INTERVAL if self._process_limit is not None else LISTING
        if now >= self._next_list:
            self._list()
            self._next_list = now + (LISTING if self._process_limit is None else INTERVAL)
        if self._process_limit is not None:
            self._count()
        if self._cpu_limit is not None:
            if now >= self._next_cpu:
                self._measure_cpu()
                left = max(0, self._cpu_limit - self.cpu) / 1000 / _CPUS
                self._next_cpu = now + min(max(left, INTERVAL), 0.25)
            wait = min(wait, max(self._next_cpu - now, FASTEST))
        if self._memory_limit is not None:
            left = self._memory_limit - self._measure_memory(self._memory_limit)
            soon = max(left, 0) / FILL_RATE
            self._next_list = min(self._next_list, now + max(soon, FASTEST))
            wait = min(wait, INTERVAL, max(soon, FASTEST))
        return wait

    def close(self) -> None:
        """Close what was kept open."""
        for one in self._statm.values():
            os.close(one)
        self._statm.clear()

    def last_look(self) -> None:
        """Measure cpu and memory once more, before the processes are gone."""
        self._list()
        self._measure_cpu()

    def _list(self) -> None:
        present = {name for name in os.listdir(self._scope.proc) if name[0].isdigit()}
        for gone in self._statm.keys() - present:
            os.close(self._statm.pop(gone))
        for name in present - self._statm.keys():
            if name == "1":
                continue  # init is ours
            with contextlib.suppress(OSError):
                self._statm[name] = os.open(f"{name}/statm", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._scope.proc)

    def _measure_memory(self, limit: int) -> int:
        """Give a sum that is not below what is in use; beyond the limit only what `_exact` confirms."""
        resident = anonymous = 0
        for one in self._statm.values():
            try:
                _, pages, of_files, _ = os.pread(one, 128, 0).split(None, 3)
            except (OSError, ValueError):
                continue  # it has ended
            resident += (count := int(pages))
            anonymous += count - int(of_files)
        files = self._file_systems()
        self.memory = max(self.memory, anonymous * _PAGE + files)
        cheap = resident * _PAGE + files
        if cheap < limit * NEAR:
            return cheap
        exact = self._by_status(files)
        if exact >= limit:
            exact = self._exact(files)
            if exact >= limit and self.kind is None:
                self.kind = "memory-limit"
        self.memory = max(self.memory, min(exact, cheap))
        return exact

    def _file_systems(self) -> int:
        used = 0
        for one in self._scope.file_systems:
            seen = os.fstatvfs(one)
            used += (seen.f_blocks - seen.f_bfree) * seen.f_frsize
        if self._scope.shared_memory >= 0:
            # key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime rss swap
            for line in self._segments().splitlines()[1:]:
                fields = line.split()
                used += int(fields[14]) if len(fields) > 14 else 0
        return used

    def _segments(self) -> bytes:
        most = 1024
        while len(table := os.pread(self._scope.shared_memory, most, 0)) == most:
            most *= 8
        return table

    def _by_status(self, files: int) -> int:
        return self._summed("status", b"RssAnon", b"RssShmem", files)

    def _exact(self, files: int) -> int:
        return self._summed("smaps_rollup", b"Pss_Anon", b"Pss_Shmem", files)

    def _summed(self, name: str, anonymous: bytes, shared: bytes, files: int) -> int:
        """Add up two fields over all processes, in kB. Mapped and unmapped parts of our file systems are one thing."""
        own = mapped = 0
        for process in self._statm:
            # What cannot be shared out (no smaps_rollup) counts in full.
            content = self._content(f"{process}/{name}") or self._content(f"{process}/status")
            for line in content.splitlines():
                if line.startswith((anonymous, b"RssAnon")):
                    own += int(line.split()[1])
                elif line.startswith((shared, b"RssShmem")):
                    mapped += int(line.split()[1])
        return own * 1024 + max(mapped * 1024, files)

    def _measure_cpu(self) -> None:
        ticks = 0
        for process in (*self._statm, "1"):
            fields = self._content(f"{process}/stat").rpartition(b")")[2].split()
            if len(fields) > 14:
                # utime stime cutime cstime, of init only those of what it has reaped
                ticks += sum(int(one) for one in (fields[11:15] if process != "1" else fields[13:15]))
        self.cpu = max(self.cpu, ticks * 1000 // _TICKS)
        if self._cpu_limit is not None and self.cpu >= self._cpu_limit and self.kind is None:
            self.kind = "cpu-limit"

    def _count(self) -> None:
        tasks = 0
        for process in self._statm:
            fields = self._content(f"{process}/stat").rpartition(b")")[2].split()
            tasks += int(fields[17]) if len(fields) > 17 else 0
        self.tasks = max(self.tasks, tasks)
        if self._process_limit is not None and tasks > self._process_limit and self.kind is None:
            self.kind = "process-limit"

    def _content(self, path: str) -> bytes:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._scope.proc)
        except OSError:
            return b""
        try:
            return os.read(descriptor, 65536)
        except OSError:
            return b""
        finally:
            os.close(descriptor)
