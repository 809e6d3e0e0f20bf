"""Folders where hosts keep sockets, and where a sandbox sees them.

A network namespace does not keep anybody from connecting to a socket that can be seen. With `network none` such a
folder is covered where it is seen only as a part of the host's tree. What a statement itself shows stays, and is told:
which sockets are there is known on the machine that runs, so whatever applies the plan has to cover them.
"""

from collections.abc import Iterator

from sbc.backends.bwrap.step import ROOT, Mount, hidden, host_root, on_linux
from sbc.backends.bwrap.tree import Tree, above
from sbc.backends.bwrap.words import NAME, argument
from sbc.backends.target import Loss
from sbc.policy.filesystem import Files, PathRule
from sbc.policy.network import Network, UnixSocket
from sbc.policy.values import PathValue

FOLDERS = tuple(PathValue(None, path) for path in ("/run", "/tmp", "/var/run", "/var/tmp"))  # noqa: S108 (covered)
_SERVICES = tuple(PathValue(None, path) for path in ("/run", "/var/run"))
"""Of these whatever is shown may be a socket, or hold one."""


def mounts(files: Files, network: Network) -> Iterator[Mount]:
    """Give the sockets that the network list names, and the covers."""
    if network.mode != "none":
        return
    for one in network.allowances:
        if isinstance(one, UnixSocket) and one.origin.on != "macos":
            # To connect needs no writable mount.
            yield Mount(one.path, ("--ro-bind", argument(one.path), argument(one.path)))
    for folder, place in covers(files):
        yield hidden(folder, place, optional=True, rank=0)


def covers(files: Files) -> Iterator[tuple[PathValue, PathValue]]:
    """Give each folder that is seen as a part of the host's tree, with its place; what a statement puts there stays."""
    rules = on_linux(files.rules)
    tree = Tree(rules)
    taken = {*(tree.place(rule.path) for rule in rules), *(tmp.path for tmp in on_linux(files.tmps))}
    root = next((rule for rule in rules if rule.path == ROOT and rule.access != "hide"), None)
    at_root = host_root(files) or (root is not None and tree.place(ROOT) == ROOT)
    for folder in FOLDERS:
        # Each place with the place of the tree that it is seen through.
        places = {folder: ROOT} if at_root else {}
        if root is not None and tree.rule(folder) is root:
            places[tree.place(folder)] = tree.place(ROOT)
        for place, through in places.items():
            if not any(one in taken - {through} for one in (place, *above(place))):
                yield folder, place


def losses(files: Files, network: Network) -> Iterator[Loss]:
    """Say what is covered, and which statements show such a folder."""
    if network.mode != "none":
        return
    covered = [f"`{place}`" for _, place in covers(files)]
    if covered:
        why = f"{', '.join(covered)} are covered: the host's sockets there could be connected to"
        yield Loss(NAME, "narrower", network.origin, why)
    rules = on_linux(files.rules)
    tree = Tree(rules)
    for rule in rules:
        if rule.access != "hide" and (shown := [str(place) for place in _shown(tree, rule)]):
            named = ", ".join(f"`{place}`" for place in dict.fromkeys(shown))
            why = f"a socket of the host at or below {named} can be connected to, unless it is covered"
            yield Loss(NAME, "wider", rule.origin, why, deferred=True)


def _shown(tree: Tree, rule: PathRule) -> Iterator[PathValue]:
    """Give the places where a rule shows such a folder, or something of one that holds services' sockets."""
    if rule.path == PathValue("tmpdir", ""):
        yield tree.place(rule.path)
    if rule.path == ROOT:
        return
    for folder in FOLDERS:
        if tree.rule(folder) is rule:
            yield tree.place(folder)
    if any(folder != rule.path and folder.covers(rule.path) for folder in _SERVICES):
        yield tree.place(rule.path)
