"""The `files` statements as mounts: the most specific one decides, whatever their order."""

import stat

from sbc_runtime.errors import SetupFailed
from sbc_runtime.plan import PathRule
from sbc_runtime.prepare.above import parents
from sbc_runtime.prepare.gitdir import pointed
from sbc_runtime.prepare.host_mounts import HostMounts
from sbc_runtime.prepare.layout import Layout, below, bind, hide, joined
from sbc_runtime.prepare.movers import Movers
from sbc_runtime.prepare.own import OWN, refuse_inside
from sbc_runtime.prepare.owner import check_owner
from sbc_runtime.prepare.paths import Found, folder_within, look, resolve
from sbc_runtime.prepare.reserved import Kernel, is_below, refuse_place, refuse_source
from sbc_runtime.prepare.values import Bases
from sbc_runtime.prepare.watched import Protected
from sbc_runtime.prepared import Ids


class Areas:
    """Carries the statements over into a layout, and gathers what is to be reported of them."""

    def __init__(self, layout: Layout, bases: Bases, ids: Ids, kernel: Kernel) -> None:
        self.layout = layout
        self.bases = bases
        self.ids = ids
        self.kernel = kernel
        self.links: dict[str, str] = {}
        self.notes: list[str] = []
        self.protected: list[Protected] = []
        self._protecting: list[tuple[PathRule, Found]] = []

    def add_all(self, rules: tuple[PathRule, ...]) -> None:
        """Add every statement: what shows something first, then what protects in it."""
        found: list[tuple[PathRule, Found]] = []
        missing: list[PathRule] = []
        for rule in rules:
            seen = self._found(rule)
            if seen is None:
                missing.append(rule)
            else:
                found.append((rule, seen))
        movers = Movers(found)
        for rule, seen in found:
            if rule.access != "hide":
                self._show(rule, seen, movers)
            if rule.access != "write":
                self._protecting.append((rule, seen))
                self._watch(rule, seen)
        for rule, seen in self._protecting:
            self._protect(rule, seen)
        for rule in missing:
            self._watch(rule, None)

    def add_elsewhere(self, mounts: HostMounts) -> None:
        """Protect what is protected also where mounts of the host show it by another path.

        Once everything else is there: it is never shown because of that. A `read` protects where it is part of what
        can be written.
        """
        for rule, found in self._protecting:
            if rule.access == "hide" or self._in_writable(found):
                for other in _elsewhere(mounts, found):
                    self._protect_at(rule, other)

    def add_git(self, mounts: HostMounts) -> None:
        """Make read-only what a protected `.git` leads to, wherever it can be seen once everything else is there.

        It is never shown because of that.
        """
        for one in tuple(self.protected):
            if one.found is None or not one.path.endswith("/.git") or one.hidden:
                continue
            where = one.statement.where()
            for path, found in pointed(one.path, one.found, where):
                self.protected.append(Protected(one.statement, path, found))
                for seen in () if found is None else (found, *_elsewhere(mounts, found)):
                    self._narrow(one.path, seen, where)

    def add_own(self, paths: tuple[str, ...], mounts: HostMounts) -> None:
        """Make read-only what runs the command (`own`), wherever it can be seen once everything else is there."""
        for path in paths:
            found = look(path)
            if found is None:
                continue
            refuse_inside(self.layout, found)
            writable = self.layout.writable_through(found.real)
            for seen in (found, *_elsewhere(mounts, found)):
                self._narrow(path, seen, OWN)
            if writable:
                self.notes.append(f"`{found.real}` is read-only: it is part of what runs the command")

    def _narrow(self, spelled: str, found: Found, where: str) -> None:
        for place in self.layout.seen_at(found.real):
            here = self.layout.at(place)
            if here is None or here.pin:
                self.layout.add(bind(found, place, where, read_only=True)._replace(narrows=True))
                self._pin(place, where)
            elif here.kind == "bind" and not here.read_only:
                self.notes.append(f"`{spelled}` ({where}) leads to `{found.real}`, writable by {here.where}")

    def _watch(self, rule: PathRule, found: Found | None) -> None:
        spelled = self.bases.spelled(rule.path)
        self.protected.append(Protected(rule.statement, spelled, found, rule.access == "hide", rule.access != "write"))

    def _found(self, rule: PathRule) -> Found | None:
        where = rule.statement.where()
        home_hide = rule.access == "hide" and rule.path.base == "home"
        found = self.bases.look_up(rule.path, where, follow=home_hide)
        if home_hide and self.bases.home_variable is not None:
            path = self.bases.home_variable.real.rstrip("/") + rule.path.rest
            other = resolve(path, where)
            if other is not None:
                refuse_source(rule, other, self.kernel)
                self._protecting.append((rule, other))
                self.protected.append(Protected(rule.statement, path, other, hidden=True))
        if found is None and not rule.optional:
            why = f"`{self.bases.spelled(rule.path)}` does not exist"
            raise SetupFailed("paths", why, "create it, or make the statement `optional`", 2, where)
        if found is not None:
            refuse_source(rule, found, self.kernel)
        return found

    def _show(self, rule: PathRule, found: Found, movers: Movers) -> None:
        where = rule.statement.where()
        place = self._place(rule, found, movers)
        refuse_place(rule, found, place)
        if rule.access == "read" and stat.S_ISFIFO(found.mode):
            self.notes.append(
                f"`{found.real}` ({where}) is a named pipe: no mount keeps the command from writing to it"
            )
        if rule.access == "write":
            check_owner(found, self.ids, where)
        self.layout.add(bind(found, place, where, read_only=rule.access == "read", noexec=rule.noexec))
        if rule.place is None:
            self.links.update(found.links)
            if rule.path.base is not None:
                self.links.update(self.bases.found[rule.path.base].links)

    def _place(self, rule: PathRule, found: Found, movers: Movers) -> str:
        """Give the sandbox path of a rule: its own `as`, or moved with the nearest path above it that has one.

        What is moved with another is placed by its path without links, as the moved folder shows it.
        """
        if rule.place is not None and not movers.moves(rule):
            return self.bases.spelled(rule.place)
        above = movers.nearest(found.real)
        if above is None:
            return found.real
        real, to = above
        return joined(self.bases.spelled(to), below(found.real, real))

    def _in_writable(self, found: Found) -> bool:
        above = [self.layout.covering(place) for place in self.layout.seen_at(found.real)]
        return any(one is not None and one.kind == "bind" and not one.read_only for one in above)

    def _protect(self, rule: PathRule, found: Found) -> None:
        self._protect_at(rule, found)
        if not found.directory and found.names > 1:
            self.notes.append(
                f"`{found.real}` ({rule.statement.where()}) has {found.names - 1} other name(s), by which it may be "
                "reached"
            )

    def _protect_at(self, rule: PathRule, found: Found) -> None:
        where = rule.statement.where()
        # Also where another mount shows the same object by another path.
        for place in self.layout.seen_at(found.real):
            here = self.layout.at(place)
            if here is not None and not here.pin:
                if rule.access == "hide" and here.kind == "bind" and here.where != where:
                    why = f"`{found.real}` is shown by {here.where} and hidden"
                    raise SetupFailed("paths", why, "give parameters that do not meet", where=where)
                self._pin(place, where)
                continue
            if rule.access == "hide":
                self.layout.add(hide(place, found.directory, where))
            else:
                self.layout.add(bind(found, place, where, read_only=True, noexec=rule.noexec))
            self._pin(place, where)

    def _pin(self, place: str, where: str) -> None:
        """Make mount points of the writable folders above a protected path, so that they cannot be renamed.

        A folder that holds a mount point can be moved, and its path made anew; a mount point itself cannot be
        (`rename(2)`: EBUSY).
        """
        for above in parents(place):
            here = self.layout.at(above)
            if here is not None:
                continue
            area = self.layout.covering(above)
            if area is None or area.kind != "bind" or area.read_only:
                return
            found = folder_within(area.source, area.device, area.inode, below(above, area.place), where)
            self.layout.add(bind(found, above, where, read_only=False, noexec=area.noexec, pin=True))


def _elsewhere(mounts: HostMounts, found: Found) -> list[Found]:
    """Give what else mounts of the host show of a path: the same object, and what lies in it.

    What cannot be looked up by the caller cannot be by the command. /proc and /dev are the sandbox's own.
    """
    names = (*mounts.names(found.real)[1:], *mounts.within(found.real))
    seen = [look(one) for one in names if not is_below(one, "/proc") and not is_below(one, "/dev")]
    return [one for one in seen if one is not None]
