"""The whole policy of one profile."""

from collections.abc import Iterator

from sbc.policy.filesystem import Files, ProcRule
from sbc.policy.network import Network
from sbc.policy.origin import Block, Origin
from sbc.policy.process import Environment, IdentityValue, Limit
from sbc.policy.seatbelt import Seatbelt
from sbc.policy.syscalls import Syscalls
from sbc.policy.values import Param
from sbc.record import Record


class Override(Record):
    """A statement of a parent profile that a child's replaced."""

    child: Origin
    parent: Origin


class SourceFile(Record):
    """A file that the policy was made from: its name in outputs and the SHA-256 of its bytes, in hex."""

    name: str
    sha256: str


class Policy(Record):
    """What one profile means.

    `containment`: the statement that nothing runs without a sandbox, whatever the caller accepts (None: not said).
    `block_reasons` are the `##` lines above whole blocks (`limits { ... }`), by block.
    """

    name: str
    reason: str
    params: tuple[Param, ...]
    syscalls: Syscalls
    files: Files
    proc: tuple[ProcRule, ...]
    network: Network
    environment: Environment
    identity: tuple[IdentityValue, ...]
    limits: tuple[Limit, ...]
    seatbelt: Seatbelt
    sources: tuple[SourceFile, ...]
    overrides: tuple[Override, ...] = ()
    listed_origins: tuple[Origin, ...] = ()
    block_reasons: tuple[tuple[Block, str], ...] = ()
    containment: Origin | None = None

    def statements(self) -> Iterator[Origin]:
        """Give the origin of every statement in force, in the order of the source, each once.

        These are the rows of the coverage table: what was written (`listed_origins`, made by lowering), and what the
        contract's defaults say where nothing was written.
        """
        return iter(dict.fromkeys(self.listed_origins))
