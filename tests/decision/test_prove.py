"""The proof: equal exactly where there is no counterexample, and every counterexample is one."""

import pytest
from hypothesis import given, settings

from sbc.backends.bpf.generate import generate
from sbc.backends.bpf.interpreter import run
from sbc.decision.policy_road import diagram_of_policy
from sbc.decision.program_road import diagram_of_program
from sbc.decision.prove import Counterexample, Proof, prove
from sbc.decision.queries import difference, fixed, intervals, value_at, verdicts_by_number, verdicts_of
from sbc.decision.table import Table, TooComplex
from sbc.decision.words import ARCH, NR, Input, input_of_words
from sbc.policy.conditions import Masked, Not
from sbc.policy.syscalls import FilterPolicy, decide
from sbc_runtime import instruction as bpf
from sbc_runtime.action import ALLOW, KILL_PROCESS
from sbc_runtime.arch import ARCHES
from sbc_runtime.instruction import Instruction, Program
from sbc_runtime.verifier import Refused
from tests.bpf.policies import ENOSYS, EPERM, equals, policies, policy, rule
from tests.decision.programs import LOAD, plain, programs

X86_64 = ARCHES["x86_64"].audit
ALLOWED = plain(bpf.RET | bpf.K, 0x7FFF0000)
DENIED = plain(bpf.RET | bpf.K, 0x00050001)
KILLED = plain(bpf.RET | bpf.K, 0x80000000)

SMALL = policy(rule(41, EPERM, Not(Masked(0, 32, 0xFFFFFFFC, 0))))


def small(number: int = 41, constant: int = 0xFFFFFFFC, offset: int = 16) -> Program:
    return (
        plain(LOAD, 4),
        Instruction(bpf.JMP | bpf.JEQ | bpf.K, 0, 6, X86_64),
        plain(LOAD, 0),
        Instruction(bpf.JMP | bpf.JGE | bpf.K, 4, 0, 0x40000000),
        Instruction(bpf.JMP | bpf.JEQ | bpf.K, 0, 4, number),
        plain(LOAD, offset),
        Instruction(bpf.JMP | bpf.JSET | bpf.K, 1, 2, constant),
        plain(bpf.JMP | bpf.JA, 2),
        DENIED,
        ALLOWED,
        KILLED,
    )


def fixed_up(program: Program) -> Program:
    """Jumps 1 and 3 of `small` go to the kill, at the end."""
    made = list(program)
    made[1] = made[1]._replace(jf=8)
    made[3] = made[3]._replace(jt=6)
    return tuple(made)


def test_a_right_filter_is_proven() -> None:
    proof = prove(SMALL, fixed_up(small()))
    assert isinstance(proof, Proof)
    assert proof.nodes < 500


@pytest.mark.parametrize(
    "program",
    [
        small(),
        fixed_up(small(number=42)),
        fixed_up(small(constant=0x7FFFFFFC)),
        fixed_up(small(offset=20)),
        fixed_up(small(offset=8)),
        (ALLOWED,),
    ],
    ids=("jumps", "number", "constant", "half", "ip", "all"),
)
def test_a_wrong_filter_has_a_counterexample(program: Program) -> None:
    found = prove(SMALL, program)
    assert isinstance(found, Counterexample)
    assert decide(SMALL, found.audit, found.number, found.args).verdict == found.expected
    assert run(program, found.audit, found.number, found.args, ip=found.ip).verdict == found.got
    assert found.expected != found.got


def test_a_counterexample_names_the_call_and_is_of_an_abi_of_the_policy_where_it_can_be() -> None:
    found = prove(SMALL, fixed_up(small(constant=0x7FFFFFFC)))
    assert isinstance(found, Counterexample)
    assert (found.audit, found.number, found.call) == (X86_64, 41, "call41")
    only_foreign = (*fixed_up(small())[:-1], DENIED)
    found = prove(policy(rule(41, EPERM, Not(Masked(0, 32, 0xFFFFFFFC, 0)))), only_foreign)
    assert isinstance(found, Counterexample)
    assert found.expected == KILL_PROCESS
    assert found.number >= 0x40000000
    assert found.call is None


def test_what_the_kernel_refuses_is_not_proven() -> None:
    with pytest.raises(Refused):
        prove(SMALL, fixed_up(small())[:-1])


def test_too_complex_names_the_call() -> None:
    with pytest.raises(TooComplex, match=r"`call41`") as caught:
        prove(SMALL, fixed_up(small()), 60)
    assert caught.value.call == "call41"
    verdicts = (EPERM, ENOSYS)
    many = policy(*(rule(7, verdicts[value % 2], equals(arg, value)) for arg in range(6) for value in range(50)))
    with pytest.raises(TooComplex, match=r"`call7`"):
        prove(many, (ALLOWED,), 150)


@settings(max_examples=60, deadline=None)
@given(policies())
def test_generated_filters_are_proven(filter_policy: FilterPolicy) -> None:
    assert isinstance(prove(filter_policy, generate(filter_policy)), Proof)


@settings(max_examples=80, deadline=None)
@given(policies(), policies())
def test_equal_exactly_where_there_is_no_difference(one: FilterPolicy, other: FilterPolicy) -> None:
    table = Table()
    left, right = diagram_of_policy(table, one), diagram_of_policy(table, other)
    words = difference(table, left, right)
    assert (words is None) == (left == right)
    if words is not None:
        call = input_of_words(words)
        verdicts = [value_at(table, diagram, words) for diagram in (left, right)]
        assert verdicts[0] != verdicts[1]
        assert [decide(each, call.audit, call.number, call.args).verdict for each in (one, other)] == verdicts


@settings(max_examples=80, deadline=None)
@given(programs())
def test_a_diagram_does_not_depend_on_how_the_program_is_written(program: Program) -> None:
    """A load of a word that is thrown away, a jump to the next instruction: the same diagram, the same number."""
    table = Table(60_000)
    longer = (plain(bpf.JMP | bpf.JA, 0), plain(bpf.LD | bpf.IMM, 0), plain(bpf.LDX | bpf.IMM, 0), *program)
    try:
        left, right = diagram_of_program(table, program, "little"), diagram_of_program(table, longer, "little")
    except TooComplex:
        return
    assert left == right


def test_byte_order() -> None:
    big = policy(rule(5, EPERM, equals(0, 7)), abi="s390x")
    program = generate(big)
    assert isinstance(prove(big, program), Proof)
    table = Table()
    assert diagram_of_program(table, program, "little") != diagram_of_policy(table, big)


def test_what_remains_of_a_diagram() -> None:
    table = Table()
    joined = policy(rule(1, EPERM), rule(2, ENOSYS, equals(0, 5)), rule(3, EPERM))
    diagram = diagram_of_policy(table, joined)
    assert verdicts_by_number(table, diagram, X86_64) == [
        (0, 0, ALLOW),
        (1, 1, EPERM),
        (2, 2, None),
        (3, 3, EPERM),
        (4, 0x3FFFFFFF, ALLOW),
        (0x40000000, 0xFFFFFFFF, KILL_PROCESS),
    ]
    two = fixed(table, fixed(table, diagram, NR, 2), ARCH, X86_64)
    assert value_at(table, two, Input(0, 0, (5, 0, 0, 0, 0, 0)).words()) == ENOSYS
    assert verdicts_of(table, two) == {ENOSYS, ALLOW}
    assert fixed(table, fixed(table, diagram, ARCH, X86_64), NR, 2) == two
    assert fixed(table, diagram, ARCH, 1) == table.terminal(KILL_PROCESS)


def test_numbers_told_apart_by_low_bits_end_in_an_error() -> None:
    table = Table()
    odd = (plain(LOAD, 0), Instruction(bpf.JMP | bpf.JSET | bpf.K, 0, 1, 1), DENIED, ALLOWED)
    diagram = diagram_of_program(table, odd, "little")
    with pytest.raises(TooComplex, match="low bits"):
        intervals(table, diagram, NR)
