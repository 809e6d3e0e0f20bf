"""Makes /dev of a sandbox of bubblewrap's, with all that is mounted below it, `noexec`: it has no option for that.

Done in the sandbox's mount namespace while the command is held before its exec, by a process that ends with it.
"""

import errno
import fcntl
import os

from sbc_runtime import kernel_view, libc
from sbc_runtime.bwrap_ipc import NS_GET_USERNS
from sbc_runtime.errors import SetupFailed
from sbc_runtime.mount_options import remount

_PLACE = "/dev"


def forbid_running(command: int) -> None:
    """Add the option; `command`: the pid of the held process. `SetupFailed`."""
    pid = os.fork()
    if pid == 0:
        number = errno.EIO
        try:
            _add_inside(kernel_view.folder(command))
            number = 0
        except OSError as error:
            number = error.errno or errno.EIO
        finally:
            os._exit(number)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code:
        why = f"{_PLACE} cannot be made noexec: {os.strerror(code) if code > 0 else 'killed'}"
        raise SetupFailed("bwrap", why, "use the namespace backend, or `devices none`", max(code, 0))


def _add_inside(process: int) -> None:
    table = os.open("mountinfo", os.O_RDONLY | os.O_CLOEXEC, dir_fd=process)
    space = os.open("ns/mnt", os.O_RDONLY | os.O_CLOEXEC, dir_fd=process)
    if os.geteuid() != 0:
        # Whoever made the owning user namespace has every capability in it (user_namespaces(7)).
        libc.setns(fcntl.ioctl(space, NS_GET_USERNS), libc.CLONE_NEWUSER)
    libc.setns(space, libc.CLONE_NEWNS)
    top = os.open(_PLACE, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        libc.mount_setattr(top, libc.ATTR_NOEXEC)
    except OSError as error:
        if error.errno not in {errno.ENOSYS, errno.EPERM}:
            raise
        remount(table, _PLACE, libc.ATTR_NOEXEC, recursive=True)
