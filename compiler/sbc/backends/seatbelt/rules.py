"""Rules of a profile, and what each must name so that it decides.

SBPL looks for a rule on the concrete operation before any rule on what it falls under, whatever their order. So a rule
on `file-write*` says nothing about `file-write-data` where some other rule names `file-write-data`. The ledger keeps
who named what, and completes each rule with the concrete operations that rules of the other kind before it named.
"""

from functools import cached_property
from typing import Literal

from sbc.backends.seatbelt.filters import fits
from sbc.backends.seatbelt.operations import below, canonical
from sbc.backends.seatbelt.paths import folded, literal
from sbc.backends.seatbelt.sexpr import Node
from sbc.macos.operations import NEWER, PARENTS
from sbc.policy.values import PathValue
from sbc.record import Record, replaced

Action = Literal["allow", "deny"]
Author = Literal["base", "user", "derived"]


class Region(Record):
    """The paths that a rule is about: `path` and all below it, or `path` alone (`leaf`)."""

    path: PathValue
    leaf: bool = False

    @cached_property
    def key(self) -> PathValue:
        """The path as it compares."""
        return folded(self.path)


class SbRule(Record):
    """One `allow` or `deny`; without filters it is bare: what holds where no filtered rule on the operation matches.

    `regions` are the paths that its filters match; None: anything. `note` is the comment above it; empty: none.
    """

    action: Action
    operations: tuple[str, ...]
    filters: tuple[Node, ...] = ()
    regions: tuple[Region, ...] | None = None
    note: str = ""


def on_paths(action: Action, operations: tuple[str, ...], *paths: PathValue, note: str = "") -> SbRule:
    """Give a rule on some paths alone, not on what is below them."""
    regions = tuple(Region(path, leaf=True) for path in paths)
    return SbRule(action, operations, tuple(literal(path) for path in paths), regions, note)


def fitting(rule: SbRule, operations: tuple[str, ...]) -> tuple[SbRule, ...]:
    """Give a rule on other operations, each with those of its filters that the operation takes."""
    found: dict[tuple[Node, ...], list[str]] = {rule.filters: []}
    for name in operations:
        filters = tuple(one for one in rule.filters if fits(canonical(name), one))
        if filters or not rule.filters:
            found.setdefault(filters, []).append(name)
    return tuple(replaced(rule, operations=tuple(names), filters=some) for some, names in found.items() if names)


class _Named(Record):
    """A rule's naming of one operation."""

    action: Action
    author: Author
    filtered: bool
    regions: tuple[Region, ...] | None


class Ledger:
    """Which operations the rules so far named."""

    def __init__(self) -> None:
        self._named: dict[str, list[_Named]] = {}

    def record(self, rule: SbRule, author: Author) -> None:
        """Note what a rule names."""
        entry = _Named(rule.action, author, bool(rule.filters), rule.regions)
        for operation in rule.operations:
            self._named.setdefault(canonical(operation), []).append(entry)

    def record_import(self) -> None:
        """Note an imported profile: nobody here has read it, so it may have allowed every operation."""
        for operation in PARENTS:
            if operation not in NEWER:
                self._named.setdefault(operation, []).append(_Named("allow", "user", True, None))

    def completed(self, rule: SbRule, author: Author) -> tuple[SbRule, ...]:
        """Give the rule with every concrete operation that it must name, and record it.

        One that takes only some of its filters gets a rule with those; one that takes none never matches any.
        A derived allow leaves the user's denies alone: they may narrow, and `repeated` renews those that it undoes. One
        without a filter would take the place of a deny without one, so it is left out there.
        """
        if author == "derived" and rule.action == "allow" and not rule.filters:
            rule = replaced(rule, operations=tuple(name for name in rule.operations if not self._user_denies(name)))
        added = [
            below_it
            for operation in rule.operations
            for below_it in below(operation)
            if below_it not in rule.operations and self._contested(below_it, rule, author)
        ]
        done = fitting(rule, (*rule.operations, *dict.fromkeys(added)))
        for one in done:
            self.record(one, author)
        return done

    def _contested(self, operation: str, rule: SbRule, author: Author) -> bool:
        for entry in self._named.get(operation, ()):
            if not rule.filters and entry.filtered:
                continue  # a bare rule is what holds where no filter matches; the filtered one decides its own
            if entry.action == rule.action:
                continue
            if author == "derived" and rule.action == "allow" and entry.author == "user":
                continue
            if _overlap(entry.regions, rule.regions):
                return True
        return False

    def _user_denies(self, operation: str) -> bool:
        """Tell whether the last of the user's rules on an operation that have no filter denies it."""
        bare = [e for e in self._named.get(canonical(operation), ()) if e.author == "user" and not e.filtered]
        return bool(bare) and bare[-1].action == "deny"

    def user_allows(self, operations: tuple[str, ...]) -> bool:
        """Tell whether the user's rules allow one of some operations, or one below them, by a filter."""
        return any(
            entry.action == "allow" and entry.author == "user" and entry.filtered
            for operation in operations
            for name in (operation, *below(operation))
            for entry in self._named.get(name, ())
        )

    def derived_allows(self, operation: str) -> tuple[str, ...]:
        """Give the operations, equal to or below one, that derived rules allow by a filter."""
        return tuple(
            name
            for name in (operation, *below(operation))
            if any(e.action == "allow" and e.author == "derived" and e.filtered for e in self._named.get(name, ()))
        )


def _overlap(earlier: tuple[Region, ...] | None, later: tuple[Region, ...] | None) -> bool:
    """Tell whether some path may lie in both; `earlier` is of a rule that stands before the other."""
    if earlier is None or later is None:
        return True
    return any(_meet(a, b) for a in earlier for b in later)


def _meet(earlier: Region, later: Region) -> bool:
    a, b = earlier.key, later.key
    if a.base == b.base:
        return b.covers(a) or (not earlier.leaf and a.covers(b))
    # A parameter is taken to lie deeper than any literal path: it can be below a folder, never below a single file.
    return not earlier.leaf
