"""Conditions on one argument as sets of values, held as sorted intervals.

Most rules ask whether one argument is in some ranges (an equality is a range of one value, a set of constants is
several). Rules of that kind have a diagram that grows with their number, not with their combinations: `first_match`.
"""

from typing import NamedTuple

from sbc.policy.conditions import AllOf, AnyOf, Between, Condition, Masked, Not

Range = tuple[int, int]
"""First and last value."""


class Ranges(NamedTuple):
    """The values of the low `width` bits of argument `arg` that a condition holds for: sorted, with gaps between."""

    arg: int
    width: int
    ranges: tuple[Range, ...]


def ranges_of(condition: Condition) -> Ranges | None:
    """Give a condition as ranges of one argument, where it is one: whole-width tests of one argument, combined."""
    match condition:
        case Masked(arg=arg, width=width, mask=mask, value=value):
            return Ranges(arg, width, ((value, value),)) if mask == (1 << width) - 1 else None
        case Between(arg=arg, width=width, low=low, high=high):
            return Ranges(arg, width, ((low, high),))
        case Not(operand=operand):
            inner = ranges_of(operand)
            return inner and _complement(inner)
        case AnyOf(operands=operands):
            return _united([ranges_of(operand) for operand in operands])
        case AllOf(operands=operands):
            united = _united([ranges_of(Not(operand)) for operand in operands])
            return united and _complement(united)


def _complement(inner: Ranges) -> Ranges:
    made: list[Range] = []
    start = 0
    for low, high in inner.ranges:
        if start < low:
            made.append((start, low - 1))
        start = high + 1
    if start < 1 << inner.width:
        made.append((start, (1 << inner.width) - 1))
    return Ranges(inner.arg, inner.width, tuple(made))


def _united(parts: list[Ranges | None]) -> Ranges | None:
    """Unite sets of values; None where there is none or they are not of one argument at one width."""
    known = [part for part in parts if part is not None]
    if not known or len(known) < len(parts) or len({(part.arg, part.width) for part in known}) > 1:
        return None
    made: list[Range] = []
    for low, high in sorted(bounds for part in known for bounds in part.ranges):
        if made and low <= made[-1][1] + 1:
            made[-1] = (made[-1][0], max(made[-1][1], high))
        else:
            made.append((low, high))
    return Ranges(known[0].arg, known[0].width, tuple(made))
