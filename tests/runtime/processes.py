"""What the tests see of the machine's processes, and how they wait for them."""

import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

_LONG = 120.0
"""Seconds that are waited for what takes milliseconds, where a machine has nothing to spare."""

_LOOK = 0.01
"""Seconds between two looks."""

_TOLD = ("Name", "State", "Pid", "PPid", "TracerPid", "Uid", "NSpid", "SigPnd", "ShdPnd", "SigBlk", "Seccomp")


def everybody() -> list[int]:
    """The processes of this machine that are seen from here."""
    return [int(one.name) for one in Path("/proc").iterdir() if one.name.isdigit()]


def fields(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the state on (proc_pid_stat(5)); none where the process is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def living(pid: int) -> bool:
    """Whether a process has not ended, waited for or not."""
    seen = fields(pid)
    return bool(seen) and seen[0] not in "ZX"


def parent(pid: int) -> int:
    """The parent of a process that is there."""
    return int(fields(pid)[1])


def children_of(pid: int) -> list[int]:
    """The children of a process; none where it has ended."""
    try:
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def below(pid: int) -> list[int]:
    """All living descendants of a process, each after its parent."""
    return [one for child in children_of(pid) for one in (child, *below(child))]


def words(pid: int) -> list[bytes]:
    """The command line of a process; none where it is gone or has none. Other tests' need not be text."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[:-1]
    except OSError:
        return []


def marked(mark: str) -> list[int]:
    """The processes whose command line holds these words somewhere, in this order, or within one of its words."""
    return [pid for pid in everybody() if mark.encode() in b" ".join(words(pid))]


def until(condition: Callable[[], object], seconds: float = _LONG) -> bool:
    """Wait for a condition, for so long or longer; gives whether it came."""
    # Counted: the clock of a machine that stood still for a while runs ahead of what its processes could do.
    for _ in range(int(seconds / _LOOK)):
        if condition():
            return True
        time.sleep(_LOOK)
    return False


def remaining(pids: Collection[int]) -> list[int]:
    """Those of some processes, and of their sessions, that have not ended."""
    found: list[int] = []
    for pid in everybody():
        seen = fields(pid)
        if seen and seen[0] not in "ZX" and (pid in pids or int(seen[3]) in pids):
            found.append(pid)
    return found


def staying(look: Callable[[], Sequence[int]], seconds: float = _LONG) -> list[str]:
    """Wait until a look finds no process; tell of those that the last look found.

    Where new ones may come for a while, the look has to find who makes them, too, and first.
    """
    seen: list[int] = []

    def none() -> bool:
        seen[:] = look()
        return not seen

    until(none, seconds)
    return [told(pid) for pid in seen]


def told(pid: int) -> str:
    """All that explains why a process is still there, its parent and its tracer too."""
    try:
        status = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    except OSError:
        return f"{pid}: gone"
    lines = [f"{pid}: {b' '.join(words(pid))!r}", ", ".join(f"{name} {status.get(name)}" for name in _TOLD)]
    for name in ("wchan", "syscall", "stack"):
        try:
            lines.append(f"{name} " + " ".join(Path(f"/proc/{pid}/{name}").read_text().split()))
        except OSError as error:
            lines.append(f"{name}: {error.strerror}")
    for relation in ("PPid", "TracerPid"):
        if int(status[relation]) > 1:
            lines.append(f"{relation} {told(int(status[relation]))}")
    return "\n".join(lines)
