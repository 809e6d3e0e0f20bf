"""What can be done about a set-up that failed, told from what the kernel or bubblewrap said."""

import errno
import signal

from sbc_runtime.errors import OF_RESOURCES

_USERNS = (
    "allow unprivileged user namespaces: `sysctl kernel.unprivileged_userns_clone=1` (Debian), an AppArmor profile for "
    "this program or `sysctl kernel.apparmor_restrict_unprivileged_userns=0` (Ubuntu); in a container, a seccomp "
    "profile that lets unshare, clone and mount through"
)
_COUNT = "raise user.max_user_namespaces and its siblings in /proc/sys/user"
_PROC = (
    "a /proc that is partly covered cannot be mounted anew: run outside the container or sandbox, or give it an "
    "unmasked /proc"
)
_PTRACE = "let ptrace(2) through: kernel.yama.ptrace_scope below 2, or a container whose seccomp profile allows it"

_ARGUMENTS = "give the command fewer arguments, or use the namespace backend"

_SEARCH = (
    "with `root host` bubblewrap looks paths up as the command's host id: let it search the folders above them, or use "
    "the namespace backend"
)

_KNOWN = (
    ("maximum number of arguments", _ARGUMENTS),
    (f"signal {int(signal.SIGXFSZ)} ", OF_RESOURCES[errno.EFBIG]),
    ("ENOSPC", _COUNT),
    ("No space left on device", _COUNT),
    ("max_", _COUNT),
    ("ptrace", _PTRACE),
    ("mount proc", _PROC),
    ("No permissions to create", _USERNS),
    ("Creating new namespace failed", _USERNS),
    ("uid map", _USERNS),
    ("gid map", _USERNS),
    ("clone", _USERNS),
    ("loopback", _USERNS),
    ("source path", _SEARCH),
    ("t mkdir", _SEARCH),
    ("slave", _USERNS),
    ("tmpfs", _USERNS),
    ("pivot_root", _USERNS),
)


def remedy(said: str) -> str:
    """Give the remedy for the first known part of a message; where none is known, where to ask."""
    return next((remedy for part, remedy in _KNOWN if part in said), "see `sbc doctor`")
