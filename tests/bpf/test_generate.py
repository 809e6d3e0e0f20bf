"""The law of the generator: a program decides every call as its policy does."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sbc.backends.bpf.const_allow import is_const_allow
from sbc.backends.bpf.generate import generate
from sbc.backends.bpf.interpreter import run
from sbc.decision.policy_road import diagram_of_policy
from sbc.decision.prove import Proof, prove
from sbc.decision.queries import fixed
from sbc.decision.table import Table
from sbc.decision.words import ARCH, NR
from sbc.policy.conditions import AllOf, AnyOf, Between, Condition, Masked, Not
from sbc.policy.syscalls import FilterPolicy, decide
from sbc_runtime.action import ALLOW, Verdict
from sbc_runtime.verifier import verify
from tests.bpf.policies import ENOSYS, EPERM, conditions, equals, inputs, policies, policy, rule

GENERATED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def check(filter_policy: FilterPolicy, most: int = 64) -> int:
    """Compare program and policy on all calls around the policy's constants; give the program's size."""
    program = generate(filter_policy)
    verify(program)
    order = filter_policy.abis[0].arch.byte_order
    for audit, number, args in inputs(filter_policy, most):
        wanted = decide(filter_policy, audit, number, args).verdict
        got = run(program, audit, number, args, byte_order=order)
        assert got.verdict == Verdict.of_ret(wanted.ret()), (hex(audit), hex(number), [hex(value) for value in args])
    return len(program)


@GENERATED
@given(policies())
def test_a_program_decides_as_its_policy(filter_policy: FilterPolicy) -> None:
    check(filter_policy)


@GENERATED
@given(st.lists(conditions, min_size=1, max_size=4), st.sampled_from(("x86_64", "s390x", "i386")))
def test_several_rules_on_one_call_are_tried_in_order(parts: list[Condition], abi: str) -> None:
    rules = [rule(7, verdict, part) for part, verdict in zip(parts, (EPERM, ENOSYS, ALLOW, EPERM), strict=False)]
    check(policy(*rules, abi=abi), most=256)


@GENERATED
@given(policies())
def test_every_program_is_proven(filter_policy: FilterPolicy) -> None:
    assert isinstance(prove(filter_policy, generate(filter_policy)), Proof)


@GENERATED
@given(policies())
def test_what_is_always_allowed_is_constant(filter_policy: FilterPolicy) -> None:
    table = Table()
    meaning = diagram_of_policy(table, filter_policy)
    allow = table.terminal(ALLOW)
    program = generate(filter_policy)
    for abi in filter_policy.abis:
        of_abi = fixed(table, meaning, ARCH, abi.arch.audit)
        for number in {one.number for one in abi.rules} | {one.number + 1 for one in abi.rules}:
            if number <= abi.arch.last_number:
                always = fixed(table, of_abi, NR, number) == allow
                assert is_const_allow(program, abi.arch.audit, number) == always


def test_a_policy_that_says_one_thing_is_one_return() -> None:
    assert check(policy(rule(3, ALLOW), default=ALLOW, foreign=ALLOW)) == 1


def test_neighbours_that_agree_are_one_interval() -> None:
    assert check(policy(*[rule(number, EPERM) for number in range(100, 120)])) == 3 + 3 + 3


def test_an_unassigned_number_has_the_default() -> None:
    program = generate(policy(rule(5, ALLOW), rule(7, ALLOW), default=EPERM))
    audit = policy().abis[0].arch.audit
    assert [run(program, audit, number).verdict for number in (5, 6, 7)] == [ALLOW, EPERM, ALLOW]


def test_rules_on_neighbouring_values_become_holes() -> None:
    # allow below 38, 39, above 40: `ld; jeq 38; jeq 40`
    rules = [rule(0, ALLOW, Between(0, 32, *ends)) for ends in ((0, 37), (39, 39), (41, 0xFFFFFFFF))]
    gate = check(policy(rule(0, ALLOW), default=EPERM))
    assert check(policy(*rules, default=EPERM)) == gate + 3


def test_values_that_differ_in_some_bits_are_one_bit_test() -> None:
    # 0, 8, 0x20000, 0x20008 and -1: `ld; jge 0xffffffff; jset ~0x20008`
    rules = [rule(0, ALLOW, equals(0, value)) for value in (0, 8, 0x20000, 0x20008, 0xFFFFFFFF)]
    gate = check(policy(rule(0, ALLOW), default=EPERM))
    assert check(policy(*rules, default=EPERM)) == gate + 3


def test_equal_checks_of_several_calls_are_one() -> None:
    check_of_flags = Not(Masked(0, 64, 0x7E020000, 0))
    one = check(policy(rule(10, EPERM, check_of_flags)))
    assert check(policy(rule(10, EPERM, check_of_flags), rule(20, EPERM, check_of_flags))) == one + 1


def test_a_word_is_loaded_once_on_a_path() -> None:
    condition = AnyOf((equals(0, 5), equals(1, 5), equals(0, 9)))
    program = generate(policy(rule(0, EPERM, condition), foreign=ALLOW))
    assert [instruction.k for instruction in program if instruction.code == 0x20] == [4, 0, 16, 24]


def test_a_16_bit_argument_is_masked() -> None:
    program = generate(policy(rule(0, EPERM, equals(1, 0o644, 16))))
    assert [instruction.k for instruction in program if instruction.code == 0x54] == [0xFFFF]
    check(policy(rule(0, EPERM, Between(1, 16, 5, 77)), rule(0, ENOSYS, Between(1, 16, 256, 0xFFFF))))


def test_rules_that_together_cover_everything_leave_no_test() -> None:
    parts = (Masked(0, 32, 1, 1), Masked(0, 32, 3, 0), Masked(0, 32, 3, 2))
    assert check(policy(*[rule(3, ALLOW, part) for part in parts], default=EPERM, foreign=EPERM)) == 6
    mixed = (Between(0, 16, 0, 0x7FFF), Masked(0, 32, 0x8000, 0x8000))
    assert check(policy(*[rule(3, ALLOW, part) for part in mixed], default=EPERM, foreign=EPERM)) == 6


def test_overlapping_ranges_fall_back_to_a_chain() -> None:
    # as regions their number would be the square of the rules'
    rules = [
        rule(
            1,
            EPERM if i % 2 else ENOSYS,
            AllOf((Between(0, 32, i, 5000 - 3 * i), Between(1, 32, 7 * i % 997, 3000 + 11 * i))),
        )
        for i in range(400)
    ]
    assert check(policy(*rules)) < 400 * 6 + 100


def test_many_masks_fall_back_to_a_chain() -> None:
    rules = [rule(1, EPERM, Masked(0, 32, 3 << i % 29 | i << 3, 1 << i % 29)) for i in range(1, 90)]
    check(policy(*rules), most=16)
