"""What is looked at again after the run: protected paths that the command could make, or replace.

A mount keeps what it is mounted on from being renamed or removed, and pins do so for the folders above; a link cannot
be mounted over, and other processes of the host are not held by the mounts of a sandbox. Nor is a file's second name.
"""

import stat

from sbc_runtime.errors import SetupFailed
from sbc_runtime.outcome import Absent
from sbc_runtime.plan import Statement
from sbc_runtime.prepare.above import parents
from sbc_runtime.prepare.layout import Layout
from sbc_runtime.prepare.paths import Found
from sbc_runtime.prepare.steps import Way, walk
from sbc_runtime.prepared import Watched
from sbc_runtime.records import NamedTuple


class Protected(NamedTuple):
    """A path as it is spelled, with what it leads to. `matters`: whether its being made would be of account."""

    statement: Statement
    path: str
    found: Found | None
    hidden: bool = False
    matters: bool = True


def look_ahead(protected: list[Protected], layout: Layout) -> tuple[tuple[Watched, ...], tuple[Absent, ...]]:
    """Give the steps of each path on which the command could change something, and the paths that are not there."""
    reach = _Reach(layout)
    watched: list[Watched] = []
    absent: list[Absent] = []
    for one in protected:
        where = one.statement.where()
        changeable = False
        if one.path.startswith("/") and one.matters:
            way = walk(one.path, where)
            changeable = reach.on(way)
            if one.found is not None:
                _compare(one, one.found, way)
            changed = _written_by_name(one)
            if changeable or changed:
                watched.append(Watched(where, one.statement.text, one.path, way.steps, changed))
        if one.found is None:
            absent.append(Absent(where, one.statement.text, one.path, changeable))
    return tuple(watched), tuple(absent)


def _written_by_name(one: Protected) -> int:
    """Give when a file with other names was last changed. Nobody can set that, and no mount is over those names."""
    found = one.found
    if found is None or one.hidden or not stat.S_ISREG(found.mode) or found.names == 1:
        return 0
    return found.changed


def _compare(one: Protected, found: Found, way: Way) -> None:
    end = next((step for step in way.steps if step.place == way.real), None)
    same = end is None or (end.device, end.inode) == (found.device, found.inode)
    if way.missing or way.real != found.real or not same:
        why = f"`{one.path}` changes while it is looked up"
        raise SetupFailed("paths", why, "try again", where=one.statement.where())


class _Reach:
    """Whether the command could change what names stand in a folder."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._known: dict[str, bool] = {}

    def on(self, way: Way) -> bool:
        folders = {step.parent for step in way.steps}
        if way.missing:
            folders.update(parents(way.real)[:1])
        return any(self._into(folder) for folder in folders)

    def _into(self, folder: str) -> bool:
        known = self._known.get(folder)
        if known is None:
            known = self._known[folder] = self._layout.writable_through(folder)
        return known
