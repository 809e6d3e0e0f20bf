"""Verdicts of a seccomp filter and the values that encode them (seccomp(2); `include/uapi/linux/seccomp.h`)."""

from enum import Enum

from sbc_runtime.records import NamedTuple

MAX_ERRNO = 4095
"""`MAX_ERRNO` (`include/linux/err.h`): the kernel caps a filter's errno at it."""

_ACTION_MASK = 0xFFFF0000
_DATA_MASK = 0x0000FFFF


class Action(Enum):
    """What the kernel does with a call, by its name in `.sbx` and with its `SECCOMP_RET_*` value."""

    KILL_PROCESS = ("kill-process", 0x80000000)
    KILL_THREAD = ("kill-thread", 0x00000000)
    TRAP = ("trap", 0x00030000)
    ERRNO = ("errno", 0x00050000)
    NOTIFY = ("notify", 0x7FC00000)
    TRACE = ("trace", 0x7FF00000)
    LOG = ("log", 0x7FFC0000)
    ALLOW = ("allow", 0x7FFF0000)

    def __init__(self, word: str, ret: int) -> None:
        self.word = word
        self.ret = ret


_BY_RET = {action.ret: action for action in Action}

_USES_DATA = frozenset({Action.ERRNO, Action.TRACE, Action.TRAP})


class Verdict(NamedTuple):
    """An action and its data: the errno of `ERRNO` (0..4095), the message of `TRACE`, `si_errno` of `TRAP`, else 0."""

    action: Action
    data: int = 0

    def ret(self) -> int:
        """Give the 32-bit return value of a filter that means this verdict."""
        return self.action.ret | self.data

    @staticmethod
    def of_ret(value: int) -> "Verdict":
        """Give what the kernel makes of a filter's return value (`__seccomp_filter`, `kernel/seccomp.c`).

        An unknown action kills the process; an errno above 4095 counts as 4095; data that an action ignores is 0.
        """
        action = _BY_RET.get(value & _ACTION_MASK, Action.KILL_PROCESS)
        data = value & _DATA_MASK if action in _USES_DATA else 0
        return Verdict(action, min(data, MAX_ERRNO) if action is Action.ERRNO else data)


ALLOW = Verdict(Action.ALLOW)
KILL_PROCESS = Verdict(Action.KILL_PROCESS)
KILL_THREAD = Verdict(Action.KILL_THREAD)


def errno_verdict(errno: int) -> Verdict:
    """Give the verdict that makes a call fail with `errno` (1..4095; `ValueError` outside)."""
    if not 1 <= errno <= MAX_ERRNO:
        raise ValueError(f"errno {errno} is outside 1..{MAX_ERRNO}")
    return Verdict(Action.ERRNO, errno)
