"""How a thread is scheduled, and what of that its child can have: sched(7), nice(2), `PR_SET_TIMERSLACK` of prctl(2).

What the host's thread has at the time of a call, the run has: `taskset`, `chrt` and `nice` hold for `sbc run` as for
any command. The priority for input and output, which Python cannot ask for, is read by thread id where it is applied.
"""

import contextlib
import os
from _thread import get_native_id

from sbc_runtime.records import NamedTuple

_RESET_ON_FORK = 0x40000000
_REAL_TIME = (1, 2)
"""`SCHED_FIFO`, `SCHED_RR` (`include/uapi/linux/sched.h`)."""
_OTHER = 0
_IDLE = 5


class Scheduling(NamedTuple):
    """What a child of a thread takes over. `slack`: in nanoseconds, 0: unknown; `thread`: whose it is."""

    nice: int
    policy: int
    priority: int
    cpus: tuple[int, ...]
    slack: int
    thread: int


def own() -> Scheduling:
    """Read what a child of the calling thread would have."""
    thread = get_native_id()
    nice, policy = os.getpriority(os.PRIO_PROCESS, thread), os.sched_getscheduler(0)
    priority = os.sched_getparam(0).sched_priority
    if policy & _RESET_ON_FORK:
        policy &= ~_RESET_ON_FORK
        nice = 0 if policy in _REAL_TIME else max(nice, 0)
        policy, priority = (_OTHER, 0) if policy in _REAL_TIME else (policy, priority)
    slack = 0
    with contextlib.suppress(OSError, ValueError), open(f"/proc/{thread}/timerslack_ns", "rb") as file:
        slack = int(file.read())
    return Scheduling(nice, policy, priority, tuple(sorted(os.sched_getaffinity(0))), slack, thread)


def reaches(have: Scheduling, wanted: Scheduling) -> bool:
    """Tell whether a process without privileges that has the one can take the other (sched(7), "Privileges")."""
    if wanted.policy in _REAL_TIME:
        return have.policy == wanted.policy and have.priority >= wanted.priority
    return have.nice <= wanted.nice and (have.policy != _IDLE or wanted.policy == _IDLE)
