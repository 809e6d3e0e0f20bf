"""The `files` statements as mounts: the most specific one decides, whatever their order."""

import os
import stat

from sbc_runtime.errors import SetupFailed
from sbc_runtime.outcome import Absent
from sbc_runtime.plan import PathRule
from sbc_runtime.prepare.layout import Layout, below, bind, hide, joined, parents
from sbc_runtime.prepare.movers import Movers
from sbc_runtime.prepare.paths import Found, resolve
from sbc_runtime.prepare.reserved import Kernel, refuse_place, refuse_source
from sbc_runtime.prepare.values import Bases
from sbc_runtime.prepared import Ids

_GIT_FILE = b"gitdir: "


class Areas:
    """Carries the statements over into a layout, and gathers what is to be reported of them."""

    def __init__(self, layout: Layout, bases: Bases, ids: Ids, kernel: Kernel) -> None:
        self.layout = layout
        self.bases = bases
        self.ids = ids
        self.kernel = kernel
        self.links: dict[str, str] = {}
        self.absent: list[Absent] = []
        self.notes: list[str] = []
        self._protected: list[tuple[PathRule, Found]] = []

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
                self._protected.append((rule, seen))
        for rule, seen in self._protected:
            self._protect(rule, seen)
        for rule in missing:
            spelled = self.bases.spelled(rule.path)
            self.absent.append(
                Absent(
                    rule.statement.where(),
                    rule.statement.text,
                    spelled,
                    rule.access != "write" and self.layout.writable_through(spelled),
                )
            )

    def _found(self, rule: PathRule) -> Found | None:
        where = rule.statement.where()
        home_hide = rule.access == "hide" and rule.path.base == "home"
        found = self.bases.look_up(rule.path, where, follow=home_hide)
        if home_hide and self.bases.home_variable is not None:
            other = resolve(self.bases.home_variable.real.rstrip("/") + rule.path.rest, where)
            if other is not None:
                refuse_source(rule, other, self.kernel)
                self._protected.append((rule, other))
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
        if rule.access == "write":
            self._check_owner(found, where)
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

    def _protect(self, rule: PathRule, found: Found) -> None:
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
        if not found.directory and found.names > 1:
            self.notes.append(
                f"`{found.real}` ({where}) has {found.names - 1} other name(s), by which it may be reached"
            )
        if rule.access == "read" and found.real.endswith("/.git") and stat.S_ISREG(found.mode):
            self._protect_git_folder(rule, found)

    def _protect_git_folder(self, rule: PathRule, found: Found) -> None:
        """Protect what a work tree's `.git` file points to, where it is visible; never show it because of that."""
        with open(found.real, "rb") as file:
            content = file.read(4096)
        if not content.startswith(_GIT_FILE):
            return
        target = os.fsdecode(content[len(_GIT_FILE) :].split(b"\n")[0])
        seen = resolve(os.path.join(os.path.dirname(found.real), target), rule.statement.where())
        if seen is not None and seen.directory:
            for place in self.layout.seen_at(seen.real):
                if self.layout.at(place) is None:
                    self.layout.add(bind(seen, place, rule.statement.where(), read_only=True))
                    self._pin(place, rule.statement.where())

    def _pin(self, place: str, where: str) -> None:
        """Make mount points of the writable folders above a protected path, so that they cannot be renamed.

        A folder that holds a mount point can be moved, and its path made anew; a mount point itself cannot be
        (`rename(2)`: EBUSY).
        """
        for above in parents(place):
            here = self.layout.at(above)
            if here is not None:
                if here.pin:
                    continue
                return
            area = self.layout.covering(above)
            if area is None or area.kind != "bind" or area.read_only:
                return
            found = resolve(joined(area.source, below(above, area.place)), where)
            if found is not None:
                self.layout.add(bind(found, above, where, read_only=False, noexec=area.noexec, pin=True))

    def _check_owner(self, found: Found, where: str) -> None:
        """Refuse what the command, which has the host's ids of the plan, could not write to after all."""
        ids = self.ids
        if not ids.mapped_by_root or found.mode & stat.S_IWOTH:
            return
        if found.owner == ids.host_user and found.mode & stat.S_IWUSR:
            return
        if found.group == ids.host_group and found.mode & stat.S_IWGRP:
            return
        why = f"`{found.real}` belongs to {found.owner}:{found.group}, the command runs as the host's {ids.host_user}"
        raise SetupFailed("paths", why, f"chown -R {ids.host_user}:{ids.host_group} {found.real}", 13, where)
