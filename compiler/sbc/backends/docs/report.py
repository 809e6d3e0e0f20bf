"""The sections about the profile itself and about what each target makes of it."""

from sbc.backends.coverage import Coverage
from sbc.backends.docs import units
from sbc.backends.docs.blocks import (
    Bullets,
    Code,
    Inline,
    Mark,
    MarkKind,
    Section,
    Text,
    code,
    plain,
    prose,
    reason,
    statement,
    table,
)
from sbc.backends.target import Loss
from sbc.policy.origin import Origin
from sbc.policy.policy import Policy
from sbc.policy.values import Param
from sbc.record import Record


class Note(Record):
    """What a target says of what it made, for people."""

    target: str
    text: str


class Report(Record):
    """What the targets made of the policy."""

    coverage: Coverage = Coverage((), ())
    losses: tuple[Loss, ...] = ()
    notes: tuple[Note, ...] = ()


_STATES: dict[str, MarkKind] = {"enforced": "enforced", "narrower": "narrower", "wider": "wider"}


def parameters(policy: Policy) -> Section:
    """Tell what must be filled in when the sandbox starts."""
    rows: list[tuple[Inline, ...]] = [(code(param.name), plain(param.type), _default(param)) for param in policy.params]
    reasons = [param.reason for param in policy.params]
    return Section("parameters", "Parameters", (table(("Name", "Type", "Default"), rows, reasons),) if rows else ())


def _default(param: Param) -> Inline:
    if param.default is None:
        return plain("none: must be given")
    if isinstance(param.default, str):
        return code(param.default)
    return plain({"size": units.size, "duration": units.duration}.get(param.type, str)(param.default))


def seatbelt(policy: Policy) -> Section:
    """Give what the `seatbelt` block says in SBPL's own names."""
    block = policy.seatbelt
    origins = [one.origin for one in (block.default, *block.statements) if one.origin.span is not None]
    items = tuple((*_statement(origin), *reason(origin)) for origin in origins)
    return Section("seatbelt", "SBPL of its own", (Bullets(items),) if items else ())


def overrides(policy: Policy) -> Section:
    """Tell which statements of the parent profile were replaced."""
    rows: list[tuple[Inline, ...]] = [(_statement(one.child), _statement(one.parent)) for one in policy.overrides]
    return Section(
        "overrides", "Replaced statements of the parent", (table(("Statement", "Replaces"), rows),) if rows else ()
    )


def coverage(what: Report) -> Section:
    """Give the table of statements and targets."""
    rows: list[tuple[Inline, ...]] = []
    for row in what.coverage.rows:
        states = ((Mark(_STATES.get(cell.state, "other"), cell.state),) for cell in row.cells)
        written = row.origin.span is not None
        where = code(row.origin.where()) if written else plain("default")
        rows.append((statement(row.origin.text, written), where, *states))
    return Section(
        "coverage", "Coverage by target", (table(("Statement", "Where", *what.coverage.targets), rows),) if rows else ()
    )


def losses(what: Report) -> Section:
    """Tell what targets cannot enforce as written."""
    rows: list[tuple[Inline, ...]] = [
        (plain(loss.target), (Mark(loss.direction, loss.direction),), _statement(loss.origin), prose(loss.why))
        for loss in what.losses
    ]
    return Section("losses", "Losses", (table(("Target", "It is", "Statement", "What is lost"), rows),) if rows else ())


def notes(what: Report) -> Section:
    """Give what the targets say besides."""
    items = tuple((Text(f"{note.target}: "), *prose(note.text), Text(".")) for note in what.notes)
    return Section("notes", "Notes", (Bullets(items),) if items else ())


def sources(policy: Policy) -> Section:
    """Name the files that the profile was made from."""
    rows: list[tuple[Inline, ...]] = [
        (code(source.name), code(source.sha256)) for source in sorted(policy.sources, key=lambda one: one.name)
    ]
    return Section("sources", "Sources", (table(("File", "SHA-256"), rows),) if rows else ())


def _statement(origin: Origin) -> Inline:
    written = origin.span is not None
    where: Inline = (Text(" ("), Code(origin.where()), Text(")")) if written else ()
    return *statement(origin.text, written), *where
