"""The interpreter against values worked out by hand from the kernel's source."""

import pytest

from sbc.backends.bpf.interpreter import Result, run
from sbc_runtime import instruction as bpf
from sbc_runtime.action import KILL_PROCESS, KILL_THREAD, Action, Verdict
from sbc_runtime.instruction import Instruction
from tests.decision.programs import LOAD, plain

A = plain(bpf.RET | bpf.A)
TOP = 0xFFFFFFFF


def computed(code: int, a: int, x: int, k: int = 0) -> int:
    program = (plain(bpf.LDX | bpf.IMM, x), plain(bpf.LD | bpf.IMM, a), plain(code, k), A)
    return run(program, 0, 0).ret


@pytest.mark.parametrize(
    ("operation", "a", "right", "expected"),
    [
        (bpf.ADD, TOP, 2, 1),
        (bpf.SUB, 1, 2, TOP),
        (bpf.MUL, 0x10001, 0x10001, 0x20001),
        (bpf.DIV, TOP, 2, 0x7FFFFFFF),
        (bpf.OR, 0xF0, 0x0F, 0xFF),
        (bpf.AND, 0xF0, 0x3C, 0x30),
        (bpf.XOR, TOP, 1, 0xFFFFFFFE),
        (bpf.LSH, 0x80000001, 1, 2),
        (bpf.RSH, 0x80000001, 31, 1),
    ],
)
def test_arithmetic(operation: int, a: int, right: int, expected: int) -> None:
    assert computed(bpf.ALU | operation | bpf.K, a, 0, right) == expected
    assert computed(bpf.ALU | operation | bpf.X, a, right) == expected


def test_negation() -> None:
    assert computed(bpf.ALU | bpf.NEG, 1, 0) == TOP
    assert computed(bpf.ALU | bpf.NEG, 0, 0) == 0
    assert computed(bpf.ALU | bpf.NEG, 0x80000000, 0) == 0x80000000


def test_division_by_zero_ends_the_program_with_zero() -> None:
    program = (plain(bpf.LD | bpf.IMM, 7), plain(bpf.ALU | bpf.DIV | bpf.X), plain(bpf.RET | bpf.K, 0x7FFF0000))
    assert run(program, 0, 0) == Result(0, 2, 1)
    assert run(program, 0, 0).verdict == KILL_THREAD


@pytest.mark.parametrize(("places", "left", "right"), [(31, 0x80000000, 1), (32, TOP, TOP), (33, TOP - 1, TOP >> 1)])
def test_a_shift_by_x_counts_five_bits(places: int, left: int, right: int) -> None:
    assert computed(bpf.ALU | bpf.LSH | bpf.X, TOP, places) == left
    assert computed(bpf.ALU | bpf.RSH | bpf.X, TOP, places) == right


def test_registers_start_at_zero() -> None:
    assert run((A,), 0, 0).ret == 0
    assert run((plain(bpf.MISC | bpf.TXA), A), 0, 0).ret == 0


def test_length_and_scratch_memory() -> None:
    assert run((plain(bpf.LD | bpf.W | bpf.LEN, 9), A), 0, 0).ret == 64
    assert run((plain(bpf.LDX | bpf.W | bpf.LEN), plain(bpf.MISC | bpf.TXA), A), 0, 0).ret == 64
    program = (
        plain(bpf.LD | bpf.IMM, 5),
        plain(bpf.ST, 15),
        plain(bpf.LDX | bpf.IMM, 6),
        plain(bpf.STX, 0),
        plain(bpf.LDX | bpf.MEM, 15),
        plain(bpf.LD | bpf.MEM, 0),
        plain(bpf.ALU | bpf.SUB | bpf.X),
        A,
    )
    assert run(program, 0, 0).ret == 1


def test_the_words_of_the_data() -> None:
    args = tuple(0x1111111100000000 * (arg + 1) + arg for arg in range(6))
    words = {0: 0xFFFFFFFF, 4: 0xC000003E, 8: 0x89ABCDEF, 12: 0x01234567}
    words.update({16 + 8 * arg: arg for arg in range(6)})
    words.update({20 + 8 * arg: 0x11111111 * (arg + 1) for arg in range(6)})
    for offset, expected in words.items():
        program = (plain(LOAD, offset), A)
        assert run(program, 0xC000003E, -1, args, ip=0x0123456789ABCDEF).ret == expected
        other = offset if offset < 8 else offset ^ 4
        swapped = (plain(LOAD, other), A)
        assert run(swapped, 0xC000003E, -1, args, ip=0x0123456789ABCDEF, byte_order="big").ret == expected


@pytest.mark.parametrize(
    ("test", "a", "k", "holds"),
    [
        (bpf.JEQ, 5, 5, True),
        (bpf.JEQ, 5, 6, False),
        (bpf.JGT, TOP, 0, True),
        (bpf.JGT, 5, 5, False),
        (bpf.JGE, 5, 5, True),
        (bpf.JGE, 0x7FFFFFFF, 0x80000000, False),
        (bpf.JSET, 6, 3, True),
        (bpf.JSET, 4, 3, False),
    ],
)
def test_jumps(test: int, a: int, k: int, holds: bool) -> None:
    for source in (bpf.K, bpf.X):
        program = (
            plain(bpf.LD | bpf.IMM, a),
            plain(bpf.LDX | bpf.IMM, k),
            Instruction(bpf.JMP | test | source, 1, 0, k if source == bpf.K else 0),
            plain(bpf.RET | bpf.K, 1),
            plain(bpf.RET | bpf.K, 2),
        )
        assert run(program, 0, 0).ret == (2 if holds else 1)


def test_a_far_jump() -> None:
    program = (plain(bpf.JMP | bpf.JA, 300), *(plain(bpf.RET | bpf.K, 1),) * 300, plain(bpf.RET | bpf.K, 2))
    assert run(program, 0, 0) == Result(2, 2, 301)


def test_verdicts() -> None:
    assert run((plain(bpf.RET | bpf.K, 0x0005FFFF),), 0, 0).verdict == Verdict(Action.ERRNO, 4095)
    assert run((plain(bpf.RET | bpf.K, 0x12340000),), 0, 0).verdict == KILL_PROCESS
