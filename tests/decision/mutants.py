"""Mutation of filters: what a wrong bit anywhere in a program would do, and whether the prover sees it.

A mutant that the verifier refuses is caught. One that the prover finds different must really be: the interpreter is
run on the prover's input. One that the prover finds equal must really be: the `oracle` runs both on everything that
could tell them apart.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Literal, NamedTuple

from sbc.backends.bpf.interpreter import run, run_on_words
from sbc.decision.program_road import diagram_of_program
from sbc.decision.prove import Proof, prove
from sbc.decision.queries import difference
from sbc.decision.table import Table, TooComplex
from sbc.decision.words import input_of_words
from sbc.policy.syscalls import FilterPolicy, decide
from sbc_runtime import instruction as bpf
from sbc_runtime.action import Verdict
from sbc_runtime.instruction import Instruction, Program
from sbc_runtime.verifier import SECCOMP_CODES, Refused
from tests.decision.oracle import Comparing

ByteOrder = Literal["little", "big"]


class Tally(NamedTuple):
    """How many mutants the verifier refused and the prover caught or gave up on; and how many were harmless.

    `harmless`: surely; `sampled`: as far as a wide sample tells.
    """

    refused: int
    caught: int
    too_complex: int
    harmless: int
    sampled: int


MUTANT_BUDGET = 20_000
"""Nodes for one mutant: those that multiply or divide whole words would take the default's millions of steps."""


def mutants(program: Program) -> Iterator[Program]:
    """Give every program that differs in one field of one instruction in a way that a mistake might."""
    for index, instruction in enumerate(program):
        for changed in _changed(instruction):
            if changed != instruction:
                yield (*program[:index], changed, *program[index + 1 :])


def _changed(instruction: Instruction) -> Iterator[Instruction]:
    code, jt, jf, k = instruction
    for other in sorted(SECCOMP_CODES):
        yield instruction._replace(code=other)
    for other in (k + 1, k - 1, *(k ^ 1 << bit for bit in range(32))):
        yield instruction._replace(k=other & 0xFFFFFFFF)
    if code & 7 == bpf.JMP and code & 0xF0 != bpf.JA:
        yield instruction._replace(jt=jf, jf=jt)
        for other in (jt + 1, jt - 1, *(jt ^ 1 << bit for bit in range(8))):
            yield instruction._replace(jt=other & 0xFF)
        for other in (jf + 1, jf - 1, *(jf ^ 1 << bit for bit in range(8))):
            yield instruction._replace(jf=other & 0xFF)


def check_against_policy(policy: FilterPolicy, program: Program, changed: Iterable[Program]) -> Tally:
    """Check that the proof of `program` tells every changed program that decides otherwise, and no other."""
    assert isinstance(prove(policy, program), Proof)
    byte_order: ByteOrder = policy.abis[0].arch.byte_order

    def differs(mutant: Program) -> bool:
        found = prove(policy, mutant, MUTANT_BUDGET)
        if isinstance(found, Proof):
            return False
        expected = decide(policy, found.audit, found.number, found.args).verdict
        got = run(mutant, found.audit, found.number, found.args, ip=found.ip, byte_order=byte_order).verdict
        assert (found.expected, found.got) == (Verdict.of_ret(expected.ret()), got)
        return found.expected != found.got

    return _tally(program, changed, differs)


def check_against_original(program: Program, changed: Iterable[Program], byte_order: ByteOrder) -> Tally:
    """The same without a policy: the diagrams of the two programs are compared."""
    alone = Table()
    diagram_of_program(alone, program, byte_order)
    budget = 2 * len(alone) + MUTANT_BUDGET

    def differs(mutant: Program) -> bool:
        table = Table(budget)
        left = diagram_of_program(table, program, byte_order)
        words = difference(table, left, diagram_of_program(table, mutant, byte_order))
        if words is None:
            return False
        call = input_of_words(words)
        ran = [
            run(one, call.audit, call.number, call.args, ip=call.ip, byte_order=byte_order).verdict
            for one in (program, mutant)
        ]
        assert ran[0] != ran[1]
        return True

    return _tally(program, changed, differs)


def _tally(program: Program, changed: Iterable[Program], differs: Callable[[Program], bool]) -> Tally:
    count = dict.fromkeys(Tally._fields, 0)
    for mutant in changed:
        try:
            fate = "caught" if differs(mutant) else "harmless" if _surely_alike(program, mutant) else "sampled"
        except Refused:
            fate = "refused"
        except TooComplex:
            fate = "too_complex"
        count[fate] += 1
    return Tally(**count)


def _surely_alike(program: Program, mutant: Program) -> bool:
    """Check that nothing that could tell two programs apart does; tell whether that is everything there is."""
    comparing = Comparing(program, mutant)
    found = comparing.disagreement()
    if found is not None:
        data = tuple(found.get(word, 0) for word in range(16))
        raise AssertionError(f"missed: {[run_on_words(one, data) for one in (program, mutant)]} on {found}")
    return comparing.exact
