"""What is mounted where, by depth alone."""

from collections.abc import Iterator

from sbc.backends.bwrap.devices import COVERED, DEV, devices_of
from sbc.backends.bwrap.devices import losses as device_losses
from sbc.backends.bwrap.devices import mounts as device_mounts
from sbc.backends.bwrap.sockets import losses as socket_losses
from sbc.backends.bwrap.sockets import mounts as socket_mounts
from sbc.backends.bwrap.step import ROOT, Mount, hidden, host_root, on_linux
from sbc.backends.bwrap.tree import Tree, above
from sbc.backends.bwrap.words import NAME, argument, number
from sbc.backends.target import Loss
from sbc.policy.filesystem import Devices, Files, Tmp
from sbc.policy.network import Network
from sbc.policy.values import PathValue


def mounts(files: Files, network: Network) -> tuple[Mount, ...]:
    """Give every mount, in the order of the set-up."""
    rules = on_linux(files.rules)
    tree = Tree(rules)
    found = [*_areas(tree, devices_of(files)), *_pins(tree), *_tmps(on_linux(files.tmps)), *device_mounts(files)]
    found.append(Mount(PathValue(None, "/proc"), ("--proc", "/proc"), rank=0))
    said = {mount.place for mount in found}
    if ROOT not in said:
        found += _root(files)
    found += socket_mounts(files, network)
    return tuple(sorted(found, key=lambda mount: mount.order))


def _root(files: Files) -> Iterator[Mount]:
    if host_root(files):
        yield Mount(ROOT, ("--ro-bind", "/", "/"), rank=0)
    else:
        # bubblewrap begins with an empty file system of its own.
        yield Mount(ROOT, (), ("--remount-ro", "/"), rank=0)


def _areas(tree: Tree, devices: Devices) -> Iterator[Mount]:
    option = {"read": "--ro-bind", "write": "--bind"}
    for rule in tree.rules:
        place = rule.place or tree.place(rule.path)
        if rule.access == "hide":
            if DEV.covers(place) and (devices != "host" or place in COVERED):
                continue  # nothing of the host's is there
            yield hidden(rule.path, place, rule.optional)
            if rule.path.base == "home":
                variable = PathValue(":HOME", rule.path.rest)
                yield hidden(variable, variable if place == rule.path else place, optional=True)
            continue
        name = option[rule.access] + ("-try" if rule.optional else "")
        yield Mount(place, (name, argument(rule.path), argument(place)))


def _pins(tree: Tree) -> Iterator[Mount]:
    """Make mount points of the writable folders above a protected path, so that they cannot be renamed.

    A folder that holds a mount point can be moved, and its path made anew; a mount point itself cannot.
    """
    pinned: dict[PathValue, None] = {}
    for rule in tree.rules:
        if rule.access == "write":
            continue
        for path in above(rule.path):
            covering = tree.rule(path)
            if covering is None or covering.access != "write":
                break
            if path not in tree and path != ROOT:
                pinned[path] = None
    for path in pinned:
        place = tree.place(path)
        yield Mount(place, ("--bind-try", argument(path), argument(place)))


def _tmps(tmps: tuple[Tmp, ...]) -> Iterator[Mount]:
    for tmp in tmps:
        budget = () if tmp.inodes is None else ("--sbc-inodes", number(tmp.inodes))
        size = () if tmp.size is None else ("--size", number(tmp.size))
        yield Mount(tmp.path, (*budget, "--perms", "1777", *size, "--tmpfs", argument(tmp.path)))


def losses(files: Files, network: Network) -> Iterator[Loss]:
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
    yield from socket_losses(files, network)
