"""What `RET A` decides: a diagram of verdicts from a value that may differ from input to input."""

from sbc.decision.bit_vectors import Vector
from sbc.decision.table import FALSE, TRUE, Table
from sbc.decision.values import Value, vector
from sbc.decision.words import BITS
from sbc_runtime.action import MAX_ERRNO, Action, Verdict

_DATA_BITS = 16
_WITH_DATA = frozenset({Action.ERRNO.ret, Action.TRACE.ret, Action.TRAP.ret})
_KNOWN = tuple(action.ret for action in Action if action is not Action.KILL_PROCESS)


def diagram_of_return(table: Table, value: Value) -> int:
    """Give the verdicts of a filter that returns `value`, as `__seccomp_filter` (`kernel/seccomp.c`) takes them."""
    if isinstance(value, int):
        return table.terminal(Verdict.of_ret(value))
    return _block(table, vector(table, value), BITS, 0)


def _block(table: Table, bits: Vector, size: int, low: int) -> int:
    """Give the verdicts for the values `low .. low + 2^size - 1`, told apart by the bits below `size`."""
    if _same_verdict(size, low):
        return table.terminal(Verdict.of_ret(low))
    bit = bits[size - 1]
    if bit == FALSE:
        return _block(table, bits, size - 1, low)
    high = _block(table, bits, size - 1, low | 1 << size - 1)
    return high if bit == TRUE else table.choose(bit, high, _block(table, bits, size - 1, low))


def _same_verdict(size: int, low: int) -> bool:
    """Tell whether all values of a block mean one verdict."""
    if size == 0:
        return True
    if size <= _DATA_BITS:
        action, data = low >> _DATA_BITS << _DATA_BITS, low & (1 << _DATA_BITS) - 1
        return action not in _WITH_DATA or (action == Action.ERRNO.ret and data >= MAX_ERRNO)
    return not any(low <= action < low + (1 << size) for action in _KNOWN)
