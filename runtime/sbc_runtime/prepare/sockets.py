"""Sockets of the host that could be connected to through the file system.

connect(2) to a socket's path works through a read-only mount and from another network namespace. `network none`
therefore also means: no such path may be seen.
"""

import os
import stat

from sbc_runtime.prepare.paths import look

FOLDERS = ("/run", "/var/run", "/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 (covered, not used)
"""Where hosts keep sockets; covered in a sandbox that shows the host's tree."""


def listed() -> tuple[str, ...]:
    """Give the paths, without links, of the sockets of this network namespace (`/proc/net/unix`) that are there."""
    found: dict[str, None] = {}
    try:
        with open("/proc/net/unix", "rb") as table:
            lines = table.read().splitlines()[1:]
    except OSError:
        return ()
    for line in lines:
        # Num RefCount Protocol Flags Type St Inode Path
        fields = line.split(None, 7)
        if len(fields) < 8 or not fields[7].startswith(b"/"):
            continue
        path = os.fsdecode(fields[7])
        seen = look(path)
        if seen is not None and stat.S_ISSOCK(seen.mode):
            found[seen.real] = None
    return tuple(found)
