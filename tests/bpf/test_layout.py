"""Far jumps, size limits, and the same bytes everywhere."""

import os
import subprocess
import sys
import time

import pytest

from sbc.backends.bpf.assemble import assemble
from sbc.backends.bpf.code import Code
from sbc.backends.bpf.fields import Field
from sbc.backends.bpf.generate import TooLarge, generate
from sbc.backends.bpf.interpreter import run
from sbc.decision.prove import Proof, prove
from sbc.policy.conditions import AllOf, Between, Not
from sbc.policy.syscalls import FilterPolicy, decide
from sbc_runtime.action import ALLOW, Verdict, errno_verdict
from sbc_runtime.arch import ARCHES
from sbc_runtime.instruction import JEQ, Program, pack
from sbc_runtime.verifier import verify
from tests.bpf.policies import EPERM, equals, policy, rule
from tests.shared_data import ROOT

X86_64 = ARCHES["x86_64"].audit


def with_gaps(calls: int, verdicts: int = 1) -> FilterPolicy:
    """Denies every third number, some with a check that is theirs alone."""
    rules = [
        rule(3 * i + i % 2, errno_verdict(1 + i % verdicts), equals(i % 6, i) if i % 7 == 0 else AllOf(()))
        for i in range(calls)
    ]
    return policy(*rules)


def check_every_number(filter_policy: FilterPolicy, last: int) -> Program:
    program = generate(filter_policy)
    verify(program)
    for number in [*range(last + 2), 0x3FFFFFFF, 0x40000000, 0xFFFFFFFF]:
        for value in (0, number // 3, number // 3 + (1 << 32), (1 << 64) - 1):
            args = (value,) * 6
            wanted = decide(filter_policy, X86_64, number, args).verdict
            assert run(program, X86_64, number, args).verdict == wanted, number
    assert run(program, 0, 0).verdict == filter_policy.foreign
    return program


def test_300_denied_calls_with_gaps() -> None:
    program = check_every_number(with_gaps(300), 900)
    assert len(program) < 500
    assert prove(with_gaps(300), program).__class__ is Proof


def test_returns_are_copied_where_they_are_far() -> None:
    program = check_every_number(with_gaps(600, verdicts=40), 1800)
    assert max(max(instruction.jt, instruction.jf) for instruction in program) <= 255


def test_a_far_block_is_reached_by_a_jump() -> None:
    rules = [
        rule(10 * n, EPERM, AllOf(tuple(Not(equals(n % 6, 11 * n + 5 * i)) for i in range(60)))) for n in range(12)
    ]
    filter_policy = policy(*rules)
    program = generate(filter_policy)
    assert 0x05 in [instruction.code for instruction in program]
    assert prove(filter_policy, program).__class__ is Proof


@pytest.mark.parametrize("length", range(250, 262))
def test_the_longest_near_jump(length: int) -> None:
    # each test may leave for the last return; the first ones cannot reach it, whatever stands in between
    code = Code()
    node, out = code.ret(1), code.ret(2)
    for k in range(length):
        node = code.test(Field(0), JEQ, k, out if k % 3 else code.ret(3), node)
    program = assemble(code, node)
    verify(program)
    for number in range(length + 2):
        wanted = 1 if number >= length else 2 if number % 3 else 3
        assert run(program, 0, number).ret == wanted


def test_both_targets_far() -> None:
    code = Code()
    leaves = [code.ret(i) for i in range(600)]
    left = right = leaves[0]
    for k in range(1, 300):
        left = code.test(Field(16), JEQ, k, leaves[k], left)
        right = code.test(Field(24), JEQ, k, leaves[300 + k], right)
    program = assemble(code, code.test(Field(0), JEQ, 7, left, right))
    verify(program)
    for k in range(301):
        assert run(program, 0, 7, (k, 0)).ret == (k if k < 300 else 0)
        assert run(program, 0, 8, (0, k)).ret == (300 + k if 0 < k < 300 else 0)


def scattered(rules: int, calls: int, ranges: bool) -> FilterPolicy:
    return policy(
        *[
            rule(
                3 * (i % calls),
                errno_verdict(1 + i % 5),
                Between(i % 3, 32, 1000 * i, 1000 * i + (500 if ranges else 0)),
            )
            for i in range(rules)
        ]
    )


@pytest.mark.parametrize("ranges", [False, True])
def test_2000_rules_take_no_second(ranges: bool) -> None:
    filter_policy = scattered(2000, 200, ranges)
    start = time.process_time()
    if ranges:
        with pytest.raises(TooLarge):
            generate(filter_policy)
    else:
        assert len(generate(filter_policy)) < 4096
    assert time.process_time() - start < 1


def test_what_the_kernel_would_refuse_is_an_error_that_names_the_largest_call() -> None:
    big = [rule(9, errno_verdict(1 + i % 4000), equals(0, 3 * i)) for i in range(4000)]
    with pytest.raises(TooLarge) as caught:
        generate(policy(rule(1, EPERM, equals(0, 1)), *big))
    error = caught.value
    assert error.call == "call9"
    assert error.instructions > 4096
    assert str(error.call_instructions) in str(error)
    assert "the kernel takes 4096" in str(error)


def test_nothing_is_too_large_that_fits() -> None:
    filter_policy = policy(*[rule(9, EPERM, equals(0, 3 * i)) for i in range(2500)])
    program = generate(filter_policy)
    assert len(program) < 4096
    for value in (0, 1, 3, 3 * 2499, 3 * 2499 + 3):
        wanted = EPERM if value % 3 == 0 and value < 7500 else ALLOW
        assert run(program, X86_64, 9, (value,)).verdict == Verdict.of_ret(wanted.ret())


MAKE = """
from tests.bpf.test_layout import scattered, with_gaps
from sbc.backends.bpf.generate import generate
from sbc_runtime.instruction import pack
import hashlib
print([hashlib.sha256(pack(generate(p), "little")).hexdigest() for p in (with_gaps(300, 9), scattered(300, 40, True))])
"""


def test_hash_seeds_do_not_change_a_byte() -> None:
    made = set[bytes]()
    for seed in ("0", "1", "77"):
        path = os.pathsep.join(str(ROOT / part) for part in (".", "compiler", "runtime"))
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
        made.add(subprocess.run([sys.executable, "-c", MAKE], env=environment, capture_output=True, check=True).stdout)
    assert len(made) == 1


def test_the_order_of_calls_in_the_policy_does_not_matter() -> None:
    rules = [rule(number, EPERM, equals(number % 2, number)) for number in (5, 90, 33, 7, 12)]
    assert pack(generate(policy(*rules)), "little") == pack(
        generate(policy(*sorted(rules, key=lambda r: r.number))), "little"
    )
