"""Paths that one profile states twice: an error where the two differ, a lint where they do not."""

from typing import cast

from sbc.diagnostics.catalogue import files as problems
from sbc.diagnostics.diagnostic import Reporter
from sbc.diagnostics.span import Span
from sbc.policy.filesystem import PathRule, Tmp
from sbc.policy.values import PathValue
from sbc.resolve.inherit import Entry, narrowed
from sbc.resolve.systems import systems_of

Shown = PathRule | Tmp


def distinct(level: list[Entry[Shown]], reporter: Reporter) -> list[Entry[Shown]]:
    """Give the entries of one profile, each path once for each system."""
    kept: list[Entry[Shown]] = []
    by_path: dict[PathValue, list[Entry[Shown]]] = {}
    for entry in level:
        rule = entry.value
        if not isinstance(rule, PathRule):
            kept.append(entry)
            continue
        left = systems_of(entry.origin.on)
        earlier = by_path.setdefault(rule.path, [])
        for other in earlier:
            shared = left & systems_of(other.origin.on)
            if shared and isinstance(other.value, PathRule):
                _tell(rule, other.value, reporter)
                left -= shared
        if left:
            one = narrowed(entry, left)
            kept.append(one)
            earlier.append(one)
    return kept


def _tell(rule: PathRule, other: PathRule, reporter: Reporter) -> None:
    span, first = rule.origin.span, cast("Span", other.origin.span)
    path = str(rule.path)
    if rule.access != other.access:
        reporter.add(problems.AccessConflict(span, path, rule.access, other.access, first))
    elif rule.place != other.place:
        places = (str(rule.seen_as), str(other.seen_as))
        reporter.add(problems.TwoPlaces(span, path, *places, first))
    elif _options(rule) != _options(other):
        reporter.add(problems.OptionConflict(span, path, first))
    else:
        reporter.add(problems.PathAgain(span, path, first))


def _options(rule: PathRule) -> tuple[object, ...]:
    return rule.optional, rule.noexec, rule.identity
