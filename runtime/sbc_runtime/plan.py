"""The plan: what a sandbox is set up with beside its filters, as a bundle holds it.

Spelled paths, in compile order; parameters are named, never filled in. What is limited to one operating system says
so (`on`); what is written for both has `on` null. Each entry carries the statement that it comes from, for reports
only: the enforcement digest leaves statements out.
"""

from sbc_runtime.records import NamedTuple
from sbc_runtime.words import Literal

System = Literal["linux", "macos"]


class Statement(NamedTuple):
    """A statement of the profile. `file` and `line` are null for what the contract's defaults say."""

    block: str
    file: str | None
    line: int | None
    text: str
    reason: str

    def where(self) -> str:
        """Give `file:line`, or `default` for what no statement says."""
        return f"{self.file}:{self.line}" if self.file is not None else "default"


class ParamRef(NamedTuple):
    """The value of a parameter, as a whole."""

    param: str


class Path(NamedTuple):
    """A path: the parameter that it begins with (null: absolute) and what follows, normalised."""

    base: str | None
    rest: str

    def __str__(self) -> str:
        return f"${{{self.base}}}{self.rest}" if self.base else self.rest


class Setting(NamedTuple):
    """One word that decides a whole matter: the kind of root, the kind of devices, whether containment is required."""

    kind: str
    on: System | None
    statement: Statement


class PathRule(NamedTuple):
    """The access of one path of the host; `place`: where the sandbox sees it (null: at the same path)."""

    access: Literal["read", "write", "hide"]
    path: Path
    place: Path | None
    optional: bool
    noexec: bool
    identity: str | None
    on: System | None
    statement: Statement


class Tmp(NamedTuple):
    """A private empty file system, with budgets in bytes and inodes (null: none)."""

    path: Path
    size: int | ParamRef | None
    inodes: int | ParamRef | None
    noexec: bool
    on: System | None
    statement: Statement


class StartIn(NamedTuple):
    """The folder in which the command starts; null: by the loader's default."""

    path: Path | None
    on: System | None
    statement: Statement


class ProcRule(NamedTuple):
    """Protects one entry of the sandbox's own /proc."""

    access: Literal["read-only", "hide"]
    entry: str
    on: System | None
    statement: Statement


class Allowance(NamedTuple):
    """An entry of the network list: `connect` and `bind` have a port (null: every one), `unix` a path."""

    verb: Literal["connect", "bind", "unix"]
    port: int | None
    path: Path | None
    on: System | None
    statement: Statement


class Network(NamedTuple):
    """`listed`: only what the list names is allowed besides."""

    mode: Literal["none", "host"]
    listed: bool
    allowances: tuple[Allowance, ...]
    statement: Statement


class Pattern(NamedTuple):
    """A pattern on names of variables."""

    verb: Literal["keep", "drop"]
    pattern: str
    on: System | None
    statement: Statement


class Variable(NamedTuple):
    """A variable that is set."""

    name: str
    value: str | ParamRef
    on: System | None
    statement: Statement


class Environment(NamedTuple):
    """Empty, then `keep`, then `drop`, then `set`."""

    patterns: tuple[Pattern, ...]
    variables: tuple[Variable, ...]


class IdRange(NamedTuple):
    """Host ids, both ends in."""

    first: int
    last: int


class Identity(NamedTuple):
    """One id, range of ids or the host name."""

    key: Literal["user", "group", "host-user", "host-group", "hostname"]
    value: int | IdRange | str | ParamRef
    on: System | None
    statement: Statement


class Limit(NamedTuple):
    """One limit: times in milliseconds, sizes in bytes, counts as they are."""

    key: Literal["wall", "cpu", "memory", "processes", "open-files", "file-size", "output", "core-size"]
    value: int | ParamRef
    on: System | None
    statement: Statement


class Plan(NamedTuple):
    """Everything but the filters. `containment`: not empty where nothing may run without a sandbox."""

    roots: tuple[Setting, ...]
    rules: tuple[PathRule, ...]
    tmps: tuple[Tmp, ...]
    devices: tuple[Setting, ...]
    start_in: tuple[StartIn, ...]
    proc: tuple[ProcRule, ...]
    network: Network
    environment: Environment
    identity: tuple[Identity, ...]
    limits: tuple[Limit, ...]
    containment: tuple[Setting, ...] = ()
