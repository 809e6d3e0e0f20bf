"""`on linux` and `on macos`: which operating systems a statement is for."""

from collections.abc import Iterable, Iterator

from sbc.diagnostics.catalogue.blocks import NeverApplies
from sbc.diagnostics.diagnostic import Reporter
from sbc.policy.origin import Origin, System
from sbc.record import replaced
from sbc.syntax import tree

SYSTEMS: tuple[System, ...] = ("linux", "macos")
BOTH: frozenset[System] = frozenset(SYSTEMS)


def systems_of(on: System | None) -> frozenset[System]:
    """Give the systems that a statement is for."""
    return BOTH if on is None else frozenset({on})


def on_of(systems: Iterable[System]) -> System | None:
    """Give the mark of a statement for one system, or for both."""
    found: list[System] = [system for system in SYSTEMS if system in systems]
    return None if len(found) == len(SYSTEMS) else found[0]


def limited(origin: Origin, systems: frozenset[System]) -> Origin:
    """Give the origin of a statement that holds on some of its systems only."""
    on = on_of(systems)
    return origin if on == origin.on else replaced(origin, on=on)


def opened(
    body: Iterable[tree.Statement], reporter: Reporter, on: System | None = None, reason: str = ""
) -> Iterator[tuple[tree.Statement, System | None]]:
    """Give each statement of a block with the system that it is for, `on` blocks opened.

    What is said above an `on` block is the reason of the statements in it that have none of their own.
    """
    for statement in body:
        if not isinstance(statement, tree.OnSystem):
            yield (statement if statement.reason or not reason else replaced(statement, reason=reason)), on
            continue
        inner: System = "linux" if statement.system.text == "linux" else "macos"
        if on is not None and on != inner:
            reporter.add(NeverApplies(statement.span, inner, on))
        else:
            yield from opened(statement.body, reporter, inner, statement.reason or reason)
