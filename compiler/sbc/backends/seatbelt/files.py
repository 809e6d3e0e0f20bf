"""The `files` block as rules: areas shallow first, then what renaming and looking through folders need."""

from collections.abc import Iterator

from sbc.backends.seatbelt.areas import Area, Areas, in_dev
from sbc.backends.seatbelt.base import file_rules
from sbc.backends.seatbelt.devices import Placed
from sbc.backends.seatbelt.families import CONTROL, EXEC, LOOK, OPERATIONS, READ, SOCKETS, WRITE
from sbc.backends.seatbelt.paths import ROOT, ancestors, literal, parents, subpath
from sbc.backends.seatbelt.rules import Region, SbRule
from sbc.backends.seatbelt.sexpr import Node
from sbc.policy.values import PathValue


def rules(areas: Areas, devices: tuple[Placed, ...], sockets: bool) -> Iterator[SbRule]:
    """Give the rules on files, in order; `sockets`: sockets too go by their path."""
    root, *others = areas.areas
    yield from _area_rules((root,), sockets)
    if root.access == "hide":
        yield from file_rules()
    waiting = list(devices)
    for group in _groups(others):
        while waiting and waiting[0].depth <= group[0].path.depth:
            yield waiting.pop(0).rule
        yield from _area_rules(group, sockets)
    yield from (placed.rule for placed in waiting)
    yield from _renaming(areas)
    yield from _looking(areas)


def _groups(areas: list[Area]) -> Iterator[tuple[Area, ...]]:
    """Join neighbours that have one depth and one access: one rule can name them all."""
    group: list[Area] = []
    for area in areas:
        if group and _alike(group[-1]) != _alike(area):
            yield tuple(group)
            group = []
        group.append(area)
    if group:
        yield tuple(group)


def _alike(area: Area) -> tuple[object, ...]:
    return (area.path.depth, area.access, area.noexec, area.device and area.access == "hide")


def _area_rules(group: tuple[Area, ...], sockets: bool) -> Iterator[SbRule]:
    """Give the allow and the deny of some areas of one access."""
    first = group[0]
    allowed: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    match first.access:
        case "hide":
            denied = (*OPERATIONS, *(CONTROL if first.device else ()), *(SOCKETS if sockets else ()))
        case "read":
            allowed = (*READ, *EXEC, *(SOCKETS[:1] if sockets else ()))
            denied = (*WRITE, *(SOCKETS[1:] if sockets else ()))
        case "write":
            allowed = (*OPERATIONS, *(SOCKETS if sockets else ()))
    if first.noexec:
        allowed = tuple(name for name in allowed if name not in EXEC)
        denied = tuple(dict.fromkeys((*denied, *EXEC)))
    filters = tuple(literal(area.path) if area.leaf else subpath(area.path) for area in group)
    regions = tuple(Region(area.path, area.leaf) for area in group)
    note = "\n".join(dict.fromkeys(f"{area.origin.where()}: {area.origin.text}" for area in group))
    if allowed:
        yield SbRule("allow", allowed, filters, regions, note)
    if denied:
        yield SbRule("deny", denied, filters, regions, "" if allowed else note)


def _renaming(areas: Areas) -> Iterator[SbRule]:
    """Deny to remove protected paths and the folders on the way to them, inside what may be written.

    To rename is to unlink and to create: with a folder above it moved away, a protected path would have another name,
    and its own could be made anew.
    """
    pinned: dict[PathValue, None] = {}
    params: dict[str, None] = {}
    for area in areas.areas:
        if area.access == "write" or area.path == ROOT:
            continue
        above = [path for path in parents(area.path) if areas.access(path) == "write" or areas.others("write", path)]
        pinned.update(dict.fromkeys(above))
        if above:
            pinned[area.path] = None
        if area.path.base is not None and areas.others("write", area.path):
            params[area.path.base] = None
            pinned[area.path] = None
    if pinned:
        filters: tuple[Node, ...] = tuple(literal(path) for path in pinned)
        filters += tuple(ancestors(name) for name in params)
        note = "protected paths and the folders above them stay where they are"
        yield SbRule("deny", ("file-write-unlink",), filters, None, note)


def _looking(areas: Areas) -> Iterator[SbRule]:
    """Let the folders above a visible path be looked through, where they are hidden: their existence alone.

    Links among them are checked for it, and programs ask for it when they resolve a path.
    """
    seen: dict[PathValue, None] = {}
    params: dict[str, None] = {}
    hides = any(area.access == "hide" for area in areas.areas)
    for area in areas.areas:
        if area.access == "hide" or area.path == ROOT:
            continue
        above = parents(area.path)
        # In /dev all is hidden that neither `devices` nor a statement names.
        hidden = (path for path in above if in_dev(path) or (hides and areas.access(path) in ("hide", None)))
        seen.update(dict.fromkeys(hidden))
        hidden_root = areas.areas[0].access == "hide"
        if area.path.base is not None and (hidden_root or areas.others("hide", area.path)):
            params[area.path.base] = None
    if seen or params:
        filters: tuple[Node, ...] = tuple(literal(path) for path in seen)
        filters += tuple(ancestors(name) for name in params)
        yield SbRule("allow", LOOK, filters, None, "folders on the way to what is visible: their existence alone")
