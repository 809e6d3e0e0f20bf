"""The general path of the program road: 32-bit words as vectors of diagrams, one set of inputs for each bit.

Bit 0 of a vector is the least significant. All operations are exact and unsigned; what they cost is bounded by the
budget of the table.
"""

from typing import Literal

from sbc.decision.table import FALSE, TRUE, Table
from sbc.decision.words import BITS

Vector = tuple[int, ...]


def of_word(table: Table, word: int, mask: int) -> Vector:
    """Give a word of the input, with the bits outside `mask` zero."""
    last = BITS * word + BITS - 1
    return tuple(table.node(last - bit, FALSE, TRUE) if mask >> bit & 1 else FALSE for bit in range(BITS))


def of_constant(value: int) -> Vector:
    """Give a word that is the same for every input."""
    return tuple(TRUE if value >> bit & 1 else FALSE for bit in range(BITS))


def _xor(table: Table, left: int, right: int) -> int:
    return table.choose(left, table.outside(right), right)


def bitwise(table: Table, operation: Literal["and", "or", "xor"], left: Vector, right: Vector) -> Vector:
    """Give `left OPERATION right` for `and`, `or`, `xor`."""
    pairs = zip(left, right, strict=True)
    if operation == "and":
        return tuple(table.both(a, b) for a, b in pairs)
    if operation == "or":
        return tuple(table.either(a, b) for a, b in pairs)
    return tuple(_xor(table, a, b) for a, b in pairs)


def add(table: Table, left: Vector, right: Vector, carry: int = FALSE) -> Vector:
    """Give the sum modulo 2^32, with a carry into bit 0."""
    return _sum(table, left, right, carry)[0]


def subtract(table: Table, left: Vector, right: Vector) -> Vector:
    """Give the difference modulo 2^32."""
    return _difference(table, left, right)[0]


def _sum(table: Table, left: Vector, right: Vector, carry: int) -> tuple[Vector, int]:
    """Give the sum and the carry out of the top bit."""
    made: list[int] = []
    for a, b in zip(left, right, strict=True):
        odd = _xor(table, a, b)
        made.append(_xor(table, odd, carry))
        carry = table.choose(odd, carry, a)
    return tuple(made), carry


def _difference(table: Table, left: Vector, right: Vector) -> tuple[Vector, int]:
    """Give the difference and the set on which `left >= right`."""
    return _sum(table, left, tuple(table.outside(bit) for bit in right), TRUE)


def multiply(table: Table, left: Vector, right: Vector) -> Vector:
    """Give the product modulo 2^32."""
    made = of_constant(0)
    for place, bit in enumerate(right):
        if bit != FALSE:
            shifted = shift_left(left, place)
            made = add(table, made, tuple(table.both(bit, digit) for digit in shifted))
    return made


def divide(table: Table, left: Vector, right: Vector) -> Vector:
    """Give the quotient; what it is where `right` is zero does not matter, a filter has returned by then."""
    wide = (*right, FALSE)
    rest: Vector = (FALSE,) * (BITS + 1)
    quotient: list[int] = []
    for digit in reversed(left):
        rest = (digit, *rest[:-1])
        less, fits = _difference(table, rest, wide)
        rest = tuple(table.choose(fits, a, b) for a, b in zip(less, rest, strict=True))
        quotient.append(fits)
    return tuple(reversed(quotient))


def shift_left(value: Vector, places: int) -> Vector:
    """Shift by a constant, 0..31."""
    return (FALSE,) * places + value[: BITS - places]


def shift_right(value: Vector, places: int) -> Vector:
    """Shift by a constant, 0..31."""
    return value[places:] + (FALSE,) * places


def shift(table: Table, value: Vector, places: Vector, *, left: bool) -> Vector:
    """Shift by a vector, of which the low five bits count, as in the kernel's interpreter."""
    for stage in range(5):
        moved = shift_left(value, 1 << stage) if left else shift_right(value, 1 << stage)
        value = tuple(table.choose(places[stage], a, b) for a, b in zip(moved, value, strict=True))
    return value


def is_zero(table: Table, value: Vector) -> int:
    """Give the set on which the word is zero."""
    some = FALSE
    for bit in value:
        some = table.either(some, bit)
    return table.outside(some)


def equal(table: Table, left: Vector, right: Vector) -> int:
    """Give the set on which two words are equal."""
    return is_zero(table, bitwise(table, "xor", left, right))


def at_least(table: Table, left: Vector, right: Vector) -> int:
    """Give the set on which `left >= right`, unsigned."""
    return _difference(table, left, right)[1]
