"""The plan of one run: parameters filled in, every path resolved on this machine, mounts in order.

Made by `prepare` before anything is started; a backend only carries it out. Places are absolute paths inside the
sandbox, sources absolute paths of the host without symbolic links.
"""

from sbc_runtime.outcome import Absent, RunLoss
from sbc_runtime.prepare.steps import Step
from sbc_runtime.records import NamedTuple
from sbc_runtime.words import Literal

SOCKET = "network none"
"""Stands for the statement that a cover of the host's sockets comes from."""


class Mount(NamedTuple):
    """One mount, its place, and the statement that it comes from (`where`: file:line, or a word of ours).

    - `bind`: the object (`device`, `inode`) that was found at `source`, and every mount below it.
    - `tmpfs`: an empty file system of its own, `size` bytes and `inodes` at most (0: the kernel's defaults).
    - `hide`: a cover, an empty folder or an empty file, read-only.
    - `root`: the host's whole tree.

    `pin`: only there so that the folder cannot be renamed. `narrows`: read-only although no statement names it.
    """

    kind: Literal["bind", "tmpfs", "hide", "root"]
    place: str
    source: str
    device: int
    inode: int
    directory: bool
    read_only: bool
    noexec: bool
    size: int
    inodes: int
    where: str
    pin: bool = False
    narrows: bool = False

    @property
    def may_vanish(self) -> bool:
        """Whether it covers a socket of the host, which its maker may remove at any time: then there is no cover."""
        return self.kind == "hide" and not self.directory and self.where == SOCKET

    @property
    def depth(self) -> int:
        """How many names its place has."""
        return 0 if self.place == "/" else self.place.count("/")


class Watched(NamedTuple):
    """A protected path of the host, on whose way (`steps`) the command could change something.

    `changed`: of a file that has other names, by which it may be written, when it was last changed (`Found`); else 0.
    """

    where: str
    text: str
    path: str
    steps: tuple[Step, ...]
    changed: int = 0


class Mask(NamedTuple):
    """An entry of the sandbox's own /proc that is made read-only or covered, where the kernel has it."""

    entry: str
    hide: bool
    where: str


class Ids(NamedTuple):
    """Ids inside, and the host's ids that they are. `mapped_by_root`: uid 0 calls, so any host id could be taken."""

    user: int
    group: int
    host_user: int
    host_group: int
    mapped_by_root: bool


class LimitValue(NamedTuple):
    """Limits with parameters filled in; milliseconds, bytes and counts; None: not limited."""

    wall: int | None = None
    cpu: int | None = None
    memory: int | None = None
    processes: int | None = None
    open_files: int | None = None
    file_size: int | None = None
    output: int | None = None
    core_size: int | None = None


class Prepared(NamedTuple):
    """Everything that a backend needs, and what is to be reported of the preparation.

    `program`: the filter in this machine's byte order, None for `syscalls none`. `devices`: none, minimal, standard
    or host. `covered`: folders of the host covered because sockets are there. `params`: texts, paths resolved.
    `absent` and `watched`: what is looked at again after the run.
    `guard`: a second filter, for the sockets that no network namespace holds, where the profile's lets them through.
    `bound`: file system and inode of each socket that was bound before the start.
    """

    run_id: str
    profile: str
    argv: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    cwd: str
    host_root: bool
    mounts: tuple[Mount, ...]
    links: tuple[tuple[str, str], ...]
    masks: tuple[Mask, ...]
    devices: str
    network: Literal["none", "host"]
    ids: Ids
    hostname: str
    limits: LimitValue
    program: bytes | None
    terminal: bool
    params: dict[str, str]
    absent: tuple[Absent, ...]
    losses: tuple[RunLoss, ...]
    covered: tuple[str, ...]
    notes: tuple[str, ...]
    guard: bytes | None = None
    watched: tuple[Watched, ...] = ()
    bound: tuple[tuple[str, int], ...] = ()


WITH_TERMINALS = frozenset({"standard", "host"})
"""Kinds of devices with which a command can make terminals."""


def has_terminals(prepared: Prepared) -> bool:
    """Tell whether there is a devpts of the sandbox's own: for the run's terminal, and those a command makes."""
    return prepared.terminal or prepared.devices in WITH_TERMINALS
