"""The second road to a diagram: from the program, by symbolic execution of every path.

Shares nothing with the first road (`policy_road`) but the node table. Jumps only go forward, so one sweep down the
program finds every state that reaches each instruction, and one sweep up says what each of them decides. Exact for
every instruction that `seccomp_check_filter` allows. A shift by X counts the low five bits of X, as the kernel's own
interpreter and the x86, arm64 and riscv compilers do.
"""

from typing import Literal

from sbc.decision.liveness import live_before
from sbc.decision.program_walk import RETURNS_ZERO, Ends, Place, Splits, State, Walker
from sbc.decision.table import Table, TooComplex
from sbc.decision.word_tests import where_at_least, where_equal
from sbc.decision.words import ARCH, IP_HIGH, IP_LOW, NR, WORD_MASK, high_word, low_word
from sbc_runtime import instruction as bpf
from sbc_runtime.action import KILL_THREAD
from sbc_runtime.instruction import Program
from sbc_runtime.verifier import verify

_STEP_BUDGET = 2_000_000


def words_at_offsets(byte_order: Literal["little", "big"]) -> dict[int, int]:
    """Give the word of the diagrams that stands at each offset of `struct seccomp_data`."""
    words = {bpf.OFFSET_NR: NR, bpf.OFFSET_ARCH: ARCH}
    halves = (IP_LOW, IP_HIGH) if byte_order == "little" else (IP_HIGH, IP_LOW)
    words[bpf.OFFSET_IP], words[bpf.OFFSET_IP + 4] = halves
    for arg in range(6):
        words[bpf.low_word_offset(arg, byte_order)] = low_word(arg)
        words[bpf.high_word_offset(arg, byte_order)] = high_word(arg)
    return words


def diagram_of_program(table: Table, program: Program, byte_order: Literal["little", "big"]) -> int:
    """Give the diagram of what a program decides for every `seccomp_data`; `Refused` where the kernel refuses it."""
    verify(program)
    walker = Walker(table, program, words_at_offsets(byte_order), live_before(program))
    numbers: dict[Place, int] = {}
    found = _all_states(walker, len(program), numbers)
    decided = {RETURNS_ZERO: table.terminal(KILL_THREAD)}
    for place, end in reversed(found.items()):
        try:
            decided[place] = _decision(table, end, decided)
        except TooComplex as error:
            raise TooComplex(error.what, numbers.get(place)) from None
    return decided[next(iter(found))]


def _all_states(walker: Walker, length: int, numbers: dict[Place, int]) -> dict[Place, Ends | Splits]:
    """Give how each state goes on, in the order of the program; note the call number on whose way it was first met."""
    waiting: list[dict[State, None]] = [{} for _ in range(length)]
    waiting[0][State()] = None
    found: dict[Place, Ends | Splits] = {}
    for pc in range(length):
        for state in waiting[pc]:
            number = numbers.get((pc, state))
            try:
                end = walker.follow(pc, state)
                if walker.steps > _STEP_BUDGET:
                    raise TooComplex(f"symbolic execution takes more than {_STEP_BUDGET:,} steps")
            except TooComplex as error:
                raise TooComplex(error.what, number) from None
            found[pc, state] = end
            if isinstance(end, Splits):
                asked_for = end.constant if end.kind == "equal" and end.asked == (NR, WORD_MASK) else number
                for place, known in ((end.then, asked_for), (end.other, number)):
                    if place is not None and place is not RETURNS_ZERO and place[1] not in waiting[place[0]]:
                        waiting[place[0]][place[1]] = None
                        if known is not None:
                            numbers[place] = known
    return found


def _decision(table: Table, end: Ends | Splits, decided: dict[Place, int]) -> int:
    """Give what a state decides, once all later places are decided."""
    if isinstance(end, Ends):
        return end.diagram
    if end.then is None:
        assert end.other is not None  # noqa: S101
        return decided[end.other]
    then = decided[end.then]
    if end.other is None:
        return then
    other = decided[end.other]
    if end.kind == "equal":
        return where_equal(table, end.asked, end.constant, then, other)
    if end.kind == "at least":
        return where_at_least(table, end.asked, end.constant, then, other)
    return table.choose(end.constant, then, other)
