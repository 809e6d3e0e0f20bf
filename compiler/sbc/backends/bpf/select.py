"""Selection: tests on registers of up to 64 bits become tests on the 32-bit words that a filter can load.

A register is two words of `seccomp_data`; which is first depends on the byte order. Each test looks at exactly the
bits that the condition names: a 32-bit test never reads the high word.
"""

from typing import Literal

from sbc.backends.bpf.fields import FULL, Field
from sbc.policy.conditions import AllOf, AnyOf, Between, Condition, Masked, Not
from sbc.record import Record
from sbc_runtime.instruction import high_word_offset, low_word_offset

ByteOrder = Literal["little", "big"]


class WordTest(Record):
    """`low <= field <= high`."""

    field: Field
    low: int
    high: int


class Negation(Record):
    """Holds where its operand does not."""

    operand: "WordCondition"


class Every(Record):
    """Holds where every operand does."""

    operands: "tuple[WordCondition, ...]"


class Some(Record):
    """Holds where some operand does."""

    operands: "tuple[WordCondition, ...]"


WordCondition = WordTest | Negation | Every | Some


def select(condition: Condition, byte_order: ByteOrder) -> WordCondition:
    """Give the condition on words that means the same."""
    match condition:
        case Masked(arg=arg, mask=mask, value=value):
            words = ((high_word_offset(arg, byte_order), 32), (low_word_offset(arg, byte_order), 0))
            return _every(
                [
                    _masked(at, mask >> shift & FULL, value >> shift & FULL)
                    for at, shift in words
                    if mask >> shift & FULL
                ]
            )
        case Between(arg=arg, width=width, low=low, high=high):
            low_word = low_word_offset(arg, byte_order)
            if width == 64:
                return _wide(high_word_offset(arg, byte_order), low_word, low, high)
            return _between(Field(low_word, (1 << width) - 1), low, high)
        case Not(operand=operand):
            return Negation(select(operand, byte_order))
        case AllOf(operands=operands):
            return _every([select(operand, byte_order) for operand in _joined(operands)])
        case AnyOf(operands=operands):
            parts = tuple(select(operand, byte_order) for operand in operands)
            return parts[0] if len(parts) == 1 else Some(parts)


def _joined(operands: tuple[Condition, ...]) -> list[Condition]:
    """Join masked equalities on one argument that do not contradict each other.

    `x & 3 == 1 and x & 4 == 4` is `x & 7 == 5`.
    """
    joined: list[Condition] = []
    place: dict[tuple[int, int], int] = {}
    for operand in operands:
        if isinstance(operand, Masked):
            key = (operand.arg, operand.width)
            before = joined[place[key]] if key in place else None
            if isinstance(before, Masked) and not (before.value ^ operand.value) & before.mask & operand.mask:
                mask, value = before.mask | operand.mask, before.value | operand.value
                joined[place[key]] = Masked(operand.arg, operand.width, mask, value)
                continue
            place[key] = len(joined)
        joined.append(operand)
    return joined


def _every(parts: list[WordCondition]) -> WordCondition:
    return parts[0] if len(parts) == 1 else Every(tuple(parts))


def _masked(offset: int, mask: int, value: int) -> WordTest:
    """A mask of leading ones is an interval of the plain word: `x & 0xffff0000 == 0` is `x <= 0xffff`."""
    rest = ~mask & FULL
    if rest & (rest + 1) == 0:
        return WordTest(Field(offset), value, value | rest)
    return WordTest(Field(offset, mask), value, value)


def _between(field: Field, low: int, high: int) -> WordCondition:
    if low == 0 and high == field.mask:
        return Every(())
    return WordTest(field, low, high)


def _wide(high_offset: int, low_offset: int, low: int, high: int) -> WordCondition:
    """A range of 64-bit numbers: strictly between the ends' high words, or at one of them and right in the low word."""
    first, last = low >> 32, high >> 32
    low, high = low & FULL, high & FULL
    upper, lower = Field(high_offset), Field(low_offset)
    if first == last:
        return Every((WordTest(upper, first, first), _between(lower, low, high)))
    if low == 0:
        first -= 1
    if high == FULL:
        last += 1
    parts: list[WordCondition] = []
    if first + 1 < last:
        parts.append(_between(upper, first + 1, last - 1))
    if low != 0:
        parts.append(Every((WordTest(upper, first, first), WordTest(lower, low, FULL))))
    if high != FULL:
        parts.append(Every((WordTest(upper, last, last), WordTest(lower, 0, high))))
    return parts[0] if len(parts) == 1 else Some(tuple(parts))
