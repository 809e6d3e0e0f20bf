"""Looks for socket files in what a sandbox shows of some file systems, up to a number of names.

Not searched: `/` as a whole, and the system's own folders, where nobody but uid 0 can put anything.
"""

import os
import stat
from collections.abc import Iterator

from sbc_runtime.prepare.host_mounts import HostMounts
from sbc_runtime.prepare.layout import Layout, below, joined
from sbc_runtime.prepare.reserved import is_below

MOST_NAMES = 10_000
"""How many names are looked at in one run: about 10 ms."""

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/boot")
_VIRTUAL = frozenset({"proc", "sysfs", "devtmpfs", "devpts", "cgroup", "cgroup2", "securityfs", "debugfs", "tracefs"})


class Search:
    """One search.

    `tops`: (device, path of the host, place) of what is searched, the deepest first. `found`: device and inode of each
    socket that was found. `unsearched`, `system`: (device, place) of what could not be searched to its end, and of what
    is not searched.
    """

    def __init__(self, layout: Layout, mounts: HostMounts, devices: frozenset[str] | None) -> None:
        """`devices`: the file systems to search; None: all that can hold a socket."""
        self._layout = layout
        self._mounts = mounts
        self._left = MOST_NAMES
        self.tops: list[tuple[str, str, str]] = []
        self.found: set[tuple[str, int]] = set()
        self.unsearched: list[tuple[str, str]] = []
        self.system: list[tuple[str, str]] = []
        if devices is None or devices:
            self._find_tops(devices)

    def _find_tops(self, devices: frozenset[str] | None) -> None:
        shown = [(mount.source, mount.place) for mount in self._layout.mounts() if mount.kind == "bind"]
        if self._layout.host_root and self._layout.at("/") is None:
            shown.append(("/", "/"))
        for source, place in shown:
            here = self._mounts.of(source)
            inner = [(one, one.place) for one in self._mounts.below(source) if one.kind not in _VIRTUAL]
            for one, path in ([] if here is None else [(here, source)]) + inner:
                if one.device in devices if devices is not None else one.kind not in _VIRTUAL:
                    self.tops.append((one.device, path, joined(place, below(path, source))))
        self.tops.sort(key=lambda top: (-top[1].count("/"), top))

    def sockets(self) -> Iterator[str]:
        """Give the paths of the host of sockets, once `tops` are searched as far as names last."""
        for device, path, place in self.tops:
            if _is_system(path):
                self.system.append((device, place))
            elif path == "/":
                self.unsearched.append((device, place))
            else:
                yield from self._below(device, path, place)

    def _below(self, device: str, top: str, top_place: str) -> Iterator[str]:
        waiting = [top]
        while waiting:
            path = waiting.pop()
            place = joined(top_place, below(path, top))
            # What another mount of the plan, or of the host, covers is another top, or not seen.
            if path != top and (self._covered(place) or path in self._mounts.by_place):
                continue
            try:
                with os.scandir(path) as entries:
                    for entry in entries:
                        self._left -= 1
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
                        elif not entry.is_file(follow_symlinks=False) and self._is_socket(entry, device):
                            yield entry.path
            except NotADirectoryError:
                if self._is_socket_file(path, device):
                    yield path
            except OSError:
                continue  # closed to the caller, and so to the command; or gone
            if self._left < 0:
                self.unsearched.append((device, top_place))
                return

    def _covered(self, place: str) -> bool:
        here = self._layout.at(place)
        return here is not None and not here.pin

    def _is_socket(self, entry: os.DirEntry[str], device: str) -> bool:
        if entry.is_symlink():
            return False
        return self._is_socket_file(entry.path, device)

    def _is_socket_file(self, path: str, device: str) -> bool:
        seen = os.lstat(path)
        if stat.S_ISSOCK(seen.st_mode):
            self.found.add((device, seen.st_ino & 0xFFFFFFFF))
            return True
        return False


def _is_system(path: str) -> bool:
    if not any(is_below(path, one) for one in _SYSTEM):
        return False
    try:
        seen = os.lstat(path)
    except OSError:
        return False
    return seen.st_uid == 0 and not seen.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
