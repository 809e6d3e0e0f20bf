"""What a supervisor, and with it the sandbox, takes over from the caller, and what it leaves behind."""

import contextlib
import os
import resource
import signal
import time

from sbc_runtime import libc
from sbc_runtime.errors import SetupFailed
from sbc_runtime.job import Caller

_EDQUOT = 122


def set_signals() -> None:
    """Handle as a supervisor has to what the helper handles otherwise."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)


def differs(caller: Caller) -> bool:
    """Tell whether the caller has other limits or another niceness than this process."""
    return bool(_limits(caller)) or os.getpriority(os.PRIO_PROCESS, 0) != caller.nice


def _limits(caller: Caller) -> list[tuple[int, int, int]]:
    """Give the caller's limits that are not this process's."""
    return [one for one in caller.limits if resource.getrlimit(one[0]) != one[1:]]


def take_over(caller: Caller) -> bool:
    """Take over what the caller has now: its limits, as far as they are lower than ours, its niceness, its umask.

    Gives whether this process had other limits or another niceness.
    """
    os.umask(caller.umask)
    if not differs(caller):
        return False
    for number, soft, hard in _limits(caller):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(number, (soft, hard))
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, caller.nice)
    return True


class _Done:
    """Whether this process has a session keyring of its own."""

    keyring = False


def leave_keyring() -> None:
    """Leave the caller's session keyring. A kernel without keys, or a filter around us, leaves nothing to reach."""
    for attempt in range(0 if _Done.keyring else 50):
        try:
            libc.new_session_keyring()
        except OSError as error:
            if error.errno == _EDQUOT and attempt < 49:
                time.sleep(0.01)  # keys of runs that have ended are collected a little later
                continue
            if error.errno not in {1, 38}:
                raise SetupFailed.of("keyring", error, "raise kernel.keys.maxkeys") from None
        _Done.keyring = True
        return
