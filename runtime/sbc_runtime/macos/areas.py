"""The `files` block on a Mac: every area with its path, in the order of the profile's rules, and what must hold of it.

The order was chosen before the values of parameters were known. Where a value makes it wrong, or where a path is
reached through a link, so that a rule on it matches nothing, nothing is run.
"""

import os
from collections.abc import Iterator

from sbc_runtime.errors import SetupFailed
from sbc_runtime.macos.spelling import HOME_VARIABLE, below, from_the_root, order
from sbc_runtime.macos.values import Values, refuse_tmpdir_above, resolved
from sbc_runtime.outcome import Absent
from sbc_runtime.plan import Path, PathRule, Plan, Statement
from sbc_runtime.prepare.select import on_system
from sbc_runtime.records import NamedTuple
from sbc_runtime.words import Literal

Access = Literal["read", "write", "hide"]
_ROOT = Path(None, "/")
_DEVICES = "/dev"


class Area(NamedTuple):
    """A path, as the profile has it and filled in (`place`), and its access. `listed`: a rule of the `files` block."""

    path: Path
    place: str
    access: Access
    noexec: bool
    statement: Statement
    optional: bool = True
    listed: bool = False

    @property
    def kind(self) -> tuple[Access, bool]:
        """What may be done there."""
        return self.access, self.noexec


class Areas(NamedTuple):
    """All areas; the last that covers a path decides about it."""

    areas: tuple[Area, ...]

    def at(self, path: str) -> Area:
        """Give the area that decides about a path; the first is the root's."""
        return next(one for one in reversed(self.areas) if below(one.place, path))

    def writable(self) -> tuple[str, ...]:
        """Give the paths that the command may write below."""
        return tuple(one.place for one in self.areas if one.access == "write")


def areas(plan: Plan, values: Values) -> Areas:
    """Fill the plan's paths in; `SetupFailed` where they cannot be what the profile says."""
    found = Areas(tuple(sorted(_areas(plan, values), key=_order)))
    if "tmpdir" in values.paths:
        for one in found.areas:
            if one.listed and one.access != "write" and one.path.base != "tmpdir" and one.place != "/":
                refuse_tmpdir_above(values.paths["tmpdir"], one.place)
    _check_order(found, plan)
    for one in found.areas:
        if one.listed:
            _check_links(one, found, values)
    return found


def absent(found: Areas) -> tuple[Absent, ...]:
    """Give the optional paths that are missing; `SetupFailed` for one that may not be.

    A rule holds for what is not there, too. Only where a folder above it is missing could the command lead its name
    elsewhere, by a link in that folder's place.
    """
    missing: list[Absent] = []
    for one in found.areas:
        if not one.listed or os.path.lexists(one.place):
            continue
        where, said = one.statement.where(), one.statement.text
        if not one.optional:
            raise SetupFailed("paths", f"there is no `{one.place}`", "make it, or write `optional`", 2, where)
        first = _first_missing(one.place)
        made = one.access != "write" and first != one.place and found.at(first).access == "write"
        missing.append(Absent(where, said, one.place, could_be_created=made))
    return tuple(missing)


def _areas(plan: Plan, values: Values) -> Iterator[Area]:
    rules = on_system(plan.rules, "macos")
    for rule in rules:
        yield _area(rule.path, rule, values)
        if rule.access == "hide" and rule.path.base == "home":
            other = _area(Path(HOME_VARIABLE, rule.path.rest), rule, values)
            yield other._replace(optional=True)
    for tmp in on_system(plan.tmps, "macos"):
        path = _spelled(tmp.path)
        yield Area(path, values.filled(path, tmp.statement), "hide", False, tmp.statement)
    if not any(_spelled(rule.path) == _ROOT for rule in rules):
        root = on_system(plan.roots, "macos")
        said = root[-1].statement if root else Statement("files", None, None, "root private", "")
        yield Area(_ROOT, "/", "read" if root and root[-1].kind == "host" else "hide", False, said)


def _area(path: Path, rule: PathRule, values: Values) -> Area:
    path = _spelled(path)
    place = values.filled(path, rule.statement)
    return Area(path, place, rule.access, rule.noexec, rule.statement, rule.optional, listed=True)


def _spelled(path: Path) -> Path:
    """Give a literal path as the profile has it."""
    if path.base is not None:
        return path
    return Path(None, "/" + "/".join(from_the_root(tuple(part for part in path.rest.split("/") if part))))


def _order(one: Area) -> tuple[bool, int, bool, int, bool, str]:
    depth = sum(1 for part in one.path.rest.split("/") if part)
    return order(one.path.base, depth, one.access, one.noexec, str(one.path))


def _check_order(found: Areas, plan: Plan) -> None:
    """Refuse where a rule that begins with a parameter undoes one before it on the same path, or on a deeper one."""
    stated = on_system(plan.devices, "macos")
    devices = stated[-1].statement if stated else Statement("files", None, None, "devices minimal", "")
    for index, later in enumerate(found.areas):
        if later.path.base is None:
            continue
        for earlier in found.areas[:index]:
            if later.kind != earlier.kind and below(later.place, earlier.place):
                raise _undone(later, earlier.place, earlier.statement)
        if below(later.place, _DEVICES):
            raise _undone(later, _DEVICES, devices)


def _undone(later: Area, place: str, earlier: Statement) -> SetupFailed:
    said = later.statement
    what = "are one path" if below(place, later.place) else f"stands above `{place}`"
    why = f"`{said.text}` and `{earlier.text}` ({earlier.where()}): `{later.place}` {what}"
    return SetupFailed("paths", why, "give the parameters other values", where=said.where())


def _check_links(one: Area, found: Areas, values: Values) -> None:
    """Refuse a path that leads elsewhere, unless it has the same access there; never out of a parameter."""
    real = resolved(one.place)
    if below(real, one.place) and below(one.place, real):
        return
    out = one.path.base is not None and not below(values.paths[one.path.base], real)
    if out or found.at(real).kind != one.kind:
        why = f"`{one.place}` leads through a link to `{real}`, where `{found.at(real).statement.text}` decides"
        raise SetupFailed("paths", why, "remove the link, or name what it leads to", where=one.statement.where())


def _first_missing(path: str) -> str:
    """Give the first part of a missing path that is not there."""
    while (above := os.path.dirname(path)) != path and not os.path.lexists(above):
        path = above
    return path


def look_again(missing: tuple[Absent, ...]) -> tuple[Absent, ...]:
    """Tell, after a run, which of those that could be created are there now."""
    return tuple(one._replace(created=one.could_be_created and os.path.lexists(one.path)) for one in missing)
