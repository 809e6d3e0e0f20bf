"""Measures a running sandbox: its processes' memory, cpu time and number, its memory file systems.

Cheap first: statm on kept descriptors; status only when the sum comes near the limit; and before anything is killed
for it smaps_rollup, where a page that several processes share counts once, twice in a row. Each stage is not below the
next, so that nothing is missed by stopping early. What is never seen is told by `NOT_SEEN`.

The next look is never later than the time in which what is left of the limit could be filled (`FILL_RATE`). Below half
of it not everything is read in each look, but in turn, in a round of so many looks as fit into that time: what all
processes, known or new, have come by since they were read last is then no more than what was left.
"""

import contextlib
import math
import os
import select
import time
from collections import deque
from collections.abc import Callable

from sbc_runtime.classify import MEMORY_NEAR
from sbc_runtime.cpu_total import INIT_TIMES, CpuTotal
from sbc_runtime.exact_memory import Holders, by_status, exact
from sbc_runtime.outcome import Kind
from sbc_runtime.prepared import LimitValue
from sbc_runtime.records import NamedTuple
from sbc_runtime.sampled_process import PAGE, Process
from sbc_runtime.system_v import OBJECT, SystemV

INTERVAL = 0.010
"""Seconds between two looks at most."""

ABOVE_HALF = 0.005
"""The same, above half of the memory limit."""

FASTEST = 0.001
"""Seconds between two looks at least."""

LISTING = 0.100
"""Seconds between two listings of the processes at most."""

ROUND = 10
"""Looks in which each process is read once, at most, below half of the limit; the file systems too. As long as the time
between two listings, which a round begins with.
"""

FILL_RATE = (4 << 30) * min(os.cpu_count() or 1, 16)
"""Bytes per second that hogs are taken to fill. One processor was seen to fault in 3.3 GiB/s, small pages and huge ones
alike; more than 16 wait for the memory and for one another.
"""

NEAR = 0.8
"""Share of the limit, by the cheap sum, from which on it is measured by status."""

CPU_INTERVAL = 0.100
LOSING = 0.020
"""Seconds between two looks at cpu time at most; and where children have ended that nobody waits for."""

EXACT_INTERVAL = 0.050
"""Seconds between two exact measures that only serve the record, not a decision."""

AGAIN = 0.002
"""Seconds until the second measure where a child of vfork(2) cannot be told from a process with memory of its own."""

KEPT = 256
"""Processes for which a descriptor is kept open; those beyond are read by name."""

NOT_SEEN = (
    "sampled: what is in no process's page tables is not seen (files of memfd_create and memfd_secret, shared memory "
    "after MADV_DONTNEED, pages in pipes and sockets, descriptors on their way), nor file systems that the command "
    "mounts, where the profile lets it, nor other memory of the kernel's than page tables, System V objects and inodes "
    "of /tmp and /dev/shm, nor huge pages of the host's pool, nor what is swapped out; pages of files are not counted; "
    "a cgroup counts them all"
)

_TICKS = os.sysconf("SC_CLK_TCK")
_CPUS = os.cpu_count() or 1


def timeout(seconds: float) -> int:
    """Give the milliseconds for poll(2), rounded up: a look that comes a moment too early would come twice."""
    return max(1, int(seconds * 1000 + 0.9))


class Scope(NamedTuple):
    """What is measured: the sandbox's /proc, its init (by the host's number), its System V tables (none: unknown), its
    memory file systems. All but init are descriptors.
    """

    proc: int
    init: int
    system_v: tuple[int, ...]
    file_systems: tuple[int, ...]


def _of_init(init: int, name: str, limit: int | None) -> int:
    """Open a file of init's folder, where a limit needs it; -1 where that cannot be."""
    if limit is not None:
        with contextlib.suppress(OSError):
            return os.open(f"/proc/{init}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    return -1


class Sampler:
    """Measures against limits; `kind` is set once one of them is exceeded.

    `memory` is the most that was seen. Below `MEMORY_NEAR` of the limit pages that processes share after fork(2) may
    be in it more than once.
    """

    def __init__(
        self,
        scope: Scope,
        limits: LimitValue,
        *,
        memory: bool,
        processes: bool,
        exact_cpu: Callable[[], int | None] | None = None,
    ) -> None:
        """`memory`, `processes`: whether these limits are sampled, or enforced otherwise.

        `exact_cpu`: gives the milliseconds that a cgroup of the run has counted, ours before this moment among them.
        """
        self._scope = scope
        self._memory_limit = limits.memory if memory else None
        self._process_limit = limits.processes if processes else None
        self._cpu_limit = limits.cpu
        self._system_v = SystemV(scope.system_v)
        devices = frozenset(os.fstat(one).st_dev for one in scope.file_systems)
        # Open from now on: where /proc is mounted with `hidepid`, init's folder cannot be found once the command runs.
        self._init = _of_init(scope.init, "stat", limits.cpu)
        self._children = _of_init(scope.init, f"task/{scope.init}/children", self._memory_limit)
        self._holders = Holders(scope.proc, self._children, devices)
        self._cpu_total = CpuTotal(self._content)
        self._exact_cpu = exact_cpu if exact_cpu is not None and self._cpu_limit is not None else lambda: None
        self._cpu_before = self._exact_cpu() or 0
        self._processes: dict[str, Process] = {}
        self._turn: deque[Process] = deque()
        self._files = 0
        self._pages = 0
        self._looks = self._share = 1
        # Pages of processes that are half of the limit, with what file systems held when a round began.
        self._half = 0.0
        self._next_round = self._next_list = self._next_cpu = self._next_exact = 0.0
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
        if now < self._next_round:
            self._read(self._share)
            if self._pages < self._half:
                return INTERVAL
            self._looks = 1
        wait = INTERVAL if self._process_limit is not None else LISTING
        if now >= self._next_list or self._looks > 1:
            self._list()
            self._next_list = now + wait
        if self._process_limit is not None:
            self._count()
        if self._cpu_limit is not None:
            if now >= self._next_cpu:
                self._measure_cpu()
                left = max(0, self._cpu_limit - self.cpu) / 1000 / _CPUS
                self._next_cpu = now + min(max(left, INTERVAL), LOSING if self._cpu_total.lost else CPU_INTERVAL)
            wait = min(wait, max(self._next_cpu - now, FASTEST))
        if self._memory_limit is not None:
            left = self._memory_limit - self._measure_memory(self._memory_limit, now)
            soon = max(left / FILL_RATE, FASTEST)
            self._next_list = min(self._next_list, now + soon)
            half = left < self._memory_limit / 2
            self._looks = 1 if half else min(max(int(soon / INTERVAL), 1), ROUND)
            wait = min(wait, ABOVE_HALF if half else INTERVAL, soon)
            self._share = -(-len(self._turn) // self._looks)
            self._half = (self._memory_limit / 2 - self._files) / PAGE
            # Whatever else is due ends the round.
            due = self._next_list if self._cpu_limit is None else min(self._next_list, self._next_cpu)
            self._next_round = min(now + self._looks * INTERVAL, due) if self._looks > 1 else 0.0
        return wait

    @property
    def resting(self) -> bool:
        """Whether a round has begun, in which `rest` looks and waits."""
        return self._next_round > 0.0

    def rest(self, poll: select.poll, next_look: float, deadline: float | None) -> tuple[list[tuple[int, int]], float]:
        """Go on with a round as long as no process has changed: most do nothing most of the time.

        Give what `poll` has to say, nothing where it is time for `look` or over, and when the next look is due. This is
        what is done a hundred times a second, so it is one loop.
        """
        last = math.inf if deadline is None else deadline
        turn, share, read, clock = self._turn, min(self._share, len(self._turn)), os.pread, time.monotonic
        while True:
            now = clock()
            if now >= last:
                return [], next_look
            if now >= next_look:
                if now >= self._next_round:
                    return [], next_look
                for _ in range(share):
                    one = turn[0]
                    try:
                        if one.current < 0 or read(one.current, 128, 0) != one.last:
                            return [], next_look
                    except OSError:
                        return [], next_look
                    turn.rotate(-1)
                next_look = now + INTERVAL
            if ready := poll.poll(timeout(min(next_look, last) - now)):
                return ready, next_look

    def close(self) -> None:
        """Close what was kept open."""
        for one in self._processes.values():
            one.close()
        self._processes.clear()
        self._turn.clear()
        for one in (self._init, self._children):
            if one >= 0:
                os.close(one)
        self._init = self._children = -1

    def last_look(self) -> None:
        """Measure cpu time once more, before the processes are gone."""
        self._list()
        self._measure_cpu()

    def _list(self) -> None:
        # Other names begin with letters. Init is ours.
        present = {name for name in os.listdir(self._scope.proc) if name < ":" and name != "1"}
        if present == self._processes.keys():
            return
        for gone in self._processes.keys() - present:
            self._drop(self._processes[gone])
        for name in present - self._processes.keys():
            self._add(name)

    def _add(self, pid: str) -> None:
        with contextlib.suppress(OSError):
            one = Process(self._scope.proc, pid, keep=len(self._processes) < KEPT)
            self._processes[pid] = one
            if one.read():
                self._pages += one.most
                self._turn.append(one)
            else:
                self._drop(one)

    def _drop(self, one: Process) -> None:
        self._pages -= one.most
        one.close()
        del self._processes[one.pid]

    def _read(self, count: int) -> None:
        """Read so many processes, the one that has waited longest first."""
        turn = self._turn
        for _ in range(min(count, len(turn))):
            one = turn.popleft()
            if one.gone:
                continue
            before = one.most
            if one.read():
                self._pages += one.most - before
                turn.append(one)
                continue
            # Its number is free, or another's by now.
            self._drop(one)
            self._add(one.pid)

    def _measure_memory(self, limit: int, now: float) -> int:
        """Give a sum that is not below what is in use; beyond the limit only what is confirmed."""
        self._read(-(-len(self._turn) // self._looks))
        files = self._files = self._file_systems()
        cheap = self._pages * PAGE + files
        if cheap < limit * NEAR:
            self.memory = max(self.memory, sum(one.anonymous for one in self._processes.values()) * PAGE + files)
            return cheap
        self._list()
        processes = list(self._processes.values())
        used = by_status(self._holders, processes) + files
        if used < limit * MEMORY_NEAR:
            self.memory = max(self.memory, used)
            return used
        if used < limit and now < self._next_exact:
            return used
        self._next_exact = now + EXACT_INTERVAL
        found = exact(self._holders, processes, files, limit)
        if found.used >= limit:
            # While processes are read one by one, what one of them frees another can take.
            if not found.certain:
                time.sleep(AGAIN)
            self._list()
            again = exact(self._holders, list(self._processes.values()), self._file_systems(), limit)
            found = min(found, again)
        self.memory = max(self.memory, found.used)
        if found.used >= limit and self.kind is None:
            self.kind = "memory-limit"
        return found.used

    def _file_systems(self) -> int:
        used = self._system_v.used()
        for one in self._scope.file_systems:
            seen = os.fstatvfs(one)
            used += (seen.f_blocks - seen.f_bfree) * seen.f_frsize + (seen.f_files - seen.f_ffree) * OBJECT
        return used

    def _measure_cpu(self) -> None:
        ticks = self._cpu_total.measure(self._processes)
        self.cpu = max(self.cpu, ticks * 1000 // _TICKS, (self._exact_cpu() or 0) - self._cpu_before)
        if self._cpu_limit is not None and self.cpu >= self._cpu_limit and self.kind is None:
            self.kind = "cpu-limit"

    def _count(self) -> None:
        tasks = 0
        for process in self._processes:
            fields = self._content(f"{process}/stat").rpartition(b")")[2].split()
            tasks += int(fields[17]) if len(fields) > 17 else 0
        self.tasks = max(self.tasks, tasks)
        if self._process_limit is not None and tasks > self._process_limit and self.kind is None:
            self.kind = "process-limit"

    def _content(self, path: str) -> bytes:
        if path == INIT_TIMES and self._init >= 0:
            # Init waits for orphans. The sandbox may hide its folder from the command (`bwrap`), and so from here.
            with contextlib.suppress(OSError):
                return os.pread(self._init, 4096, 0)
            return b""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._scope.proc)
        except OSError:
            return b""
        try:
            return os.read(descriptor, 4096)
        except OSError:
            return b""
        finally:
            os.close(descriptor)
