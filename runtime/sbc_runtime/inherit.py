"""What a supervisor, and with it the sandbox, takes over from the caller, and what it leaves behind."""

import contextlib
import os
import resource
import signal
import time
from collections.abc import Callable

from sbc_runtime import libc, scheduling
from sbc_runtime.arch import Arch
from sbc_runtime.command import UMASK
from sbc_runtime.errors import SetupFailed
from sbc_runtime.filter_outcomes import may_pass
from sbc_runtime.instruction import OFFSET_ARCH, OFFSET_NR, unpack
from sbc_runtime.job import Caller
from sbc_runtime.numbers import calls
from sbc_runtime.scheduling import Scheduling

_EDQUOT = 122
_PR_SET_TIMERSLACK = 29


def set_signals() -> None:
    """Handle as a supervisor has to what the helper handles otherwise."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    # The caller's RLIMIT_FSIZE holds for what is captured as well.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def differs(caller: Caller) -> bool:
    """Tell whether the caller has other limits than this process, or is scheduled otherwise."""
    return bool(_limits(caller)) or bool(_steps(caller.scheduling))


def _steps(wanted: Scheduling) -> list[tuple[str, Callable[[], None]]]:
    """Give what has to be done to be scheduled as the caller is, by name."""
    have = scheduling.own()
    steps: list[tuple[str, Callable[[], None]]] = []
    if have.cpus != wanted.cpus:
        steps.append(("affinity", lambda: os.sched_setaffinity(0, wanted.cpus)))
    if (have.policy, have.priority) != (wanted.policy, wanted.priority):
        parameter = os.sched_param(wanted.priority)
        steps.append(("policy", lambda: os.sched_setscheduler(0, wanted.policy, parameter)))
    if have.nice != wanted.nice:
        steps.append(("niceness", lambda: os.setpriority(os.PRIO_PROCESS, 0, wanted.nice)))
    if wanted.slack not in {0, have.slack}:
        steps.append(("timer slack", lambda: libc.prctl(_PR_SET_TIMERSLACK, wanted.slack)))
    priority = libc.io_priority(wanted.thread)
    if priority not in {None, libc.io_priority(0)}:
        steps.append(("I/O priority", lambda: libc.set_io_priority(priority or 0)))
    return steps


def _limits(caller: Caller) -> list[tuple[int, int, int]]:
    """Give the caller's limits that are not this process's."""
    return [one for one in caller.limits if resource.getrlimit(one[0]) != one[1:]]


def take_over(caller: Caller) -> bool:
    """Take over what the caller has now: its limits, as far as they are lower than ours, and its scheduling.

    Not its umask: what is made for a run has the modes that are meant.
    Gives whether this process had other limits or was scheduled otherwise; `SetupFailed` where it has to stay so.
    """
    os.umask(UMASK)
    if not differs(caller):
        return False
    for number, soft, hard in _limits(caller):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(number, (soft, hard))
    for name, take in _steps(caller.scheduling):
        try:
            take()
        except OSError as error:
            why = f"the caller's {name} cannot be taken over: {error.strerror}"
            raise SetupFailed("scheduling", why, "let the calls of sched(7) through", error.errno or 0) from None
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
