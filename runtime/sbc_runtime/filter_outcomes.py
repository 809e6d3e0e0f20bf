"""Whether a filter can let a call through, whatever its unknown arguments are.

Every path of the program is followed, both ways where a condition rests on something unknown. Classic BPF has no loops,
so that there is an end. What is not followed exactly counts as unknown: the answer errs towards "it can".
"""

from collections.abc import Mapping

from sbc_runtime.action import Action, Verdict
from sbc_runtime.instruction import (
    ABS,
    ALU,
    AND,
    IMM,
    JA,
    JEQ,
    JGE,
    JGT,
    JMP,
    JSET,
    LD,
    RET,
    A,
    Instruction,
    K,
    Program,
    W,
)

_PASSING = frozenset({Action.ALLOW, Action.LOG, Action.TRACE, Action.NOTIFY})
_CLASS, _OPERATION = 0x07, 0xF0


def may_pass(program: Program, known: Mapping[int, int]) -> bool:
    """Tell whether some call passes whose `seccomp_data` has the words `known` (by offset)."""
    waiting: list[tuple[int, int | None]] = [(0, 0)]
    done: set[tuple[int, int | None]] = set()
    while waiting:
        state = waiting.pop()
        if state in done:
            continue
        done.add(state)
        at, value = state
        one = program[at]
        if one.code & _CLASS == RET:
            if one.code != RET | K and one.code != RET | A:
                return True
            returned = one.k if one.code == RET | K else value
            if returned is None or Verdict.of_ret(returned).action in _PASSING:
                return True
        elif one.code & _CLASS == JMP:
            waiting += [(at + 1 + step, value) for step in _steps(one, value)]
        else:
            waiting.append((at + 1, _computed(one, value, known)))
    return False


def _steps(one: Instruction, value: int | None) -> tuple[int, ...]:
    if one.code == JMP | JA:
        return (one.k,)
    tests = {JEQ: int.__eq__, JGT: int.__gt__, JGE: int.__ge__, JSET: int.__and__}
    test = tests.get(one.code & _OPERATION)
    if value is None or test is None or one.code & 0x08:
        return (one.jt, one.jf)
    return (one.jt if test(value, one.k) else one.jf,)


def _computed(one: Instruction, value: int | None, known: Mapping[int, int]) -> int | None:
    """Give the accumulator after an instruction that is no jump and no return."""
    if one.code == LD | W | ABS:
        return known.get(one.k)
    if one.code == LD | IMM:
        return one.k
    if one.code & _CLASS == ALU or one.code & _CLASS == LD:
        return value & one.k if one.code == ALU | AND | K and value is not None else None
    # LDX, ST, STX and TAX leave it; TXA does not.
    return value if one.code & _CLASS in {1, 2, 3} or one.code == 0x07 else None
