"""The one error of setting up a sandbox: whoever raises it has run nothing."""

import os

from sbc_runtime.outcome import Failure


class SetupFailed(Exception):
    """A step of the set-up failed: its name, why, and what can be done about it."""

    def __init__(self, step: str, why: str, remedy: str = "", errno: int = 0, where: str = "") -> None:
        self.failure = Failure(step, why, remedy, errno, where)
        super().__init__(str(self.failure))

    @staticmethod
    def of(step: str, error: OSError, remedy: str = "", where: str = "") -> "SetupFailed":
        """Make one of a failed system call."""
        number = error.errno or 0
        why = error.strerror or os.strerror(number)
        if error.filename is not None:
            why = f"{error.filename}: {why}"
        return SetupFailed(step, why, remedy, number, where)
