"""Tests on the bits of one register: from C comparisons to masked equalities and unsigned intervals.

Everything here is arithmetic on numbers; names, ABIs and diagnostics are elsewhere. What holds always or never is
folded away.
"""

from collections.abc import Iterable
from typing import NamedTuple

from sbc.policy.conditions import ALWAYS, NEVER, AllOf, AnyOf, Between, Condition, Masked, Not


class Register(NamedTuple):
    """What is looked at: the low `width` bits of argument `arg`, read as a signed number or not."""

    arg: int
    width: int
    signed: bool

    @property
    def full(self) -> int:
        """The mask of all bits."""
        return (1 << self.width) - 1

    @property
    def lowest(self) -> int:
        """The lowest number of the type."""
        return -(1 << (self.width - 1)) if self.signed else 0

    @property
    def highest(self) -> int:
        """The highest number of the type."""
        return (1 << (self.width - 1)) - 1 if self.signed else self.full

    def accepts(self, value: int) -> bool:
        """Tell whether a literal fits: -2^(w-1) <= value < 2^w."""
        return -(1 << (self.width - 1)) <= value <= self.full


def all_of(operands: Iterable[Condition]) -> Condition:
    """Join conditions that must all hold."""
    kept: list[Condition] = []
    for operand in operands:
        if operand == NEVER:
            return NEVER
        kept.extend(operand.operands if isinstance(operand, AllOf) else (operand,))
    return kept[0] if len(kept) == 1 else AllOf(tuple(kept))


def any_of(operands: Iterable[Condition]) -> Condition:
    """Join conditions of which one must hold."""
    kept: list[Condition] = []
    for operand in operands:
        if operand == ALWAYS:
            return ALWAYS
        kept.extend(operand.operands if isinstance(operand, AnyOf) else (operand,))
    return kept[0] if len(kept) == 1 else AnyOf(tuple(kept))


def negated(operand: Condition) -> Condition:
    """Turn a condition around."""
    if isinstance(operand, Not):
        return operand.operand
    if operand == ALWAYS:
        return NEVER
    return ALWAYS if operand == NEVER else Not(operand)


def masked(register: Register, mask: int, value: int) -> Condition:
    """`(x & mask) == value`, both taken modulo 2^w."""
    mask &= register.full
    value &= register.full
    if value & ~mask:
        return NEVER
    return Masked(register.arg, register.width, mask, value) if mask else ALWAYS


def equal(register: Register, value: int) -> Condition:
    """`x == value`."""
    return masked(register, register.full, value)


def among(register: Register, values: Iterable[int]) -> Condition:
    """`x` is one of `values`."""
    return any_of(equal(register, value) for value in dict.fromkeys(value & register.full for value in values))


def between(register: Register, low: int, high: int) -> Condition:
    """`low <= x <= high` as numbers of the register's type; ends outside the type are cut off."""
    low, high = max(low, register.lowest), min(high, register.highest)
    if low > high:
        return NEVER
    if low < 0 <= high:  # the negative numbers are the upper half of the unsigned ones
        return any_of((_interval(register, low, -1), _interval(register, 0, high)))
    return _interval(register, low, high)


def _interval(register: Register, low: int, high: int) -> Condition:
    low, high = low & register.full, high & register.full
    if low == high:
        return equal(register, low)
    if (low, high) == (0, register.full):
        return ALWAYS
    return Between(register.arg, register.width, low, high)


def ordered(register: Register, operator: str, value: int) -> Condition:
    """`x < value` and the other orders, on the register's type."""
    if not register.signed:
        value &= register.full
    match operator:
        case "<":
            return between(register, register.lowest, value - 1)
        case "<=":
            return between(register, register.lowest, value)
        case ">":
            return between(register, value + 1, register.highest)
        case ">=":
            return between(register, value, register.highest)
        case "==":
            return equal(register, value)
        case _:
            return negated(equal(register, value))


def has(register: Register, quantifier: str, bits: int) -> Condition:
    """`x has any|all|none|only bits`."""
    match quantifier:
        case "any":
            return negated(masked(register, bits, 0))
        case "all":
            return masked(register, bits, bits)
        case "none":
            return masked(register, bits, 0)
        case _:
            return masked(register, ~bits, 0)
