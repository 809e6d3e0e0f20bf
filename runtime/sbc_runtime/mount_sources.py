"""Objects of the host as detached trees, each the very one that was found before the start; and what they cover.

For uid 0, before the ids change: the command's ids need not be able to search the folders above a source, nor those
above what is covered or made read-only.
"""

import contextlib
import os
import stat

from sbc_runtime import libc
from sbc_runtime.mount_options import BASE, attributes
from sbc_runtime.prepare.above import parents
from sbc_runtime.prepare.layout import below, joined
from sbc_runtime.prepare.paths import reopen
from sbc_runtime.prepared import Mount, Prepared
from sbc_runtime.records import NamedTuple


class Sources(NamedTuple):
    """Descriptors by place: `trees` that are mounted there, and `targets`, what is there, to be mounted on."""

    trees: dict[str, int]
    targets: dict[str, int]

    def descriptors(self) -> tuple[int, ...]:
        """Give all of them, trees first."""
        return (*self.trees.values(), *self.targets.values())


def root_of(prepared: Prepared) -> Mount | None:
    """Give the mount that a statement on `/` makes, which is the root then."""
    return next((mount for mount in prepared.mounts if mount.place == "/" and mount.kind == "bind"), None)


def clone_sources(mounts: tuple[Mount, ...], host_root: bool, *, options: bool = True) -> dict[str, int]:
    """Clone every source; descriptors of detached trees by place. `options`: whether each gets its own here."""
    root = os.open("/", os.O_PATH | os.O_CLOEXEC)
    trees: dict[str, int] = {}
    if host_root and not any(mount.place == "/" for mount in mounts):
        trees["/"] = libc.open_tree(root)
        _separate(trees["/"], BASE | libc.ATTR_RDONLY, options)
    for mount in mounts:
        if mount.kind == "bind":
            trees[mount.place] = clone(root, mount)
            _separate(trees[mount.place], attributes(mount), options)
    os.close(root)
    return trees


def _separate(tree: int, wanted: int, options: bool) -> None:
    """Make a clone private, and give it its options.

    A clone of a shared mount is its peer (mount_namespaces(7)): what is mounted on one would appear on the other, on
    the host as well as in the sandbox, with whatever options it has.
    """
    if options:
        libc.mount_setattr(tree, wanted, propagation=libc.MS_PRIVATE)
    else:
        libc.mount(None, f"/proc/self/fd/{tree}", None, libc.MS_REC | libc.MS_PRIVATE)


def clone(root: int, mount: Mount) -> int:
    """Clone the source of a bind, and every mount below it; `root`: a descriptor of the host's `/`."""
    source = reopen(root, mount.source, mount.device, mount.inode)
    try:
        return libc.open_tree(source)
    finally:
        os.close(source)


def closed_targets(prepared: Prepared, trees: dict[str, int]) -> tuple[dict[str, int], frozenset[str]]:
    """Open, in the trees, what read-only mounts and covers go over, where not everybody may search the folders above.

    Gives descriptors by place, and the places of covers of which nothing is there any more: with the command's ids
    that could not be told from what is closed.

    A cover is made there all the same: modes may change while the command runs. What the command is to write to is left
    out: it could not get there.
    """
    by_place = {mount.place: mount for mount in prepared.mounts}
    found: dict[str, int] = {}
    gone: set[str] = set()
    known: dict[str, bool] = {}
    for mount in prepared.mounts:
        above = next((one for one in parents(mount.place) if one in by_place), "/")
        if not mount.read_only or mount.place == "/" or above not in trees:
            continue
        rest = below(mount.place, above)
        top = by_place[above].source if above in by_place else "/"
        if not is_closed(top, joined(top, rest), known):
            continue
        rule = libc.RESOLVE_BENEATH | libc.RESOLVE_NO_SYMLINKS
        try:
            found[mount.place] = libc.openat2(trees[above], rest.lstrip("/"), os.O_PATH, rule)
        except FileNotFoundError:
            if not mount.may_vanish:
                raise
            gone.add(mount.place)
    return found, frozenset(gone)


def is_closed(top: str, path: str, known: dict[str, bool]) -> bool:
    """Tell whether a folder above `path`, from `top` on, may not be searched by everybody. `known`: told before."""
    for folder in parents(path):
        if folder not in known:
            known[folder] = False  # also where it is gone: whoever opens what was in it finds that out
            with contextlib.suppress(FileNotFoundError):
                known[folder] = not os.lstat(folder).st_mode & stat.S_IXOTH
        if known[folder]:
            return True
        if folder == top:
            break
    return False
