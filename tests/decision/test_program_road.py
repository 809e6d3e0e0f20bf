"""The road from the program: it must say what the interpreter says, for every instruction and input."""

from typing import Literal

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sbc.backends.bpf.interpreter import run
from sbc.decision.program_road import diagram_of_program
from sbc.decision.queries import value_at
from sbc.decision.table import Table, TooComplex
from sbc.decision.words import Input
from sbc_runtime import instruction as bpf
from sbc_runtime.action import Verdict
from sbc_runtime.instruction import Instruction, Program
from sbc_runtime.verifier import SECCOMP_CODES, Refused, verify
from tests.decision.programs import LOAD, inputs, plain, programs

ByteOrder = Literal["little", "big"]


def agree(program: Program, calls: list[Input], byte_order: ByteOrder, budget: int = 15_000) -> None:
    table = Table(budget)
    try:
        diagram = diagram_of_program(table, program, byte_order)
    except TooComplex:
        assume(False)
        raise
    for call in calls:
        ran = run(program, call.audit, call.number, call.args, ip=call.ip, byte_order=byte_order)
        assert value_at(table, diagram, call.words()) == ran.verdict


@settings(max_examples=250, deadline=None)
@given(st.data(), programs(), st.sampled_from(("little", "big")))
def test_says_what_the_interpreter_says(data: st.DataObject, program: Program, byte_order: ByteOrder) -> None:
    verify(program)
    agree(program, data.draw(st.lists(inputs(program), min_size=8, max_size=8)), byte_order)


@pytest.mark.slow
@settings(max_examples=4000, deadline=None)
@given(st.data(), programs(24), st.sampled_from(("little", "big")))
def test_says_what_the_interpreter_says_of_many(data: st.DataObject, program: Program, byte_order: ByteOrder) -> None:
    verify(program)
    agree(program, data.draw(st.lists(inputs(program), min_size=8, max_size=8)), byte_order)


OPERANDS = (0, 1, 2, 3, 5, 31, 32, 33, 63, 0x80, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF)


def exercised(code: int, operand: int) -> Program:
    """A program that shows what one instruction does to A: A = args[0].lo & ..., X = args[1].lo & ..."""
    k = operand
    if code in (bpf.ALU | bpf.LSH | bpf.K, bpf.ALU | bpf.RSH | bpf.K):
        k = operand & 31
    elif code == bpf.ALU | bpf.DIV | bpf.K:
        k = operand or 1
    elif code in (LOAD, bpf.LD | bpf.MEM, bpf.LDX | bpf.MEM, bpf.ST, bpf.STX):
        k = 0 if code != LOAD else 16
    elif code & 7 == bpf.JMP and code & 0xF0 == bpf.JA:
        k = 0
    return (
        plain(LOAD, 24),
        plain(bpf.ALU | bpf.AND | bpf.K, 0x80000061),
        plain(bpf.MISC | bpf.TAX),
        plain(LOAD, 16),
        plain(bpf.ALU | bpf.AND | bpf.K, 0x80000073),
        plain(bpf.ST, 0),
        Instruction(code, 0, 1, k) if code & 7 == bpf.JMP and code & 0xF0 != bpf.JA else plain(code, k),
        plain(bpf.ST, 1),
        plain(bpf.ALU | bpf.ADD | bpf.X),
        Instruction(bpf.JMP | bpf.JGT | bpf.K, 0, 1, operand),
        plain(bpf.RET | bpf.K, 0x00050001),
        plain(bpf.ALU | bpf.AND | bpf.K, 0xFF),
        plain(bpf.ALU | bpf.XOR | bpf.K, 0x00050000),
        plain(bpf.RET | bpf.A),
    )


@pytest.mark.parametrize("code", sorted(SECCOMP_CODES))
def test_every_instruction(code: int) -> None:
    for operand in OPERANDS:
        program = exercised(code, operand)
        table = Table()
        diagram = diagram_of_program(table, program, "little")
        for a in OPERANDS:
            for x in OPERANDS:
                call = Input(0xC000003E, 1, (a, x, 0, 0, 0, 0))
                expected = run(program, call.audit, call.number, call.args).verdict
                assert value_at(table, diagram, call.words()) == expected, (operand, a, x)


def test_shared_code_is_walked_once() -> None:
    """Thirty-two diamonds: 2^32 paths, one state at each instruction."""
    made: list[Instruction] = []
    for bit in range(32):
        made += [
            plain(LOAD, 16),
            Instruction(bpf.JMP | bpf.JSET | bpf.K, 0, 1, 1 << bit),
            plain(bpf.LD | bpf.IMM, 5),
            plain(bpf.LD | bpf.IMM, 7),
        ]
    program = (*made, plain(bpf.RET | bpf.K, 0x7FFF0000))
    table = Table()
    diagram_of_program(table, program, "little")
    assert len(table) < 10


def test_a_returned_value_is_taken_as_the_kernel_takes_it() -> None:
    program = (plain(LOAD, 16), plain(bpf.RET | bpf.A))
    table = Table()
    diagram = diagram_of_program(table, program, "little")
    for action in (
        0,
        0x10000,
        0x30000,
        0x50000,
        0x7FC00000,
        0x7FF00000,
        0x7FFC0000,
        0x7FFF0000,
        0x80000000,
        0xFFFF0000,
    ):
        for data in (0, 1, 4094, 4095, 4096, 0xFFFF):
            call = Input(0, 0, (action | data, 0, 0, 0, 0, 0))
            assert value_at(table, diagram, call.words()) == Verdict.of_ret(action | data)


def test_a_division_by_zero_returns_zero() -> None:
    program = (
        plain(LOAD, 16),
        plain(bpf.MISC | bpf.TAX),
        plain(bpf.LD | bpf.IMM, 8),
        plain(bpf.ALU | bpf.DIV | bpf.X),
        plain(bpf.RET | bpf.K, 0x7FFF0000),
    )
    agree(program, [Input(0, 0, (value, 0, 0, 0, 0, 0)) for value in (0, 1, 2**32)], "little")


def test_too_complex_is_an_error_and_names_the_call() -> None:
    program = (
        plain(LOAD, 0),
        Instruction(bpf.JMP | bpf.JEQ | bpf.K, 1, 0, 77),
        plain(bpf.RET | bpf.K, 0x7FFF0000),
        plain(LOAD, 16),
        plain(bpf.MISC | bpf.TAX),
        plain(LOAD, 24),
        plain(bpf.ALU | bpf.MUL | bpf.X),
        Instruction(bpf.JMP | bpf.JEQ | bpf.K, 0, 1, 0x12345678),
        plain(bpf.RET | bpf.K, 0x00050001),
        plain(bpf.RET | bpf.K, 0x7FFF0000),
    )
    with pytest.raises(TooComplex) as caught:
        diagram_of_program(Table(), program, "little")
    assert caught.value.number == 77


def test_refused_programs_have_no_diagram() -> None:
    with pytest.raises(Refused):
        diagram_of_program(Table(), (plain(LOAD, 0),), "little")
