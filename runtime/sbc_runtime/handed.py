"""The ends of a run's own pipes and terminal that the command is handed, and whom they belong to.

They were made by whoever runs this, and where that is root the command could use them, and not open them by name
(/dev/stderr, /proc/self/fd/1): the kernel looks at the owner then. They are made for one run and end with it, and who
has the command's id could reach them through the command anyway, so they are given to it.
"""

import contextlib
import os

from sbc_runtime.prepared import Ids


def give(descriptor: int, ids: Ids) -> None:
    """Let a pipe that was made for this run belong to its command.

    Root without CAP_CHOWN cannot: the command then has its descriptors, and only their names are closed to it.
    """
    if ids.mapped_by_root:
        with contextlib.suppress(OSError):
            os.fchown(descriptor, ids.host_user, ids.host_group)


def terminal(ids: Ids) -> tuple[int, int]:
    """Make a terminal of the host's: the controlling side, and the command's, which only the command may open."""
    controlling, inner = os.openpty()
    os.fchmod(inner, 0o600)
    give(inner, ids)
    return controlling, inner
