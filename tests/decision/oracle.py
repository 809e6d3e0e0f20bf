"""Whether two programs decide alike, found out by running them: the prover has no part in it.

Programs that only load words, AND them with constants and compare them with constants cannot tell apart two values of
a word for which all their comparisons come out the same. So it is enough to run both on one value from every class,
of every word that a run really loads. Programs with other instructions are run on a wide sample, and that is said.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from typing import overload

from sbc.backends.bpf.interpreter import run_on_words
from sbc_runtime import instruction as bpf
from sbc_runtime.action import Verdict
from sbc_runtime.instruction import Program

LOAD = bpf.LD | bpf.W | bpf.ABS
AND = bpf.ALU | bpf.AND | bpf.K
FULL = 0xFFFFFFFF
HARMLESS = {bpf.ST, bpf.STX, bpf.MISC | bpf.TAX, bpf.LDX | bpf.IMM, bpf.LDX | bpf.W | bpf.LEN, bpf.LDX | bpf.MEM}
CONSTANT = {bpf.LD | bpf.IMM, bpf.LD | bpf.W | bpf.LEN}
MOST_RUNS = 400_000

Comparison = tuple[int, int]
"""A mask and a constant: `word & mask` is less than, equal to or greater than the constant."""

Words = dict[int, int]


class Missing(Exception):
    """A run asks for a word that has no value yet."""

    def __init__(self, word: int) -> None:
        super().__init__(word)
        self.word = word


class Lazy(Sequence[int]):
    """The words of `seccomp_data`, of which only some are known."""

    def __init__(self, known: Words) -> None:
        self._known = known

    def __len__(self) -> int:
        return 16

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[int]: ...
    def __getitem__(self, index: int | slice) -> int | Sequence[int]:
        assert isinstance(index, int)
        if index not in self._known:
            raise Missing(index)
        return self._known[index]


class Comparisons:
    """What a program compares each word with, on any path; `exact` where that tells all that it can depend on."""

    def __init__(self, program: Program) -> None:
        self.of_word: dict[int, set[Comparison]] = {}
        self.exact = True
        held: list[set[Comparison] | None] = [None] * len(program)
        held[0] = set()
        for index, (code, jt, jf, k) in enumerate(program):
            masked = held[index]
            if masked is None:
                continue
            if code & 7 == bpf.RET:
                self.exact &= code == bpf.RET | bpf.K
                continue
            if code & 7 == bpf.JMP:
                targets = (k,) if code & 0xF0 == bpf.JA else (jt, jf)
                if code & 0xF0 != bpf.JA:
                    self._compare(code, k, masked)
            else:
                targets = (0,)
                masked = self._after(code, k, masked)
            for distance in targets:
                before = held[index + 1 + distance]
                held[index + 1 + distance] = masked if before is None else before | masked

    def _compare(self, code: int, k: int, masked: set[Comparison]) -> None:
        self.exact &= not code & bpf.X
        for word, mask in masked:
            asked = (mask & k, 0) if code & 0xF0 == bpf.JSET else (mask, k)
            self.of_word.setdefault(word, set()).add(asked)

    def _after(self, code: int, k: int, masked: set[Comparison]) -> set[Comparison]:
        if code == LOAD:
            self.of_word.setdefault(k >> 2, set())
            return {(k >> 2, FULL)}
        if code == AND:
            return {(word, mask & k) for word, mask in masked}
        if code in CONSTANT:
            return set()
        self.exact &= code in HARMLESS
        return masked


@cache
def representatives(comparisons: frozenset[Comparison]) -> tuple[int, ...]:
    """Give one 32-bit value for every way in which all comparisons can come out together.

    From the most significant bit down: each comparison is undecided until the bits first differ.
    """
    asked = sorted(comparisons)
    states: dict[tuple[int, ...], int] = {(0,) * len(asked): 0}
    for place in range(31, -1, -1):
        following: dict[tuple[int, ...], int] = {}
        for bit in (0, 1):
            steps = [(bit & mask >> place) - (constant >> place & 1) for mask, constant in asked]
            for state, value in states.items():
                following.setdefault(
                    tuple(old or step for old, step in zip(state, steps, strict=True)), value | bit << place
                )
        states = following
    return tuple(sorted(states.values()))


def sample(comparisons: frozenset[Comparison]) -> tuple[int, ...]:
    """Give values that are likely to tell programs apart that do more than compare."""
    around = {0, 1, 2, 63, 64, 65, 0x7FFFFFFF, 0x80000000, FULL - 1, FULL, 0x12345678, 0xDEADBEEF}
    for mask, constant in islice(sorted(comparisons), 40):
        for value in (constant, mask, ~mask & FULL, constant | ~mask & FULL):
            around.update((value + near) & FULL for near in (-1, 0, 1))
    return tuple(sorted(around))


class Comparing:
    """Two programs, run side by side."""

    def __init__(self, left: Program, right: Program) -> None:
        self._programs = (left, right)
        of_left, of_right = Comparisons(left), Comparisons(right)
        self.exact = of_left.exact and of_right.exact
        self._asked = {
            word: frozenset(of_left.of_word.get(word, set()) | of_right.of_word.get(word, set())) for word in range(16)
        }

    def values(self, word: int) -> tuple[int, ...]:
        found = representatives(self._asked[word])
        return found if self.exact else tuple(sorted({*found, *sample(self._asked[word])}))

    def disagreement(self) -> Words | None:
        """Give words on which the programs decide differently, or None; `exact` becomes false when runs run out."""
        for runs, (known, alike) in enumerate(self._runs({})):
            if not alike:
                return known
            if runs == MOST_RUNS:
                self.exact = False
                return None
        return None

    def _runs(self, known: Words) -> Iterator[tuple[Words, bool]]:
        data = Lazy(known)
        try:
            left, right = (Verdict.of_ret(run_on_words(program, data).ret) for program in self._programs)
        except Missing as missing:
            for value in self.values(missing.word):
                yield from self._runs({**known, missing.word: value})
        else:
            yield known, left == right
