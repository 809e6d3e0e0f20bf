"""The road from the policy: it must say what `decide`, the literal reading, says."""

from hypothesis import given, settings
from hypothesis import strategies as st

from sbc.decision.policy_road import diagram_of_condition, diagram_of_policy
from sbc.decision.queries import value_at
from sbc.decision.ranges import ranges_of
from sbc.decision.table import FALSE, TRUE, Table
from sbc.decision.words import Input
from sbc.policy.conditions import ALWAYS, NEVER, AllOf, AnyOf, Between, Condition, Masked, Not, holds
from sbc.policy.syscalls import FilterPolicy, decide
from sbc_runtime.action import ALLOW, Action, Verdict
from tests.bpf.policies import EPERM, conditions, constants, equals, inputs, policies, policy, rule

words64 = st.integers(0, (1 << 64) - 1)


@settings(max_examples=100, deadline=None)
@given(policies())
def test_says_what_the_policy_says_on_boundaries(filter_policy: FilterPolicy) -> None:
    table = Table()
    diagram = diagram_of_policy(table, filter_policy)
    for audit, number, args in inputs(filter_policy, 4):
        call = Input(audit, number, args)
        expected = decide(filter_policy, audit, number, args).verdict
        assert value_at(table, diagram, call.words()) == Verdict.of_ret(expected.ret()), call


@settings(max_examples=100, deadline=None)
@given(policies(), st.data())
def test_says_what_the_policy_says_anywhere(filter_policy: FilterPolicy, data: st.DataObject) -> None:
    table = Table()
    diagram = diagram_of_policy(table, filter_policy)
    numbers = [one.number for abi in filter_policy.abis for one in abi.rules]
    audits = [abi.arch.audit for abi in filter_policy.abis]
    for _ in range(10):
        audit = data.draw(st.sampled_from(audits) | st.integers(0, 0xFFFFFFFF))
        number = data.draw(st.sampled_from([*numbers, 0]) | st.integers(0, 0xFFFFFFFF))
        args = tuple(data.draw(st.lists(words64, min_size=6, max_size=6)))
        expected = decide(filter_policy, audit, number, args).verdict
        assert value_at(table, diagram, Input(audit, number, args).words()) == Verdict.of_ret(expected.ret())


@settings(max_examples=200, deadline=None)
@given(conditions, st.data())
def test_conditions_hold_where_they_are_read_to_hold(condition: Condition, data: st.DataObject) -> None:
    table = Table()
    diagram = diagram_of_condition(table, condition)
    edges: dict[int, list[int]] = {}
    for arg, value in constants(condition):
        edges.setdefault(arg, []).append(value & (1 << 64) - 1)
    for _ in range(8):
        args = tuple(data.draw(st.sampled_from([*edges.get(arg, ()), 0]) | words64) for arg in range(6))
        node, words = diagram, Input(0, 0, args).words()
        while node not in (FALSE, TRUE):
            word, place = divmod(table.variable[node], 32)
            node = table.high[node] if words[word] >> 31 - place & 1 else table.low[node]
        assert (node == TRUE) == holds(condition, args)


def test_conditions_without_operands() -> None:
    table = Table()
    assert diagram_of_condition(table, ALWAYS) == TRUE
    assert diagram_of_condition(table, NEVER) == FALSE
    assert diagram_of_condition(table, Not(NEVER)) == TRUE


def test_equal_conditions_have_one_diagram() -> None:
    table = Table()
    low = Between(0, 32, 0, 0x7FFFFFFF)
    pairs: list[tuple[Condition, Condition]] = [
        (low, Masked(0, 32, 0x80000000, 0)),
        (AnyOf((equals(0, 4), equals(0, 5))), Masked(0, 32, 0xFFFFFFFE, 4)),
        (AllOf((Not(equals(1, 4)), Not(equals(1, 5)))), Not(Masked(1, 32, 0xFFFFFFFE, 4))),
        (AnyOf((low, Not(low))), ALWAYS),
        (Between(2, 64, 0, (1 << 64) - 1), ALWAYS),
        (AllOf((low, Between(0, 64, 1 << 32, (1 << 64) - 1))), AllOf((Not(Between(0, 64, 0, (1 << 32) - 1)), low))),
    ]
    for left, right in pairs:
        assert diagram_of_condition(table, left) == diagram_of_condition(table, right)


def test_ranges_are_sorted_with_gaps_between() -> None:
    asked = ranges_of(Not(AnyOf((equals(0, 5), Between(0, 32, 6, 9), equals(0, 0)))))
    assert asked is not None
    assert asked.ranges == ((1, 4), (10, 0xFFFFFFFF))
    assert ranges_of(AnyOf((equals(0, 5), equals(1, 5)))) is None
    assert ranges_of(Masked(0, 32, 1, 1)) is None


def test_verdicts_are_as_the_kernel_takes_them() -> None:
    table = Table()
    over = policy(rule(1, Verdict(Action.ERRNO, 0xFFFF)), rule(2, Verdict(Action.LOG, 9)))
    capped = policy(rule(1, Verdict(Action.ERRNO, 4095)), rule(2, Verdict(Action.LOG)))
    assert diagram_of_policy(table, over) == diagram_of_policy(table, capped)


def test_first_rule_that_holds_decides_whatever_its_kind() -> None:
    """The same rules, one by one and as ranges: a masked rule that never matters forces the general way."""
    table = Table()
    rules = (
        rule(1, EPERM, Between(0, 32, 5, 9)),
        rule(1, Verdict(Action.LOG), equals(1, 3)),
        rule(1, ALLOW, Between(0, 32, 0, 20)),
        rule(1, Verdict(Action.TRAP, 1), equals(1, 4)),
    )
    never = rule(1, EPERM, AllOf((Masked(0, 32, 1, 1), Masked(0, 32, 1, 0))))
    assert diagram_of_policy(table, policy(*rules)) == diagram_of_policy(table, policy(never, *rules))
