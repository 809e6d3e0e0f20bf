"""Runs a filter as the kernel does (`bpf_convert_filter`, `net/core/filter.c`; `___bpf_prog_run`, `kernel/bpf/core.c`).

A, X and the scratch words are unsigned 32-bit; A and X start at 0. Division by X = 0 ends the program with 0. A shift
by X counts the low five bits of X: so do the kernel's interpreter and its x86, arm64 and riscv compilers; those of
s390 and powerpc count six, which differs where X is 32 or more. Nothing here knows how filters are made or proven.
"""

from collections.abc import Sequence
from struct import Struct
from typing import Literal, NamedTuple

from sbc_runtime import instruction as bpf
from sbc_runtime.action import Verdict
from sbc_runtime.instruction import Program

_MASK = 0xFFFFFFFF
_LAYOUT = {"little": Struct("<II7Q"), "big": Struct(">II7Q")}
_WORDS = {"little": Struct("<16I"), "big": Struct(">16I")}


class Result(NamedTuple):
    """What a run gave: the 32-bit return value, the instructions executed, the index of the one that returned."""

    ret: int
    steps: int
    at: int

    @property
    def verdict(self) -> Verdict:
        """What the kernel makes of the return value."""
        return Verdict.of_ret(self.ret)


def run(
    program: Program,
    audit: int,
    number: int,
    args: tuple[int, ...] = (),
    *,
    ip: int = 0,
    byte_order: Literal["little", "big"] = "little",
) -> Result:
    """Run a verified program on one call; missing arguments are 0, `number` and `args` are taken modulo their width."""
    wide = [value & 0xFFFFFFFFFFFFFFFF for value in (ip, *args, *(0,) * (6 - len(args)))]
    data = _LAYOUT[byte_order].pack(number & _MASK, audit & _MASK, *wide)
    return run_on_words(program, _WORDS[byte_order].unpack(data))


def run_on_words(program: Program, data: Sequence[int]) -> Result:
    """Run a verified program on `struct seccomp_data`, given as its 16 words in memory order."""
    a = x = pc = steps = 0
    memory = [0] * bpf.SCRATCH_WORDS
    while True:
        code, jt, jf, k = program[pc]
        steps += 1
        kind = code & 0x07
        if kind == bpf.LD:
            mode = code & 0xE0
            a = data[k >> 2] if mode == bpf.ABS else _loaded(mode, k, memory)
        elif kind == bpf.JMP:
            if code & 0xF0 == bpf.JA:
                pc += k
            else:
                pc += jt if _holds(code & 0xF0, a, x if code & bpf.X else k) else jf
        elif kind == bpf.RET:
            return Result(a if code & 0x18 == bpf.A else k, steps, pc)
        elif kind == bpf.ALU:
            right = x if code & bpf.X else k
            if code & 0xF0 == bpf.DIV and right == 0:
                return Result(0, steps, pc)
            a = _computed(code & 0xF0, a, right)
        elif kind == bpf.LDX:
            x = _loaded(code & 0xE0, k, memory)
        elif kind == bpf.ST:
            memory[k] = a
        elif kind == bpf.STX:
            memory[k] = x
        elif code & 0xF8 == bpf.TXA:
            a = x
        else:
            x = a
        pc += 1


def _loaded(mode: int, k: int, memory: list[int]) -> int:
    if mode == bpf.MEM:
        return memory[k]
    return bpf.DATA_SIZE if mode == bpf.LEN else k


def _holds(test: int, a: int, right: int) -> bool:
    if test == bpf.JEQ:
        return a == right
    if test == bpf.JGE:
        return a >= right
    if test == bpf.JGT:
        return a > right
    return a & right != 0


def _computed(operation: int, a: int, right: int) -> int:
    match operation:
        case bpf.ADD:
            return a + right & _MASK
        case bpf.SUB:
            return a - right & _MASK
        case bpf.MUL:
            return a * right & _MASK
        case bpf.DIV:
            return a // right
        case bpf.OR:
            return a | right
        case bpf.AND:
            return a & right
        case bpf.XOR:
            return a ^ right
        case bpf.LSH:
            return a << (right & 31) & _MASK
        case bpf.RSH:
            return a >> (right & 31)
        case _:
            return -a & _MASK
