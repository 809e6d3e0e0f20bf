"""What is mounted where, by depth alone."""

from collections.abc import Iterator

from sbc.backends.bwrap.devices import losses as device_losses
from sbc.backends.bwrap.devices import mounts as device_mounts
from sbc.backends.bwrap.step import ROOT, Mount, hidden, host_root, on_linux
from sbc.backends.bwrap.words import NAME, argument, number
from sbc.backends.target import Loss
from sbc.policy.filesystem import Files, PathRule, Tmp
from sbc.policy.network import Network, UnixSocket
from sbc.policy.values import PathValue

SOCKET_FOLDERS = ("/run", "/tmp", "/var/run", "/var/tmp")  # noqa: S108 (covered, not used)
"""Where hosts keep sockets. A network namespace does not keep anybody from connecting to one that can be seen."""


def place_of(rule: PathRule, rules: tuple[PathRule, ...]) -> PathValue:
    """Give the sandbox path of a rule: its own `as`, or moved with the nearest path above it that has one."""
    if rule.place is not None:
        return rule.place
    movers = [one for one in rules if one.place is not None and one.path.covers(rule.path)]
    if not movers:
        return rule.path
    nearest = max(movers, key=lambda one: len(one.path.parts))
    moved = nearest.seen_as
    below = "".join(f"/{part}" for part in rule.path.parts[len(nearest.path.parts) :])
    return PathValue(moved.base, (moved.rest + below) if moved != ROOT else below or "/")


def mounts(files: Files, network: Network) -> tuple[Mount, ...]:
    """Give every mount, in the order of the set-up."""
    rules = on_linux(files.rules)
    found = [*_areas(rules), *_pins(rules), *_tmps(on_linux(files.tmps)), *device_mounts(files)]
    found.append(Mount(PathValue(None, "/proc"), ("--proc", "/proc"), rank=0))
    said = {mount.place for mount in found}
    if ROOT not in said:
        found += _root(files)
    if network.mode == "none":
        found += _sockets(network)
        if host_root(files) or ROOT in said:
            covers = (PathValue(None, folder) for folder in SOCKET_FOLDERS)
            found += [hidden(place, place, optional=True, rank=0) for place in covers if place not in said]
    return tuple(sorted(found, key=lambda mount: mount.order))


def _root(files: Files) -> Iterator[Mount]:
    if host_root(files):
        yield Mount(ROOT, ("--ro-bind", "/", "/"), rank=0)
    else:
        # bubblewrap begins with an empty file system of its own.
        yield Mount(ROOT, (), ("--remount-ro", "/"), rank=0)


def _areas(rules: tuple[PathRule, ...]) -> Iterator[Mount]:
    option = {"read": "--ro-bind", "write": "--bind"}
    for rule in rules:
        place = place_of(rule, rules)
        if rule.access == "hide":
            yield hidden(rule.path, place, rule.optional)
            if rule.path.base == "home":
                variable = PathValue(":HOME", rule.path.rest)
                yield hidden(variable, variable if place == rule.path else place, optional=True)
            continue
        name = option[rule.access] + ("-try" if rule.optional else "")
        yield Mount(place, (name, argument(rule.path), argument(place)))


def _pins(rules: tuple[PathRule, ...]) -> Iterator[Mount]:
    """Make mount points of the writable folders above a protected path, so that they cannot be renamed.

    A folder that holds a mount point can be moved, and its path made anew; a mount point itself cannot.
    """
    said = {rule.path for rule in rules}
    pinned: dict[PathValue, None] = {}
    for rule in rules:
        if rule.access == "write":
            continue
        for length in range(len(rule.path.parts) - 1, 0, -1):
            above = PathValue(rule.path.base, "".join(f"/{part}" for part in rule.path.parts[:length]))
            covering = [one for one in rules if one.path.covers(above)]
            if not covering or max(covering, key=lambda one: len(one.path.parts)).access != "write":
                break
            if above not in said:
                pinned[above] = None
    for path in pinned:
        pin = PathRule("write", path, rules[0].origin)
        place = argument(place_of(pin, rules))
        yield Mount(place_of(pin, rules), ("--bind-try", argument(path), place))


def _tmps(tmps: tuple[Tmp, ...]) -> Iterator[Mount]:
    for tmp in tmps:
        budget = () if tmp.inodes is None else ("--sbc-inodes", number(tmp.inodes))
        size = () if tmp.size is None else ("--size", number(tmp.size))
        yield Mount(tmp.path, (*budget, "--perms", "1777", *size, "--tmpfs", argument(tmp.path)))


def _sockets(network: Network) -> Iterator[Mount]:
    for one in network.allowances:
        if isinstance(one, UnixSocket) and one.origin.on != "macos":
            # To connect needs no writable mount.
            yield Mount(one.path, ("--ro-bind", argument(one.path), argument(one.path)))


def losses(files: Files) -> Iterator[Loss]:
    """Say what bubblewrap has no option for."""
    for rule in on_linux(files.rules):
        if rule.noexec and rule.access != "hide":
            yield Loss(NAME, "wider", rule.origin, "bubblewrap cannot forbid running what is there")
    for tmp in on_linux(files.tmps):
        if tmp.noexec:
            yield Loss(NAME, "wider", tmp.origin, "bubblewrap cannot forbid running what is there")
        if tmp.inodes is not None:
            why = "bubblewrap has no inode budget; the plan asks for it by `--sbc-inodes`"
            yield Loss(NAME, "wider", tmp.origin, why, deferred=True)
    yield from device_losses(files)
