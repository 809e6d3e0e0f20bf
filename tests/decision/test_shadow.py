"""Rules that never decide: exactly those that decide for no input, tried out on every input that could matter."""

from hypothesis import given, settings
from hypothesis import strategies as st

from sbc.decision.shadow import undecided_rules
from sbc.policy.conditions import ALWAYS, AllOf, AnyOf, Between, Condition, Masked, Not, holds
from sbc.policy.syscalls import AbiRules, Rule
from sbc_runtime.action import ALLOW
from sbc_runtime.arch import ARCHES
from tests.bpf.policies import ENOSYS, EPERM, ORIGIN, equals, rule

X86_64 = ARCHES["x86_64"]


def abi(*rules: Rule) -> AbiRules:
    return AbiRules(X86_64, rules, ALLOW, ORIGIN)


@st.composite
def narrow(draw: st.DrawFn) -> Condition:
    """Tests on the low three bits of two arguments: 64 inputs are all there are."""
    arg = draw(st.integers(0, 1))
    if draw(st.booleans()):
        mask = draw(st.integers(1, 7))
        return Masked(arg, 32, mask, draw(st.integers(0, 7)) & mask)
    low, high = sorted((draw(st.integers(0, 7)), draw(st.integers(0, 7))))
    inside = Between(arg, 32, low, high)
    return AllOf((inside, Between(arg, 32, 0, 7)))


conditions = st.just(ALWAYS) | st.recursive(
    narrow(),
    lambda inner: st.one_of(
        inner.map(Not),
        st.lists(inner, max_size=3).map(lambda parts: AllOf(tuple(parts))),
        st.lists(inner, max_size=3).map(lambda parts: AnyOf(tuple(parts))),
    ),
    max_leaves=4,
)


INPUTS = [(a, b, 0, 0, 0, 0) for a in (*range(8), 8, 9, 15, 2**32 - 1) for b in (*range(8), 8, 9, 15, 2**32 - 1)]
WIDER = [(a, b, 0, 0, 0, 0) for a in range(16) for b in range(16)]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.builds(rule, st.integers(1, 2), st.just(EPERM), conditions), max_size=6))
def test_exactly_the_rules_that_decide_nothing(rules: list[Rule]) -> None:
    deciding: dict[int, set[int]] = {}
    for number in (1, 2):
        for args in (*WIDER, *INPUTS):
            held = [at for at, one in enumerate(rules) if one.number == number and holds(one.condition, args)]
            for at in held:
                deciding.setdefault(at, set()).add(held[0])
    never = [at for at in range(len(rules)) if at not in deciding.get(at, set())]
    found = undecided_rules(abi(*rules))
    assert [id(one.rule) for one in found] == [id(rules[at]) for at in never]
    for one, at in zip(found, never, strict=True):
        assert [id(above) for above in one.covered_by] == [id(rules[above]) for above in sorted(deciding.get(at, ()))]


def test_what_covers_a_rule() -> None:
    low, high = rule(1, EPERM, Between(0, 32, 0, 9)), rule(1, ENOSYS, Between(0, 32, 10, 19))
    elsewhere, inside = rule(1, EPERM, equals(1, 4)), rule(1, ENOSYS, Between(0, 32, 5, 15))
    found = undecided_rules(abi(low, high, inside, elsewhere))
    assert [(one.rule, one.covered_by) for one in found] == [(inside, (low, high))]


def test_rules_without_a_number_or_an_input() -> None:
    never = rule(1, EPERM, AllOf((equals(0, 1), equals(0, 2))))
    x32 = rule(0x40000001, EPERM)
    found = undecided_rules(abi(never, x32, rule(2, EPERM)))
    assert [(one.rule, one.covered_by) for one in found] == [(never, ()), (x32, ())]


def test_the_same_rule_again() -> None:
    first, second = rule(1, EPERM), rule(1, EPERM)
    assert [one.covered_by for one in undecided_rules(abi(first, second))] == [(first,)]
    assert undecided_rules(abi(first, rule(2, EPERM))) == ()
