"""Objects of the host as detached trees, each the very one that was found before the start."""

import os

from sbc_runtime import libc
from sbc_runtime.mount_options import BASE, attributes
from sbc_runtime.prepare.paths import reopen
from sbc_runtime.prepared import Mount, Prepared


def root_of(prepared: Prepared) -> Mount | None:
    """Give the mount that a statement on `/` makes, which is the root then."""
    return next((mount for mount in prepared.mounts if mount.place == "/" and mount.kind == "bind"), None)


def clone_sources(mounts: tuple[Mount, ...], host_root: bool, *, options: bool = True) -> dict[str, int]:
    """Clone every source; descriptors of detached trees by place. `options`: whether each gets its own here.

    For uid 0, before the ids change: the command's ids need not be able to search the folders above.
    """
    root = os.open("/", os.O_PATH | os.O_CLOEXEC)
    trees: dict[str, int] = {}
    if host_root and not any(mount.place == "/" for mount in mounts):
        trees["/"] = libc.open_tree(root)
        if options:
            libc.mount_setattr(trees["/"], BASE | libc.ATTR_RDONLY)
    for mount in mounts:
        if mount.kind == "bind":
            trees[mount.place] = clone(root, mount)
            if options:
                libc.mount_setattr(trees[mount.place], attributes(mount))
    os.close(root)
    return trees


def clone(root: int, mount: Mount) -> int:
    """Clone the source of a bind, and every mount below it; `root`: a descriptor of the host's `/`."""
    source = reopen(root, mount.source, mount.device, mount.inode)
    try:
        return libc.open_tree(source)
    finally:
        os.close(source)
