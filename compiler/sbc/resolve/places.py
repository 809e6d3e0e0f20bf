"""`as`: a path moves with everything stated below it."""

from sbc.diagnostics.catalogue.files import PlaceConflict
from sbc.diagnostics.diagnostic import Reporter
from sbc.policy.filesystem import PathRule, Tmp
from sbc.policy.origin import System
from sbc.policy.values import PathValue
from sbc.record import replaced
from sbc.resolve.systems import BOTH, SYSTEMS, limited, systems_of

Mover = tuple[PathRule, PathValue]
"""A rule with `as`, and its place."""


def moved(rules: tuple[PathRule, ...]) -> tuple[PathRule, ...]:
    """Give each rule its place where a path above it is moved; one that says `as` itself keeps its own."""
    movers = [(rule, rule.place) for rule in rules if rule.place is not None]
    if not movers:
        return rules
    return tuple(placed for rule in rules for placed in _placed(rule, movers))


def _placed(rule: PathRule, movers: list[Mover]) -> list[PathRule]:
    if rule.place is not None:
        return [rule]
    by_place: dict[PathValue | None, set[System]] = {}
    for system in SYSTEMS:
        if system in systems_of(rule.origin.on):
            by_place.setdefault(_place_on(rule, movers, system), set()).add(system)
    found: list[PathRule] = []
    for place, systems in by_place.items():
        origin = limited(rule.origin, BOTH & systems)
        found.append(rule if place is None and origin is rule.origin else replaced(rule, place=place, origin=origin))
    return found


def _place_on(rule: PathRule, movers: list[Mover], system: System) -> PathValue | None:
    above = [one for one in movers if system in systems_of(one[0].origin.on) and one[0].path.covers(rule.path)]
    if not above:
        return None
    nearest, place = max(above, key=lambda one: len(one[0].path.parts))
    below = rule.path.parts[len(nearest.path.parts) :]
    rest = "".join(f"/{part}" for part in (*place.parts, *below))
    return PathValue(place.base, rest or ("" if place.base else "/"))


def refuse_shared_places(rules: tuple[PathRule, ...], tmps: tuple[Tmp, ...], reporter: Reporter) -> None:
    """Tell where two statements for one system put different things at one place of the sandbox."""
    seen: dict[PathValue, list[PathRule | Tmp]] = {}
    for one in (*rules, *tmps):
        place = one.seen_as if isinstance(one, PathRule) else one.path
        earlier = seen.setdefault(place, [])
        for other in earlier:
            first = other.origin.span
            if first is not None and systems_of(one.origin.on) & systems_of(other.origin.on):
                reporter.add(PlaceConflict(one.origin.span, str(place), first))
        earlier.append(one)
