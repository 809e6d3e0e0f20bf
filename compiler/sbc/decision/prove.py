"""The proof that a filter decides as its policy says, for every `seccomp_data`; or a call on which it does not."""

from sbc.decision.policy_road import diagram_of_policy
from sbc.decision.program_road import diagram_of_program
from sbc.decision.queries import difference, fixed, value_at
from sbc.decision.table import NODE_BUDGET, Table, TooComplex
from sbc.decision.words import ARCH, input_of_words
from sbc.policy.syscalls import FilterPolicy
from sbc.record import Record
from sbc_runtime.action import Verdict
from sbc_runtime.instruction import Program


class Proof(Record):
    """The diagrams of policy and program are one: `nodes` is what the table held in the end."""

    nodes: int


class Counterexample(Record):
    """One `seccomp_data` on which policy and program differ; `call` is the number's name where a rule has it."""

    audit: int
    number: int
    args: tuple[int, ...]
    ip: int
    expected: Verdict
    got: Verdict
    call: str | None = None


def prove(policy: FilterPolicy, program: Program, budget: int = NODE_BUDGET) -> Proof | Counterexample:
    """Compare a program with the policy it was made from.

    `Refused` where the kernel would not take the program; `TooComplex`, naming the call, where the budget runs out.
    """
    table = Table(budget)
    try:
        wanted = diagram_of_policy(table, policy)
        made = diagram_of_program(table, program, policy.abis[0].arch.byte_order)
        if wanted == made:
            return Proof(len(table))
        return _counterexample(table, policy, wanted, made)
    except TooComplex as error:
        if error.call is None and error.number is not None:
            raise TooComplex(error.what, error.number, call_name(policy, error.number)) from None
        raise


def call_name(policy: FilterPolicy, number: int) -> str | None:
    """Give the name that some rule has for a number."""
    return next((rule.call for abi in policy.abis for rule in abi.rules if rule.number == number), None)


def _counterexample(table: Table, policy: FilterPolicy, wanted: int, made: int) -> Counterexample:
    """Give a difference, under one of the policy's own ABIs where there is one."""
    audits: list[int | None] = [*(abi.arch.audit for abi in policy.abis), None]
    for audit in audits:
        left, right = wanted, made
        if audit is not None:
            left, right = fixed(table, wanted, ARCH, audit), fixed(table, made, ARCH, audit)
        words = difference(table, left, right)
        if words is None:
            continue
        if audit is not None:
            words[ARCH] = audit
        found = input_of_words(words)
        abi = policy.rules_for(found.audit, found.number)
        call = None
        if abi is not None:
            call = next((rule.call for rule in abi.rules if rule.number == found.number), None)
        expected, got = value_at(table, wanted, words), value_at(table, made, words)
        return Counterexample(found.audit, found.number, found.args, found.ip, expected, got, call)
    raise AssertionError("equal diagrams have no difference")
