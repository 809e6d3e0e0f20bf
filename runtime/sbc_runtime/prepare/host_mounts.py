"""The host's mounts: on which file system a path lies, and by which other paths the same file is seen."""

import os

from sbc_runtime.kernel_view import plain
from sbc_runtime.prepare.above import parents
from sbc_runtime.prepare.layout import below, joined
from sbc_runtime.records import NamedTuple

_KERNEL = frozenset({"proc", "sysfs"})


class HostMount(NamedTuple):
    """A mount: its file system as "major:minor", the folder of it that is shown, where, and the kind."""

    device: str
    root: str
    place: str
    kind: str


class HostMounts:
    """The mounts that this process sees, by place; of several at one place the last. `kernel`: every proc and sysfs."""

    def __init__(self, content: bytes) -> None:
        """`content`: of mountinfo (proc_pid_mountinfo(5))."""
        self.by_place: dict[str, HostMount] = {}
        self.kernel: list[HostMount] = []
        self.by_device: dict[str, list[HostMount]] = {}
        for line in content.splitlines():
            fields = line.split(b" ")
            kind = fields[fields.index(b"-", 6) + 1].decode()
            one = HostMount(fields[2].decode(), plain(fields[3]), plain(fields[4]), kind)
            self.by_place[one.place] = one
            if kind in _KERNEL:
                self.kernel.append(one)
        for one in self.by_place.values():
            self.by_device.setdefault(one.device, []).append(one)

    def of(self, path: str) -> HostMount | None:
        """Give the mount that a path without links lies on."""
        return next((self.by_place[one] for one in (path, *parents(path)) if one in self.by_place), None)

    def names(self, path: str) -> list[str]:
        """Give every path at which mounts show the file of a path without links, itself first."""
        here = self.of(path)
        found = [path]
        if here is None:
            return found
        inside = joined(here.root, below(path, here.place))
        for other in self.by_device[here.device]:
            if inside == other.root or inside.startswith(other.root.rstrip("/") + "/"):
                name = joined(other.place, below(inside, other.root))
                if name != path and self.of(name) is other:
                    found.append(name)
        return found

    def within(self, path: str) -> list[str]:
        """Give the places, outside of a folder without links, where mounts show something in it."""
        here = self.of(path)
        if here is None:
            return []
        inside = joined(here.root, below(path, here.place)).rstrip("/") + "/"
        start = path.rstrip("/") + "/"
        return [
            one.place
            for one in self.by_device[here.device]
            if one.root.startswith(inside) and not one.place.startswith(start)
        ]

    def below(self, path: str) -> list[HostMount]:
        """Give the mounts strictly below a path."""
        start = path.rstrip("/") + "/"
        return [one for place, one in self.by_place.items() if place.startswith(start) and place != path]


def read() -> HostMounts:
    """Read them now."""
    descriptor = os.open("/proc/self/mountinfo", os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts: list[bytes] = []
        while part := os.read(descriptor, 1 << 16):
            parts.append(part)
    finally:
        os.close(descriptor)
    return HostMounts(b"".join(parts))
