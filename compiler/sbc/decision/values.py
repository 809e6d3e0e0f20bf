"""What a register or a word of scratch memory holds during symbolic execution.

Three forms, the cheapest that fits: a constant; a word of the input, masked; a vector of diagrams, one for each bit.
The form is canonical, so equal contents are equal Python values and states can be looked up by them.
"""

from sbc.decision import bit_vectors
from sbc.decision.bit_vectors import Vector
from sbc.decision.table import FALSE, TRUE, Table
from sbc.decision.words import BITS, WORD_MASK, MaskedWord
from sbc_runtime import instruction as bpf

Value = int | MaskedWord | Vector


def masked(value: MaskedWord, mask: int) -> Value:
    """Give `value & mask`."""
    kept = value.mask & mask
    return MaskedWord(value.word, kept) if kept else 0


def vector(table: Table, value: Value) -> Vector:
    """Give a value as a vector."""
    if isinstance(value, int):
        return bit_vectors.of_constant(value)
    if isinstance(value, MaskedWord):
        return bit_vectors.of_word(table, value.word, value.mask)
    return value


def simplest(table: Table, made: Vector) -> Value:
    """Give a vector in its cheapest form."""
    if all(bit in (FALSE, TRUE) for bit in made):
        return sum(1 << place for place, bit in enumerate(made) if bit == TRUE)
    words = {table.variable[bit] // BITS for bit in made if bit != FALSE}
    if len(words) == 1 and TRUE not in made:
        word = words.pop()
        mask = sum(1 << place for place, bit in enumerate(made) if bit != FALSE)
        if bit_vectors.of_word(table, word, mask) == made:
            return MaskedWord(word, mask)
    return made


def arithmetic(table: Table, operation: int, left: Value, right: Value) -> Value:
    """Give `left OPERATION right` for a `BPF_ALU` operation, as `___bpf_prog_run` (`kernel/bpf/core.c`) computes it.

    Division by zero is not for here: the program returns before it.
    """
    if operation == bpf.AND:
        if isinstance(left, MaskedWord) and isinstance(right, int):
            return masked(left, right)
        if isinstance(left, int) and isinstance(right, MaskedWord):
            return masked(right, left)
    if isinstance(left, int) and isinstance(right, int):
        return _on_constants(operation, left, right)
    return simplest(table, _on_vectors(table, operation, left, right))


def _on_constants(operation: int, left: int, right: int) -> int:
    match operation:
        case bpf.ADD:
            made = left + right
        case bpf.SUB:
            made = left - right
        case bpf.MUL:
            made = left * right
        case bpf.DIV:
            made = left // right
        case bpf.OR:
            made = left | right
        case bpf.AND:
            made = left & right
        case bpf.XOR:
            made = left ^ right
        case bpf.LSH:
            made = left << (right & BITS - 1)
        case bpf.RSH:
            made = left >> (right & BITS - 1)
        case _:
            raise ValueError(f"no operation {operation:#x}")
    return made & WORD_MASK


def _on_vectors(table: Table, operation: int, left: Value, right: Value) -> Vector:
    a = vector(table, left)
    if operation in (bpf.LSH, bpf.RSH):
        if isinstance(right, int):
            move = bit_vectors.shift_left if operation == bpf.LSH else bit_vectors.shift_right
            return move(a, right & BITS - 1)
        return bit_vectors.shift(table, a, vector(table, right), left=operation == bpf.LSH)
    b = vector(table, right)
    match operation:
        case bpf.ADD:
            return bit_vectors.add(table, a, b)
        case bpf.SUB:
            return bit_vectors.subtract(table, a, b)
        case bpf.MUL:
            return bit_vectors.multiply(table, a, b)
        case bpf.DIV:
            return bit_vectors.divide(table, a, b)
        case bpf.OR:
            return bit_vectors.bitwise(table, "or", a, b)
        case bpf.AND:
            return bit_vectors.bitwise(table, "and", a, b)
        case bpf.XOR:
            return bit_vectors.bitwise(table, "xor", a, b)
        case _:
            raise ValueError(f"no operation {operation:#x}")


def negated(table: Table, value: Value) -> Value:
    """Give `-value` modulo 2^32 (`BPF_NEG`)."""
    return arithmetic(table, bpf.SUB, 0, value)
