"""The mounts of a run while they are gathered: which one covers a place, and where a path of the host is seen.

Both questions walk up a path's parents, so that the work grows with depth and not with the number of mounts.
"""

from sbc_runtime.errors import SetupFailed
from sbc_runtime.prepare.above import parents
from sbc_runtime.prepare.paths import Found
from sbc_runtime.prepared import Mount


def below(path: str, above: str) -> str:
    """Give what follows `above` in `path`, which it covers: empty, or beginning with `/`."""
    return path if above == "/" else path[len(above) :]


def joined(place: str, rest: str) -> str:
    """Put a rest behind a place."""
    return (place if place != "/" else "") + rest or "/"


def bind(found: Found, place: str, where: str, *, read_only: bool, noexec: bool = False, pin: bool = False) -> Mount:
    """Make a mount of what was found."""
    return Mount(
        "bind", place, found.real, found.device, found.inode, found.directory, read_only, noexec, 0, 0, where, pin
    )


def hide(place: str, directory: bool, where: str) -> Mount:
    """Make a cover."""
    return Mount("hide", place, "", 0, 0, directory, True, True, 0, 0, where)


class Layout:
    """Mounts by their places, and binds by their sources."""

    def __init__(self, host_root: bool) -> None:
        self.host_root = host_root
        self._by_place: dict[str, Mount] = {}
        self._by_source: dict[str, list[Mount]] = {}

    def add(self, mount: Mount) -> None:
        """Add a mount; `SetupFailed` where another one of other access is at its place."""
        known = self._by_place.get(mount.place)
        if known is not None:
            same = (known.kind, known.source, known.read_only, known.noexec)
            if same == (mount.kind, mount.source, mount.read_only, mount.noexec) or mount.pin:
                return
            if not known.pin:
                why = f"`{mount.place}` gets two kinds of access here, also by {known.where}"
                raise SetupFailed("paths", why, "give parameters that do not meet", where=mount.where)
        self._by_place[mount.place] = mount
        if mount.kind == "bind":
            self._by_source.setdefault(mount.source, []).append(mount)

    def mounts(self) -> tuple[Mount, ...]:
        """Give every mount so far, in no order that means anything."""
        return tuple(self._by_place.values())

    def at(self, place: str) -> Mount | None:
        """Give the mount at exactly this place."""
        return self._by_place.get(place)

    def covering(self, place: str) -> Mount | None:
        """Give the nearest mount strictly above a place; None: the root."""
        return next((self._by_place[one] for one in parents(place) if one in self._by_place), None)

    def shows_all(self) -> bool:
        """Whether the host's `/` is seen, by whatever name."""
        return self.host_root or "/" in self._by_source

    def seen_at(self, real: str) -> list[str]:
        """Give the places where a path of the host can be seen, through binds of it or of folders above it."""
        found: dict[str, None] = {}
        for above in (real, *parents(real)):
            for mount in self._by_source.get(above, ()):
                place = joined(mount.place, below(real, above))
                if place == mount.place or self.covering(place) is mount:
                    found[place] = None
        if self.host_root and self.at(real) is None and self.covering(real) is None:
            found[real] = None
        return list(found)

    def writable_through(self, real: str) -> bool:
        """Whether the command could create or change a path of the host."""
        return any(
            (mount := self.at(place) or self.covering(place)) is not None
            and mount.kind == "bind"
            and not mount.read_only
            for place in self.seen_at(real)
        )

    def ordered(self) -> tuple[Mount, ...]:
        """Give the mounts by depth, then by place; those that change nothing are left out."""
        kept = [mount for mount in self._by_place.values() if not self._redundant(mount)]
        return tuple(sorted(kept, key=lambda mount: (mount.depth, mount.place)))

    def _redundant(self, mount: Mount) -> bool:
        """Whether the nearest mount above shows the same, and allows the same: both read-only."""
        if mount.kind != "bind" or not mount.read_only:
            return False
        above = self.covering(mount.place)
        if above is None:
            return self.host_root and mount.place == mount.source and not mount.noexec
        return (
            above.kind == "bind"
            and above.read_only
            and above.noexec == mount.noexec
            and joined(above.source, below(mount.place, above.place)) == mount.source
        )
