"""What each target does with each statement: the coverage table, and which losses are errors."""

from collections.abc import Iterable, Iterator
from typing import Literal

from sbc.backends.target import Artifact, Loss, Target, Unsayable
from sbc.diagnostics.catalogue.targets import (
    AcceptedLoss,
    CannotSay,
    DeferredLoss,
    LeftOut,
    NarrowerLoss,
    WiderLoss,
)
from sbc.diagnostics.diagnostic import Diagnostic
from sbc.policy.origin import Block, Origin, System
from sbc.policy.policy import Policy
from sbc.record import Record

State = Literal["enforced", "narrower", "wider", "not applicable", "not written", "unread", "left to the runtime"]
"""`not written`: the target has no words for the profile; `unread`: what the statement does is not known here."""

RUNTIME = "runtime"
"""The column of what sets the process up: `sbc run`, on every system."""

_RUNTIME_BLOCKS: frozenset[Block] = frozenset(("environment", "limits", "containment"))
_HOST_IDS = frozenset(("host-user", "host-group"))
_SYSTEM: dict[str, System] = {"bpf": "linux", "sbpl": "macos", "bwrap": "linux", "oci": "linux"}


class Outcome(Record):
    """What became of one target: what it made, or why it has no words for the policy."""

    target: Target
    result: Artifact | Unsayable


class Cell(Record):
    """One statement under one target; `why` says in a few words what is lost, or is empty."""

    state: State
    why: str = ""


class Row(Record):
    """One statement, and its cells in the order of the table's targets."""

    origin: Origin
    cells: tuple[Cell, ...]


class Coverage(Record):
    """The table."""

    targets: tuple[str, ...]
    rows: tuple[Row, ...]


def coverage(policy: Policy, outcomes: Iterable[Outcome]) -> Coverage:
    """Give the table: a row for each statement in force, a column for each target, and the runtime's."""
    made = tuple(outcomes)
    elsewhere = _runtime_statements(policy)
    rows = tuple(
        Row(origin, (*(_cell(one, origin, elsewhere) for one in made), _runtime_cell(origin, elsewhere)))
        for origin in policy.statements()
    )
    return Coverage((*(one.target.name for one in made), RUNTIME), rows)


def _runtime_statements(policy: Policy) -> frozenset[Origin]:
    """Give the statements of other blocks, and what holds where none is, that only the runtime can enforce."""
    hosts = (one.origin for one in policy.identity if one.key in _HOST_IDS)
    unstated = (one for one in policy.statements() if one.block == "identity" and one.span is None)
    return frozenset((*hosts, *unstated, *(one.origin for one in policy.files.start_in)))


def _runtime_cell(origin: Origin, elsewhere: frozenset[Origin]) -> Cell:
    return Cell("enforced" if origin.block in _RUNTIME_BLOCKS or origin in elsewhere else "not applicable")


def _cell(outcome: Outcome, origin: Origin, elsewhere: frozenset[Origin]) -> Cell:
    name = outcome.target.name
    other_system = origin.on is not None and _SYSTEM.get(name, origin.on) != origin.on
    if other_system or origin in elsewhere:
        return Cell("not applicable")
    applicable = origin.block in outcome.target.blocks
    if isinstance(outcome.result, Unsayable):
        if not applicable:
            return Cell("not applicable")
        return Cell("not written", outcome.result.why if origin == outcome.result.origin else "")
    lost = [loss for loss in outcome.result.losses if loss.origin == origin]
    if lost:
        why = "; ".join(dict.fromkeys(loss.why for loss in lost))
        wider = [loss for loss in lost if loss.direction == "wider"]
        # A statement that is both is wider: that is what somebody must know. Where whoever applies the target must
        # enforce it or refuse, nothing wider ever runs.
        if wider:
            return Cell("left to the runtime" if all(loss.deferred for loss in wider) else "wider", why)
        return Cell("narrower", why)
    unread = [one.why for one in outcome.result.unread if one.origin == origin]
    if unread:
        return Cell("unread", "; ".join(dict.fromkeys(unread)))
    return Cell("enforced" if applicable else "not applicable")


def judged(losses: Iterable[Loss], allow_wider: bool) -> Iterator[Diagnostic]:
    """Give a diagnostic for each loss: an error where it allows more than was written and nobody accepted that."""
    for loss in dict.fromkeys(losses):
        words = (loss.origin.span, loss.target, loss.origin.text, loss.why)
        if loss.direction == "narrower":
            yield NarrowerLoss(*words)
        elif loss.deferred:
            yield DeferredLoss(*words)
        elif allow_wider:
            yield AcceptedLoss(*words)
        else:
            yield WiderLoss(*words)


def refused(unsayable: Unsayable, named: bool) -> Diagnostic:
    """Give the diagnostic for a target that is not written: an error where it was asked for by name."""
    words = (unsayable.origin.span, unsayable.target, unsayable.origin.text, unsayable.why)
    return CannotSay(*words) if named else LeftOut(*words)


def table(made: Coverage) -> str:
    """Give the table as text for people, columns aligned; what is lost stands below it, by statement."""
    head = ("statement", "", *made.targets)
    lines = [head, *((row.origin.where(), row.origin.text, *(c.state for c in row.cells)) for row in made.rows)]
    lines = [(line[0], line[1] if len(line[1]) <= 60 else f"{line[1][:57]}...", *line[2:]) for line in lines]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    text = ["  ".join(item.ljust(width) for item, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    for row in made.rows:
        for name, cell in zip(made.targets, row.cells, strict=True):
            if cell.why:
                text.append(f"{row.origin.where()}: {name}: {cell.state}: {cell.why}")
    return "\n".join(text) + "\n"
