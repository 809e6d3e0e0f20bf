"""Conditions on the arguments of a call: numbers only, every name and sign already resolved.

A test looks at exactly the low `width` bits of the register that holds argument `arg` (0..5, the place in
`seccomp_data.args`), read as an unsigned number: the bits of the kernel's C type on that ABI. Orders on signed types
have become one or two unsigned intervals.
"""

from sbc.record import Record


class Masked(Record):
    """Masked equality: `(x & mask) == value`, with 0 < mask < 2^width and no bit of `value` outside `mask`."""

    arg: int
    width: int
    mask: int
    value: int


class Between(Record):
    """`low <= x <= high`, both ends in, with 0 <= low <= high < 2^width."""

    arg: int
    width: int
    low: int
    high: int


class Not(Record):
    """Holds where its operand does not."""

    operand: "Condition"


class AllOf(Record):
    """Holds where every operand does; always where there is none."""

    operands: "tuple[Condition, ...]"


class AnyOf(Record):
    """Holds where some operand does; never where there is none."""

    operands: "tuple[Condition, ...]"


Condition = Masked | Between | Not | AllOf | AnyOf

ALWAYS = AllOf(())
NEVER = AnyOf(())


def holds(condition: Condition, args: tuple[int, ...]) -> bool:
    """Evaluate a condition literally on six 64-bit register values."""
    match condition:
        case Masked(arg=arg, mask=mask, value=value):
            return args[arg] & mask == value
        case Between(arg=arg, width=width, low=low, high=high):
            return low <= args[arg] & ((1 << width) - 1) <= high
        case Not(operand=operand):
            return not holds(operand, args)
        case AllOf(operands=operands):
            return all(holds(operand, args) for operand in operands)
        case AnyOf(operands=operands):
            return any(holds(operand, args) for operand in operands)
