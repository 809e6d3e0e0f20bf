"""One step of the set-up of the file system."""

from typing import TypeVar

from sbc.backends.bwrap.words import argument
from sbc.policy.filesystem import DevicesKind, Files, PathRule, RootKind, StartIn, Tmp
from sbc.policy.process import IdentityValue
from sbc.policy.values import PathValue
from sbc.record import Record

ROOT = PathValue(None, "/")


class Mount(Record):
    """One step of the set-up at `place`: its arguments, and those that come after all mounts."""

    place: PathValue
    arguments: tuple[str, ...]
    last: tuple[str, ...] = ()
    rank: int = 1
    """Of steps of one depth, ours (0) come before the profile's (1)."""

    @property
    def order(self) -> tuple[tuple[int, int], int, str]:
        """Sort by depth alone."""
        return (self.place.depth, self.rank, str(self.place))


_Statement = TypeVar("_Statement", PathRule, Tmp, RootKind, DevicesKind, StartIn, IdentityValue)


def on_linux(statements: tuple[_Statement, ...]) -> tuple[_Statement, ...]:
    """Leave out what is said of macOS alone; what is said of Linux alone comes last."""
    held = [one for one in statements if one.origin.on != "macos"]
    return tuple(sorted(held, key=lambda one: one.origin.on == "linux"))


def host_root(files: Files) -> bool:
    """Tell whether the sandbox's root is the host's tree."""
    roots = on_linux(files.roots)
    return bool(roots) and roots[-1].kind == "host"


def shows_host(files: Files) -> bool:
    """Tell whether the sandbox's root shows the host's tree, by `root host` or by a statement on `/`."""
    return host_root(files) or any(rule.path == ROOT and rule.access != "hide" for rule in on_linux(files.rules))


def hidden(path: PathValue, place: PathValue, optional: bool, rank: int = 1) -> Mount:
    """Cover a path with nothing, file or folder; the folder becomes read-only once all mount points below are made."""
    name = "--sbc-hide-try" if optional else "--sbc-hide"
    return Mount(place, (name, argument(path), argument(place)), ("--sbc-seal", argument(place)), rank)
