"""Verdicts in the language's words."""

from functools import cache

from sbc.kernel.constants import errno
from sbc_runtime.action import Action, Verdict

_SECOND_NAMES = frozenset({"EWOULDBLOCK", "EDEADLOCK", "ENOTSUP"})
"""Names that share their number with a better known one on most ABIs."""


@cache
def errno_name(abi: str, value: int) -> str | None:
    """Give the name of an error number, or None where it has none."""
    names = [name for name, number in errno(abi).items() if number == value]
    return min(names, key=lambda name: (name in _SECOND_NAMES, name), default=None)


def verdict_text(verdict: Verdict, abi: str) -> str:
    """Give a verdict as a profile writes it: `deny EPERM`, `trace 7`, `allow`."""
    if verdict.action is Action.ERRNO:
        return f"deny {errno_name(abi, verdict.data) or verdict.data}"
    if verdict.action is Action.TRACE:
        return f"trace {verdict.data}"
    return verdict.action.word


def is_enosys(verdict: Verdict, abi: str) -> bool:
    """Tell whether a verdict says that the call does not exist."""
    return verdict.action is Action.ERRNO and verdict.data == errno(abi)["ENOSYS"]
