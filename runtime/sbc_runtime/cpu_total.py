"""The processor time of all processes of a sandbox, ended ones too, from `stat` (proc_pid_stat(5)).

What a process has used goes to its parent when that waits for it. With SIGCHLD ignored, or SA_NOCLDWAIT, nobody waits
and it goes nowhere (`release_task`, `kernel/exit.c`). So whoever was seen, is gone, and has not turned up in its
parent's `cutime` and `cstime` is kept: as it was seen last. Each child is read before its parent, so that what it left
there is there. Never counted twice: then a run could be ended for what nobody used.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable

from sbc_runtime.records import NamedTuple

INIT = "1"
INIT_TIMES = f"{INIT}/stat"

NOT_SEEN = "children that live shorter than one sample, and that nobody waits for, are missed: only a cgroup is exact"


class Times(NamedTuple):
    """What one process showed: when it began, its parent, its own time and that of children waited for, in ticks."""

    began: int
    parent: str
    own: int
    waited: int


class CpuTotal:
    """Adds up. `lost`: ticks of those that nobody waited for."""

    def __init__(self, read: Callable[[str], bytes]) -> None:
        """`read`: gives the content of a file below /proc, nothing where there is none."""
        self._read = read
        self._seen: dict[str, Times] = {}
        self.lost = 0

    def measure(self, pids: Iterable[str]) -> int:
        """Give the ticks used by these processes, by what they waited for, and by those that are gone."""
        before = self._seen
        # The youngest first; whoever is new is younger than anybody known.
        newest = max((one.began for one in before.values()), default=0) + 1
        known = {pid: before[pid].began if pid in before else newest for pid in {*pids, *before} - {INIT}}
        order = sorted(known, key=lambda pid: (known[pid], int(pid)))
        now: dict[str, Times] = {}
        for pid in (*reversed(order), INIT):
            times = self._times(pid)
            if times is not None:
                now[pid] = times
        self.lost += _lost(before, now)
        self._seen = now
        # Init's own time is ours.
        return self.lost + sum(one.waited + (one.own if pid != INIT else 0) for pid, one in now.items())

    def _times(self, pid: str) -> Times | None:
        fields = self._read(f"{pid}/stat").rpartition(b")")[2].split()
        if len(fields) < 20:
            return None
        # state ppid ... utime stime cutime cstime ... starttime
        return Times(
            int(fields[19]), fields[1].decode(), int(fields[11]) + int(fields[12]), int(fields[13]) + int(fields[14])
        )


def _lost(before: dict[str, Times], now: dict[str, Times]) -> int:
    """Give the ticks of those that are gone that have turned up nowhere.

    `direct`: what a parent that lives has to have got; the rest, whose parents are gone as well, can have gone to
    theirs, or to whoever took the orphan (init, or a subreaper: PR_SET_CHILD_SUBREAPER(2const)).
    """
    gone = {pid: one for pid, one in before.items() if pid not in now or now[pid].began != one.began}
    if not gone:
        return 0
    direct: defaultdict[str, int] = defaultdict(int)
    orphaned = 0
    for pid, one in gone.items():
        if pid == INIT:
            continue
        if one.parent in gone or one.parent not in before:
            orphaned += one.own + one.waited
        else:
            direct[one.parent] += one.own + one.waited
    lost = surplus = 0
    for pid, one in now.items():
        known = before.get(pid)
        got = one.waited - (known.waited if known is not None and known.began == one.began else 0)
        lost += max(direct[pid] - got, 0)
        surplus += max(got - direct[pid], 0)
    return lost + max(orphaned - surplus, 0)
