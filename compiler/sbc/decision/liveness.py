"""What of a filter's state can still matter at each instruction.

States that differ only in what no later instruction reads are one state for symbolic execution; so shared code is
walked once, whatever its callers left in the registers.
"""

from typing import NamedTuple

from sbc_runtime import instruction as bpf
from sbc_runtime.instruction import Program


class Live(NamedTuple):
    """What later instructions may read: the registers, the words of scratch memory, the data at each offset."""

    a: bool
    x: bool
    memory: frozenset[int]
    offsets: frozenset[int]


_NOTHING = Live(False, False, frozenset(), frozenset())


def _united(left: Live, right: Live) -> Live:
    if left == right or right is _NOTHING:
        return left
    return Live(left.a or right.a, left.x or right.x, left.memory | right.memory, left.offsets | right.offsets)


def live_before(program: Program) -> list[Live]:
    """Give what is live before each instruction of a verified program; jumps only go forward, so one sweep does."""
    live = [_NOTHING] * len(program)
    for pc in range(len(program) - 1, -1, -1):
        code, jt, jf, k = program[pc]
        kind = code & 0x07
        if kind == bpf.RET:
            live[pc] = Live(code & 0x18 == bpf.A, False, frozenset(), frozenset())
        elif kind == bpf.JMP and code & 0xF0 == bpf.JA:
            live[pc] = live[pc + 1 + k]
        elif kind == bpf.JMP:
            after = _united(live[pc + 1 + jt], live[pc + 1 + jf])
            live[pc] = Live(True, after.x or code & bpf.X != 0, after.memory, after.offsets)
        else:
            live[pc] = _before(code, k, live[pc + 1])
    return live


def _before(code: int, k: int, after: Live) -> Live:
    """Give what is live before an instruction that neither jumps nor returns."""
    a, x, memory, offsets = after
    mode = code & 0xE0
    match code & 0x07:
        case bpf.LD:
            a = False
            if mode == bpf.ABS:
                offsets |= {k}
            elif mode == bpf.MEM:
                memory |= {k}
        case bpf.LDX:
            x = False
            if mode == bpf.MEM:
                memory |= {k}
        case bpf.ST:
            a, memory = a or k in memory, memory - {k}
        case bpf.STX:
            x, memory = x or k in memory, memory - {k}
        case bpf.ALU:
            a, x = True, x or (code & bpf.X != 0 and code & 0xF0 != bpf.NEG)
        case _:
            a, x = (False, x or a) if code & 0xF8 == bpf.TXA else (a or x, False)
    return Live(a, x, memory, offsets)
