"""The one error of setting up a sandbox: whoever raises it has run nothing."""

import errno
import os

from sbc_runtime.outcome import Failure

OF_RESOURCES = {
    errno.EMFILE: "let the caller have more open files (`ulimit -n`)",
    # unix(7): the user's descriptors on their way through sockets, in all processes, beyond this one's RLIMIT_NOFILE.
    errno.ETOOMANYREFS: "let the caller have more open files (`ulimit -n`)",
    errno.ENFILE: "raise fs.file-max, or close what holds so many files open",
    errno.EAGAIN: "let the caller have more processes (`ulimit -u`, the cgroup's pids.max)",
    errno.EFBIG: "let the caller write larger files (`ulimit -f`)",
    errno.E2BIG: "give the command fewer or shorter arguments, or fewer variables",
    errno.ENOMEM: "let the caller have more memory (`ulimit -v`, the cgroup's memory.max)",
}
"""What these say is the same at every step: something has run out."""


class SetupFailed(Exception):
    """A step of the set-up failed: its name, why, and what can be done about it."""

    def __init__(self, step: str, why: str, remedy: str = "", errno: int = 0, where: str = "") -> None:
        self.failure = Failure(step, why, remedy, errno, where)
        super().__init__(str(self.failure))

    @staticmethod
    def of(step: str, error: OSError, remedy: str = "", where: str = "") -> "SetupFailed":
        """Make one of a failed system call."""
        number = error.errno or 0
        remedy = OF_RESOURCES.get(number, remedy)
        why = error.strerror or os.strerror(number)
        if error.filename is not None:
            why = f"{error.filename}: {why}"
        return SetupFailed(step, why, remedy, number, where)
