"""What the supervisor asks of a backend.

The supervisor is one process for one run, single-threaded, forked from a helper that has imported everything. It
makes the pipes, calls `Backend.start`, compares what `Sandbox.read_back` says with the promise, lets the command go,
samples, kills and reports. A backend starts processes, and knows how to ask, release and end them; it decides
nothing about outcomes.

A backend never lets the command run before `release`. Whatever fails before that is a `SetupFailed`, after which no
process of the sandbox is left.
"""

from sbc_runtime.errors import SetupFailed
from sbc_runtime.outcome import Level, ReadBack, RunLoss, Usage
from sbc_runtime.prepared import Prepared
from sbc_runtime.records import NamedTuple
from sbc_runtime.words import Protocol

__all__ = ["Backend", "Cgroup", "ChildDescriptors", "Ended", "Readiness", "Sandbox", "SetupFailed", "Watch", "Watched"]


class ChildDescriptors(NamedTuple):
    """The ends of the run's own pipes that become the command's 0, 1 and 2; with a terminal all are -1."""

    stdin: int
    stdout: int
    stderr: int


class Watch(NamedTuple):
    """What the sandbox's own init must watch: the end of `lifeline` (a pipe that only the host process can write)."""

    lifeline: int
    cgroup: "Cgroup | None"

    @property
    def enforced(self) -> frozenset[str]:
        """The limits that the cgroup enforces."""
        return frozenset() if self.cgroup is None else self.cgroup.enforces


class Ended(NamedTuple):
    """How the command's own process ended.

    `status`: as waitpid(2) gives it. `exec_errno`: the errno of execve(2) where the command could not be executed, so
    that `status` is ours (126, 127), else 0.
    """

    status: int
    exec_errno: int


class Readiness(NamedTuple):
    """Whether a backend works here: `ready`, or `why` not and what to do about it."""

    ready: bool
    why: str
    remedy: str


class Watched(Protocol):
    """What is watched of a sandbox while its command runs."""

    @property
    def command_pid(self) -> int:
        """The command's process, as the host numbers it."""
        ...

    @property
    def init_pid(self) -> int:
        """The process whose end is the end of all others; the same as `command_pid` where there is none."""
        ...

    @property
    def proc(self) -> int:
        """A descriptor of a /proc in which only this sandbox's processes are listed, or -1."""
        ...

    @property
    def system_v(self) -> tuple[int, ...]:
        """Descriptors of the sandbox's own tables of System V objects (`system_v.NAMES`); none where unknown."""
        ...

    @property
    def terminal(self) -> int:
        """The controlling side of the command's terminal, or -1."""
        ...

    @property
    def status(self) -> int:
        """A descriptor that is readable (or at its end) once `ended` has something to say."""
        ...

    def ended(self) -> Ended | None:
        """Give how the command ended, or None where that is not known (the backend was killed, or broke)."""
        ...


class Sandbox(Watched, Protocol):
    """One sandbox whose command is complete and waits, or runs, or has ended."""

    def read_back(self) -> ReadBack:
        """Ask the kernel what holds for the waiting command, once it is complete; `SetupFailed` where it never is.

        Never raises for what cannot be read: that is None. From then on the other descriptors are there.
        """
        ...

    def release(self) -> None:
        """Let the command go; `SetupFailed` where that is not possible."""
        ...

    def kill(self) -> None:
        """Kill every process of the sandbox. May be called again, and after the end."""
        ...

    def wait(self) -> None:
        """Wait until no process of the sandbox is left, and close every descriptor that the backend opened."""
        ...


class Backend(Protocol):
    """One way of isolating a command."""

    @property
    def name(self) -> str:
        """The word for `--backend`."""
        ...

    @property
    def level(self) -> Level:
        """What it is made of."""
        ...

    def losses(self, prepared: Prepared) -> tuple[RunLoss, ...]:
        """Give what this backend cannot enforce of a run. `wider` ones are refused by the caller unless accepted."""
        ...

    def start(self, prepared: Prepared, child: ChildDescriptors, watch: Watch) -> Sandbox:
        """Make the sandbox, up to the point where the command waits. `SetupFailed`: nothing is left.

        The supervisor keeps `child`'s ends open until this returns, and closes them then.
        """
        ...


class Cgroup(Protocol):
    """A cgroup v2 of one run (`cgroup.py`): made before the start, removed after the end.

    Made by `cgroup.create(run_id, base, limits) -> Cgroup`, which raises `SetupFailed` where the base cannot be used.
    """

    @property
    def path(self) -> str:
        """Its folder."""
        ...

    @property
    def enforces(self) -> frozenset[str]:
        """The limits that it enforces, by their words: `memory`, `processes`."""
        ...

    def make_room(self, tasks: int) -> None:
        """Raise its limit on tasks, where it has one: so many of ours come beside one init; `SetupFailed`."""
        ...

    def add(self, pid: int) -> None:
        """Move a process, which waits, and has no children yet, into it; `SetupFailed` where that fails."""
        ...

    def usage(self) -> Usage:
        """Give the present usage; what cannot be read is None."""
        ...

    def oom_killed(self) -> bool:
        """Whether the kernel killed something of it because of its memory limit."""
        ...

    def processes_refused(self) -> bool:
        """Whether the kernel refused to make a process in it because of a limit on their number."""
        ...

    def kill(self) -> None:
        """Kill every process in it."""
        ...

    def remove(self) -> None:
        """Remove it; processes that are still in it are killed and awaited first."""
        ...
