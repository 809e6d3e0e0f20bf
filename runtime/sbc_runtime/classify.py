"""What kind of end a run came to: one function, and the constants that it decides by."""

import os
import signal

from sbc_runtime.backends.interface import Ended
from sbc_runtime.outcome import Kind
from sbc_runtime.records import NamedTuple

MEMORY_NEAR = 0.9
"""Killed by a signal while at least this share of the memory limit was seen in use: the memory limit."""

CPU_NEAR_MS = 50
"""Killed by SIGKILL this close to the cpu budget: the cpu limit, whose hard end is a SIGKILL."""

NOT_EXECUTABLE = 126
NOT_FOUND = 127
"""What shells exit with where a command is there and cannot be executed, and where it is not there."""

EXIT_TIMED_OUT = 124
EXIT_SETUP_FAILED = 125
EXIT_CANCELLED = 130
EXIT_KILLED = 137

_CODES: dict[Kind, int] = {
    "timed-out": EXIT_TIMED_OUT,
    "cpu-limit": EXIT_KILLED,
    "memory-limit": EXIT_KILLED,
    "process-limit": EXIT_KILLED,
    "output-limit": EXIT_KILLED,
    "file-size": EXIT_KILLED,
    "cancelled": EXIT_CANCELLED,
    "setup-failed": EXIT_SETUP_FAILED,
    "sandbox-failed": EXIT_SETUP_FAILED,
}


class Seen(NamedTuple):
    """What the supervisor saw of a run. `killed`: the kind of limit that it ended the run for, or None.

    `cpu` in milliseconds, `memory` in bytes, both the most that was seen; budgets are None where there are none.
    `oom_killed`, `processes_refused`: what the kernel counted in the run's cgroup (`memory.events`, `pids.events`).
    """

    killed: Kind | None
    cpu: int
    cpu_budget: int | None
    memory: int
    memory_budget: int | None
    oom_killed: bool = False
    processes_refused: bool = False


def kind(ended: Ended | None, seen: Seen) -> Kind:
    """Give the kind of end. An exit by the command itself is never anything else.

    A command that sends itself SIGXFSZ or SIGXCPU counts as limited: wait(2) does not say who sent a signal.
    """
    if ended is None and seen.oom_killed and seen.killed in {None, "sandbox-failed"}:
        # The kernel ends a cgroup as a whole (`memory.oom.group`): what watched the command went with it.
        return "memory-limit"
    if seen.killed is not None:
        return seen.killed
    if ended is None:
        return "sandbox-failed"
    if not os.WIFSIGNALED(ended.status):
        return "exited"
    number = os.WTERMSIG(ended.status)
    if number == signal.SIGXFSZ:
        return "file-size"
    if seen.cpu_budget is not None and (
        number == signal.SIGXCPU or (number == signal.SIGKILL and seen.cpu >= seen.cpu_budget - CPU_NEAR_MS)
    ):
        return "cpu-limit"
    near = seen.memory_budget is not None and seen.memory >= seen.memory_budget * MEMORY_NEAR
    # By whichever signal: what the kernel killed can have been what the command waited for, or wrote to.
    if near or seen.oom_killed:
        return "memory-limit"
    return "process-limit" if seen.processes_refused else "signalled"


def code(what: Kind, ended: Ended | None) -> int:
    """Give the exit code of `sbc run`: the command's status, 128+N for a signal, or ours."""
    if what in {"exited", "signalled"} and ended is not None:
        if os.WIFSIGNALED(ended.status):
            return 128 + os.WTERMSIG(ended.status)
        return os.WEXITSTATUS(ended.status)
    return _CODES[what]
