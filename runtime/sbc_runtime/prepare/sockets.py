"""Sockets of the host that could be connected to through the file system.

connect(2) to a socket's path works through a read-only mount and from another network namespace. `network none`
therefore also means: no such path may be seen. The kernel tells which sockets are bound, by file system and inode
(`unix_diag`); each that is found, by its name or by a search of bounded length, is covered wherever it is seen. What is
not found is told. Where the kernel does not tell, every socket file that is seen counts as bound.

Not seen by anybody: sockets bound in another network namespace whose folder is visible here, and those that are bound
while the command runs, outside of the folders that are covered as a whole.
"""

import os
import stat
from collections.abc import Iterator

from sbc_runtime import unix_diag
from sbc_runtime.job import Caller
from sbc_runtime.outcome import RunLoss
from sbc_runtime.plan import Statement
from sbc_runtime.prepare.above import parents
from sbc_runtime.prepare.host_mounts import HostMounts
from sbc_runtime.prepare.layout import Layout, hide
from sbc_runtime.prepare.paths import look
from sbc_runtime.prepare.reachable import closed_to
from sbc_runtime.prepare.reserved import is_below
from sbc_runtime.prepare.socket_search import Search
from sbc_runtime.prepare.values import Bases
from sbc_runtime.prepared import SOCKET, Ids
from sbc_runtime.records import NamedTuple
from sbc_runtime.unix_diag import Bound

FOLDERS = ("/run", "/var/run", "/tmp", "/var/tmp")  # noqa: S108 (covered, not used)
"""Where hosts keep sockets; covered in a sandbox that shows the host's tree. /dev/shm is its own, or not there."""

_OWN_DEVICES = ("/dev/shm", "/dev/pts")  # noqa: S108 (not used)
"""Never the host's, even where its other devices are shown."""

_IN_MEMORY = frozenset({"tmpfs", "ramfs"})
_NAMES_SHOWN = 3


class Covers(NamedTuple):
    """What was covered, what is not known, what could be wider for that, and what was bound (`Prepared.bound`)."""

    places: tuple[str, ...]
    notes: tuple[str, ...]
    losses: tuple[RunLoss, ...]
    bound: tuple[tuple[str, int], ...] = ()


class Shown(NamedTuple):
    """What decides about a run's covers: `allowed`, sockets that may be connected to, by their paths without links.

    `by_path`: the backend looks places up as the command's host id, so that nothing is mounted in a closed folder.
    """

    layout: Layout
    bases: Bases
    ids: Ids
    caller: Caller
    allowed: frozenset[str]
    statement: Statement
    devices: str
    by_path: bool = False

    def places(self, path: str) -> list[str]:
        """Give the places where a path of the host is seen; /dev is the sandbox's own, if it is not the host's."""
        found = [place for place in self.layout.seen_at(path) if not is_below(place, "/dev")]
        if self.devices == "host" and is_below(path, "/dev") and not any(is_below(path, one) for one in _OWN_DEVICES):
            found.append(path)
        return found


def cover(shown: Shown, mounts: HostMounts) -> Covers:
    """Cover every socket that can be found, in the layout."""
    covering = _Covering(shown, mounts)
    if shown.layout.shows_all():
        covering.folders((*FOLDERS, *_runtime_dir(shown)))
    told = unix_diag.bound()
    if told is None:
        covering.notes.append(
            "the kernel does not tell the inodes of bound sockets here (unix_diag, NETLINK_SOCK_DIAG): those of "
            "/proc/net/unix were covered by name, and every socket file that a search of what is shown found"
        )
        told = unix_diag.listed()
        covering.inodes_known = False
    covering.sockets(told)
    losses = (*_stated(shown), *covering.losses)
    bound = tuple(unix_diag.key(one) for one in told)
    return Covers(tuple(covering.covered), tuple(covering.notes), losses, bound)


def _stated(shown: Shown) -> Iterator[RunLoss]:
    """Name the sockets that a statement on files shows: who is connected to is for the network list to say."""
    for mount in shown.layout.mounts():
        if mount.kind != "bind" or mount.directory or mount.source in shown.allowed:
            continue
        if stat.S_ISSOCK(os.lstat(mount.source).st_mode):
            why = f"`{mount.source}` is a socket of the host, and can be connected to; `unix PATH` is the way to say so"
            yield RunLoss("wider", mount.where, shown.statement.text, why)


def _runtime_dir(shown: Shown) -> tuple[str, ...]:
    """Give XDG_RUNTIME_DIR where it is what its specification says: a folder of the caller's that nobody else may use.

    The variable is the caller's: it must not cover what the profile or the command's user needs.
    """
    variable = shown.caller.runtime_dir
    found = None if variable is None else look(variable)
    if found is None or not found.directory or found.owner != os.getuid() or found.mode & 0o077:
        return ()
    return () if _holds(found.real, shown) else (found.real,)


def _holds(folder: str, shown: Shown) -> bool:
    """Whether a folder is, or lies above, what a statement or a parameter names, or the home."""
    needed = [mount.source for mount in shown.layout.mounts() if mount.kind == "bind"]
    needed += [one.real for one in shown.bases.found.values()]
    needed += [mount.place for mount in shown.layout.mounts() if mount.kind == "tmpfs"]
    needed += [shown.caller.home, shown.caller.cwd]
    return any(folder in {one, *parents(one)} for one in needed if one != "/")


class _Covering:
    """Adds covers to a layout."""

    def __init__(self, shown: Shown, mounts: HostMounts) -> None:
        self._shown = shown
        self._layout = shown.layout
        self._mounts = mounts
        self.covered: list[str] = []
        self.notes: list[str] = []
        self.losses: list[RunLoss] = []
        self.inodes_known = True

    def folders(self, paths: tuple[str, ...]) -> None:
        """Cover folders as a whole where they are seen as a part of the host's tree.

        What a statement on a folder below `/` shows stays; sockets in it are covered one by one.
        """
        for path in paths:
            seen = look(path)
            for place in () if seen is None else self._shown.places(seen.real):
                above = self._layout.covering(place)
                if self._layout.at(place) is None and (above is None or above.source == "/"):
                    self._cover(place, directory=True)

    def sockets(self, told: tuple[Bound, ...]) -> None:
        """Cover each socket by its name, or by searching where it can be."""
        lost: list[Bound] = []
        for one in told:
            found = self._named(one)
            if found is None:
                lost.append(one)
            elif found != "":
                self._in_memory(found)
                for name in self._mounts.names(found):
                    self._file(name)
        # Where a name is all that is known, another socket may have it by now: every socket file is looked for.
        devices = frozenset(one.device for one in lost) if self.inodes_known else None
        search = Search(self._layout, self._mounts, devices)
        if search.tops:
            self._search(search, lost)

    def _named(self, one: Bound) -> str | None:
        """Give a socket's path without links; "" where its name is in a closed folder; None: it has to be searched."""
        if not one.name.startswith("/"):
            return None
        try:
            os.lstat(one.name)
        except PermissionError:
            return ""
        except (OSError, ValueError):
            return None
        found = look(one.name)
        if found is None or not stat.S_ISSOCK(found.mode):
            return None
        if not one.device:
            return found.real
        here = self._mounts.of(found.real)
        same = here is not None and here.device == one.device and found.inode & 0xFFFFFFFF == one.inode
        if same and found.names > 1:
            # It is covered by this name; by its other ones it is searched for.
            self._file(found.real)
            return None
        return found.real if same else None

    def _in_memory(self, path: str) -> None:
        """Cover, where the host's tree is shown, a whole file system in memory that holds a socket and nothing needed.

        No socket that is bound there later is seen either.
        """
        here = self._mounts.of(path)
        if self._layout.shows_all() and here is not None and here.kind in _IN_MEMORY and here.place != "/":
            if here.place in FOLDERS or _holds(here.place, self._shown):
                return
            self.folders((here.place,))

    def _file(self, path: str) -> None:
        if path in self._shown.allowed:
            return
        if self._shown.by_path and self._shown.places(path) and closed_to(self._shown.ids, path):
            self.notes.append(f"`{path}` is in a folder that the command may not search now, and is not covered")
            return
        for place in self._shown.places(path):
            if self._layout.at(place) is None:
                self._cover(place, directory=False)

    def _cover(self, place: str, *, directory: bool) -> None:
        self._layout.add(hide(place, directory, SOCKET))
        self.covered.append(place)

    def _search(self, search: Search, lost: list[Bound]) -> None:
        for path in search.sockets():
            self._file(path)
        left = [one for one in lost if (one.device, one.inode) not in search.found]
        for unsearched, are_own in ((search.unsearched, True), (search.unsearched + search.system, False)):
            devices = {device for device, _ in unsearched}
            missing = [one for one in left if one.device in devices and self._is_own(one) is are_own]
            missing += [one for one in left if devices and not one.device and self._is_own(one) is are_own]
            if not missing:
                continue
            places = ", ".join(f"`{place}`" for _, place in unsearched[:_NAMES_SHOWN])
            names = ", ".join(f"`{one.name}`" for one in missing[:_NAMES_SHOWN])
            why = (
                f"{len(missing)} bound socket(s) of the host ({names}) have no name that leads to them; whether one "
                f"is seen in {places} is not known: too much is there to be searched"
            )
            if not self.inodes_known:
                why += "; with its module unix_diag the kernel tells"
            if are_own:
                statement = self._shown.statement
                self.losses.append(RunLoss("wider", statement.where(), statement.text, why))
            else:
                self.notes.append(why)

    def _is_own(self, one: Bound) -> bool:
        """Whether the command could connect to a socket: its maker has the command's host id, or is not known.

        One that was bound in a folder that is covered has most likely been removed there, and is nobody's any more.
        """
        gone = any(above in self.covered for above in parents(one.name)) if one.name.startswith("/") else False
        return one.uid in {None, self._shown.ids.host_user} and not gone
