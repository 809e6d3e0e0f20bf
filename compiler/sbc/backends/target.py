"""What a target is: something that a policy is emitted to, and what it cannot say."""

from typing import Literal, Protocol

from sbc.policy.origin import Block, Origin
from sbc.policy.policy import Policy
from sbc.record import Record

Direction = Literal["narrower", "wider"]


class Loss(Record):
    """A statement that a target cannot enforce as written.

    `narrower`: the result allows less (a note); `wider`: it allows more (an error, unless `--allow-wider`).
    `why` says in a few words what is lost. `deferred`: whoever applies what the target made must enforce the statement
    itself or refuse to start, and `sbc run` does; such a loss is no error when compiling, and is told all the same.
    """

    target: str
    direction: Direction
    origin: Origin
    why: str
    deferred: bool = False


class OutputFile(Record):
    """One file of a target: its name without folders, and its bytes."""

    name: str
    content: bytes


class Unread(Record):
    """A statement of which a target cannot tell what it does: `why` says in a few words what nobody here has read."""

    origin: Origin
    why: str


class Artifact(Record):
    """What a target made: files, losses, what could not be judged, and notes for people (one line each)."""

    files: tuple[OutputFile, ...]
    losses: tuple[Loss, ...] = ()
    notes: tuple[str, ...] = ()
    unread: tuple[Unread, ...] = ()


class Unsayable(Exception):
    """The target has no words at all for a statement (`as` in SBPL): it is not written, with a note.

    An error where the target was asked for by name.
    """

    def __init__(self, target: str, origin: Origin, why: str) -> None:
        super().__init__(f"{target}: {why} ({origin.where()})")
        self.target = target
        self.origin = origin
        self.why = why


class Target(Protocol):
    """A target. `blocks` are those it is responsible for: statements outside are `not applicable` and no loss."""

    @property
    def name(self) -> str:
        """The word that names it after `--target`."""
        ...

    @property
    def blocks(self) -> frozenset[Block]:
        """The blocks that it is responsible for."""
        ...

    def emit(self, policy: Policy) -> Artifact:
        """Emit the policy; `Unsayable` where it cannot be said at all."""
        ...
