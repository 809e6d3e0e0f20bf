"""Symbolic execution of a filter: which states reach which instruction, and how each one ends.

A state is what the registers and the scratch memory hold (`values`), and bounds that hold for `arch` and `nr` on the
way there. The bounds only cut off branches that no input takes; they are never needed for what a state decides.
"""

from typing import Literal, NamedTuple

from sbc.decision import bit_vectors
from sbc.decision.liveness import Live
from sbc.decision.returned import diagram_of_return
from sbc.decision.table import FALSE, TRUE, Table
from sbc.decision.values import Value, arithmetic, negated, vector
from sbc.decision.words import ARCH, NR, WORD_MASK, MaskedWord
from sbc_runtime import instruction as bpf
from sbc_runtime.instruction import Program


class Bounds(NamedTuple):
    """The least and greatest values that `arch` and `nr` may have, as far as the jumps on the way tell."""

    arch_low: int = 0
    arch_high: int = WORD_MASK
    nr_low: int = 0
    nr_high: int = WORD_MASK


class State(NamedTuple):
    """What holds before an instruction; what is not live there is 0."""

    a: Value = 0
    x: Value = 0
    memory: tuple[Value, ...] = (0,) * bpf.SCRATCH_WORDS
    bounds: Bounds = Bounds()


Place = tuple[int, State]
"""An instruction, and the state before it."""


class Ends(NamedTuple):
    """The state ends in a return; `diagram` is what it decides."""

    diagram: int


class Splits(NamedTuple):
    """The state goes on at `then` where the test holds, else at `other` (None: no input goes there).

    The test compares `asked` with `constant`: `equal`, `at least`; or it asks whether the input is `in` the set that
    the diagram `constant` stands for.
    """

    kind: Literal["equal", "at least", "in"]
    asked: MaskedWord
    constant: int
    then: Place | None
    other: Place | None


class Walker:
    """Steps states of one program through its straight runs."""

    def __init__(self, table: Table, program: Program, words: dict[int, int], live: list[Live]) -> None:
        self._table = table
        self._program = program
        self._words = words
        self._live = live
        self.steps = 0

    def follow(self, pc: int, state: State) -> Ends | Splits:
        """Run from an instruction to the next return or test."""
        a, x, memory, bounds = state
        while True:
            self.steps += 1
            code, _, _, k = self._program[pc]
            kind = code & 0x07
            if code == bpf.LD | bpf.W | bpf.ABS:
                a = self._loaded(k, bounds)
            elif kind == bpf.RET:
                return Ends(diagram_of_return(self._table, a if code & 0x18 == bpf.A else k))
            elif kind == bpf.JMP:
                if code & 0xF0 != bpf.JA:
                    return self._jump(pc, State(a, x, memory, bounds))
                pc += k
            elif kind == bpf.ALU:
                right = x if code & bpf.X else k
                if code & 0xF0 == bpf.NEG:
                    a = negated(self._table, a)
                elif code & 0xF0 == bpf.DIV and not isinstance(right, int):
                    return self._division(pc, State(a, x, memory, bounds))
                elif code & 0xF0 == bpf.DIV and right == 0:
                    return Ends(diagram_of_return(self._table, 0))
                else:
                    a = arithmetic(self._table, code & 0xF0, a, right)
            elif kind in (bpf.LD, bpf.LDX):
                mode = code & 0xE0
                value = memory[k] if mode == bpf.MEM else bpf.DATA_SIZE if mode == bpf.LEN else k
                a, x = (value, x) if kind == bpf.LD else (a, value)
            elif kind in (bpf.ST, bpf.STX):
                memory = (*memory[:k], a if kind == bpf.ST else x, *memory[k + 1 :])
            elif code & 0xF8 == bpf.TXA:
                a = x
            else:
                x = a
            pc += 1

    def _loaded(self, offset: int, bounds: Bounds) -> Value:
        word = self._words[offset]
        if word == NR and bounds.nr_low == bounds.nr_high:
            return bounds.nr_low
        if word == ARCH and bounds.arch_low == bounds.arch_high:
            return bounds.arch_low
        return MaskedWord(word, WORD_MASK)

    def _at(self, pc: int, state: State, bounds: Bounds | None = None) -> Place:
        """Give the place, with all that is not live there forgotten."""
        live = self._live[pc]
        a, x, memory, kept = state
        if bounds is not None:
            kept = bounds
        if not live.a:
            a = 0
        if not live.x:
            x = 0
        if live.memory:
            memory = tuple(value if index in live.memory else 0 for index, value in enumerate(memory))
        else:
            memory = _NO_MEMORY
        asked = a.word if isinstance(a, MaskedWord) else -1
        if bpf.OFFSET_ARCH not in live.offsets and asked != ARCH:
            kept = Bounds(0, WORD_MASK, kept.nr_low, kept.nr_high)
        if bpf.OFFSET_NR not in live.offsets and asked != NR:
            kept = Bounds(kept.arch_low, kept.arch_high, 0, WORD_MASK)
        return pc, State(a, x, memory, kept)

    def _division(self, pc: int, state: State) -> Splits:
        """Division by X: a zero ends the program with 0 (`bpf_convert_filter`, `net/core/filter.c`)."""
        zero = bit_vectors.is_zero(self._table, vector(self._table, state.x))
        if zero == TRUE:
            quotient: Value = 0
        else:
            quotient = arithmetic(self._table, bpf.DIV, state.a, state.x)
        after = State(quotient, state.x, state.memory, state.bounds)
        return Splits("in", _NO_WORD, self._table.outside(zero), self._at(pc + 1, after), RETURNS_ZERO)

    def _jump(self, pc: int, state: State) -> Splits:
        """Take a conditional jump apart into its test and its two places."""
        code, jt, jf, k = self._program[pc]
        then, other = pc + 1 + jt, pc + 1 + jf
        left = state.a
        right = state.x if code & bpf.X else k
        if not isinstance(right, int) or not isinstance(left, int | MaskedWord):
            within = self._test(code & 0xF0, left, right)
            if within in (FALSE, TRUE):
                return _decided(self._at(then if within == TRUE else other, state))
            return Splits("in", _NO_WORD, within, self._at(then, state), self._at(other, state))
        match code & 0xF0:
            case bpf.JEQ:
                kind, constant = "equal", right
            case bpf.JSET:
                kind, constant, then, other = "equal", 0, other, then
                left = left & right if isinstance(left, int) else MaskedWord(left.word, left.mask & right)
            case bpf.JGE:
                kind, constant = "at least", right
            case _:
                kind, constant = "at least", right + 1
        if isinstance(left, int):
            holds = left == constant if kind == "equal" else left >= constant
            return _decided(self._at(then if holds else other, state))
        inside, outside = _narrowed(state.bounds, left, kind, constant)
        return Splits(
            kind,
            left,
            constant,
            None if inside is None else self._at(then, state, inside),
            None if outside is None else self._at(other, state, outside),
        )

    def _test(self, operation: int, left: Value, right: Value) -> int:
        """Give the set of inputs on which a jump's test holds."""
        a, b = vector(self._table, left), vector(self._table, right)
        match operation:
            case bpf.JEQ:
                return bit_vectors.equal(self._table, a, b)
            case bpf.JGE:
                return bit_vectors.at_least(self._table, a, b)
            case bpf.JGT:
                return self._table.outside(bit_vectors.at_least(self._table, b, a))
            case _:
                common = bit_vectors.bitwise(self._table, "and", a, b)
                return self._table.outside(bit_vectors.is_zero(self._table, common))


_NO_WORD = MaskedWord(0, 0)
_NO_MEMORY: tuple[Value, ...] = (0,) * bpf.SCRATCH_WORDS

RETURNS_ZERO: Place = (-1, State())
"""The place, outside every program, at which 0 is returned."""


def _decided(place: Place) -> Splits:
    return Splits("in", _NO_WORD, TRUE, place, None)


def _narrowed(
    bounds: Bounds, left: MaskedWord, kind: Literal["equal", "at least"], constant: int
) -> tuple[Bounds | None, Bounds | None]:
    """Give the bounds where a test holds and where it does not; None where no input within `bounds` goes there."""
    if left.mask != WORD_MASK or left.word not in (ARCH, NR):
        return bounds, bounds
    low, high = (bounds[0], bounds[1]) if left.word == ARCH else (bounds[2], bounds[3])
    if kind == "equal":
        inside = (max(low, constant), min(high, constant))
        outside = (low + (low == constant), high - (high == constant))
    else:
        inside, outside = (max(low, constant), high), (low, min(high, constant - 1))
    return _with(bounds, left.word, *inside), _with(bounds, left.word, *outside)


def _with(bounds: Bounds, word: int, low: int, high: int) -> Bounds | None:
    if low > high:
        return None
    if word == ARCH:
        return Bounds(low, high, bounds.nr_low, bounds.nr_high)
    return Bounds(bounds.arch_low, bounds.arch_high, low, high)
