"""Sockets of the host that were bound while a command ran, where the command could see them.

Covers are made before the start. What a service binds later in a folder that is visible, and not covered as a whole,
can be connected to: nothing keeps it from that, but the report says so, if the socket is still there after the run.
"""

import stat

from sbc_runtime import unix_diag
from sbc_runtime.prepare import host_mounts
from sbc_runtime.prepare.layout import Layout
from sbc_runtime.prepare.paths import look
from sbc_runtime.prepare.reserved import is_below
from sbc_runtime.prepared import Prepared


def notes(prepared: Prepared) -> tuple[str, ...]:
    """Give a note for each; only sockets of the caller's network namespace are known, so none of the command's own."""
    if prepared.network != "none":
        return ()
    before = frozenset(prepared.bound)
    told = unix_diag.bound()
    new = [one for one in (unix_diag.listed() if told is None else told) if unix_diag.key(one) not in before]
    if not new:
        return ()
    layout = Layout(prepared.host_root)
    for mount in prepared.mounts:
        layout.add(mount)
    mounts = host_mounts.read()
    found: dict[str, None] = {}
    for one in new:
        seen = look(one.name) if one.name.startswith("/") else None
        if seen is None or not stat.S_ISSOCK(seen.mode) or seen.inode & 0xFFFFFFFF != one.inode:
            continue
        for path in mounts.names(seen.real):
            for place in layout.seen_at(path):
                if not is_below(place, "/dev"):
                    found[f"the host's socket `{path}` was bound during the run, and could be connected to"] = None
    return tuple(found)
