"""What a supervisor, and with it the sandbox, takes over from the caller, and what it leaves behind."""

import contextlib
import os
import resource
import signal
import time

from sbc_runtime import libc
from sbc_runtime.arch import Arch
from sbc_runtime.errors import SetupFailed
from sbc_runtime.filter_outcomes import may_pass
from sbc_runtime.instruction import OFFSET_ARCH, OFFSET_NR, unpack
from sbc_runtime.job import Caller
from sbc_runtime.numbers import calls

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
    """Whether this process has tried to get a session keyring of its own, and why it has none."""

    keyring = False
    lost: OSError | None = None


def leave_keyring() -> None:
    """Leave the caller's session keyring, where the kernel, and any filter around us, lets it be left."""
    for attempt in range(0 if _Done.keyring else 50):
        try:
            libc.new_session_keyring()
        except OSError as error:
            if error.errno == _EDQUOT and attempt < 49:
                time.sleep(0.01)  # keys of runs that have ended are collected a little later
                continue
            if error.errno not in {1, 38}:
                raise SetupFailed.of("keyring", error, "raise kernel.keys.maxkeys") from None
            _Done.lost = error
        _Done.keyring = True
        return


def kept_keyring(program: bytes | None, arch: Arch | None) -> str | None:
    """Say what it means that the session keyring is still the caller's; None: it is not.

    `SetupFailed` where the command could use it: joining another one is denied here, keyctl(2) as such is not, nor by
    the profile's filter `program`. A filter around us is around the command, too.
    """
    lost = _Done.lost
    if lost is None:
        return None
    why = f"no session keyring of its own: {os.strerror(lost.errno or 0)}"
    if not libc.has_session_keyring():
        return f"{why}; keyctl(2) is not to be had here, nor by the command"
    if program is not None and arch is not None:
        known = unpack(program, arch.byte_order)
        keyctl = {OFFSET_ARCH: arch.audit, OFFSET_NR: calls(os.uname().machine).keyctl}
        if not may_pass(known, keyctl):
            return f"{why}; the profile's filter denies keyctl(2)"
    remedy = "deny @keyring in the profile, or let KEYCTL_JOIN_SESSION_KEYRING through the filter around this program"
    raise SetupFailed("keyring", f"{why}, and the caller's could be used", remedy, lost.errno or 0)
