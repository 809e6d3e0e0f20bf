"""Inheritance: what a profile states replaces what the profiles that it extends state on the same subject.

A statement for one system replaces a statement for both on that system only.
"""

from collections.abc import Hashable, Iterable
from typing import Generic, NamedTuple, TypeVar

from sbc.diagnostics.catalogue.verdicts import StatedTwice
from sbc.diagnostics.diagnostic import Reporter
from sbc.diagnostics.span import Span
from sbc.policy.origin import Origin
from sbc.policy.policy import Override
from sbc.record import Record, replaced
from sbc.resolve.systems import BOTH, limited, systems_of

T = TypeVar("T", bound=Record)


class Entry(NamedTuple, Generic[T]):
    """A part of the policy, the subjects that it speaks about, and its statement (which is `value.origin` too)."""

    subjects: tuple[Hashable, ...]
    origin: Origin
    value: T


def inherited(levels: list[list[Entry[T]]], overrides: list[Override]) -> list[Entry[T]]:
    """Join the levels of a chain, nearest first; what is replaced goes, and is noted in `overrides`."""
    kept: list[Entry[T]] = []
    by_subject: dict[Hashable, list[Entry[T]]] = {}
    for level in levels:
        stays: list[Entry[T]] = []
        for entry in level:
            left = systems_of(entry.origin.on)
            for other in _about(entry.subjects, by_subject):
                if shared := left & systems_of(other.origin.on):
                    overrides.append(Override(other.origin, entry.origin))
                    left -= shared
            if left:
                stays.append(narrowed(entry, left))
        for entry in stays:
            for subject in entry.subjects:
                by_subject.setdefault(subject, []).append(entry)
        kept += stays
    return kept


def _about(subjects: tuple[Hashable, ...], by_subject: dict[Hashable, list[Entry[T]]]) -> list[Entry[T]]:
    """Give the entries that share a subject, each once."""
    found = {id(entry): entry for subject in subjects for entry in by_subject.get(subject, ())}
    return list(found.values())


def narrowed(entry: Entry[T], systems: frozenset[str]) -> Entry[T]:
    """Give the entry for some of its systems only."""
    origin = limited(entry.origin, BOTH & systems)
    if origin is entry.origin:
        return entry
    return Entry(entry.subjects, origin, replaced(entry.value, origin=origin))


def refuse_repeats(level: Iterable[Entry[T]], reporter: Reporter) -> None:
    """Tell each statement of one profile whose subject, the first of its entry, another has for the same system."""
    stated: dict[tuple[Hashable, str], Span | None] = {}
    for entry in level:
        keys = [(entry.subjects[0], system) for system in sorted(systems_of(entry.origin.on))]
        first = next((stated[key] for key in keys if key in stated), None)
        if first is not None:
            reporter.add(StatedTwice(entry.origin.span, str(entry.subjects[0]), first))
        for key in keys:
            stated.setdefault(key, entry.origin.span)
