"""Whether the command's host ids can get to a path at all."""

import os
import stat

from sbc_runtime import libc
from sbc_runtime.prepare.above import parents
from sbc_runtime.prepared import Ids


def closed_to(ids: Ids, path: str) -> bool:
    """Whether the command's host ids may not search a folder above a path: it can be neither used nor mounted on there.

    For an ordinary caller False: the command has the ids that have looked already.
    """
    if not ids.mapped_by_root:
        return False
    try:
        if all(os.lstat(one).st_mode & stat.S_IXOTH for one in parents(path)):
            return False
    except OSError:
        return False
    # Access lists and groups decide too: the kernel is asked, by a process that has these ids and ends.
    try:
        pid = libc.clone(0)
    except OSError:
        return False
    if pid == 0:
        code = 1
        try:
            os.setgroups([])
            os.setresgid(ids.host_group, ids.host_group, ids.host_group)
            os.setresuid(ids.host_user, ids.host_user, ids.host_user)
            os.lstat(path)
            code = 0
        except PermissionError:
            code = 2
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 2
