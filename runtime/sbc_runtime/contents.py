"""What a bundle holds, beside the plan (`sbc_runtime.plan`)."""

from sbc_runtime.plan import Plan, Statement, System
from sbc_runtime.records import NamedTuple
from sbc_runtime.words import Literal


class SourceFile(NamedTuple):
    """A file that the profile was made from: its name in outputs, and the SHA-256 of its bytes, in hex."""

    name: str
    sha256: str


class Param(NamedTuple):
    """A declared parameter; `default` in bytes, milliseconds, or as text."""

    name: str
    type: Literal["dir", "file", "path", "text", "size", "duration", "integer"]
    default: int | str | None


class Filter(NamedTuple):
    """One filter: the ABIs joined in it, their byte order and `AUDIT_ARCH_*` values, and its `sock_filter` bytes."""

    abis: tuple[str, ...]
    byte_order: Literal["little", "big"]
    audit: tuple[int, ...]
    instructions: int
    sha256: str
    program: bytes


class Sbpl(NamedTuple):
    """The profile for sandbox-exec(1) as text; null where there is none, and `why`."""

    text: str | None
    why: str | None


class Bwrap(NamedTuple):
    """The arguments for bwrap(1); null where there are none, and `why`."""

    arguments: tuple[str, ...] | None
    why: str | None


class Loss(NamedTuple):
    """A statement that a target cannot enforce as written.

    `deferred`: whoever applies what the target made must enforce it, or refuse to start.
    """

    target: str
    direction: Literal["narrower", "wider"]
    statement: Statement
    why: str
    deferred: bool


class Row(NamedTuple):
    """One statement, and its state under each target of the table."""

    statement: Statement
    on: System | None
    states: tuple[str, ...]


class Coverage(NamedTuple):
    """Statement by target: `enforced`, `narrower`, `wider`, `not applicable`, `not written` or `unread`."""

    targets: tuple[str, ...]
    rows: tuple[Row, ...]


class Bundle(NamedTuple):
    """What one profile compiles to. `filters` is None for `syscalls none`: no filter at all, which reports say."""

    profile: str
    compiler: str
    sources: tuple[SourceFile, ...]
    params: tuple[Param, ...]
    filters: tuple[Filter, ...] | None
    sbpl: Sbpl
    bwrap: Bwrap
    plan: Plan
    losses: tuple[Loss, ...]
    coverage: Coverage
    docs: str
    notes: tuple[str, ...]
    address: str = ""
