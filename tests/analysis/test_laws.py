"""Laws of the checks and explanations, on policies that hypothesis makes."""

from hypothesis import given
from hypothesis import strategies as st

from sbc.analysis.calls import Calls
from sbc.analysis.explain.call import possible
from sbc.analysis.witness import surely_decide
from sbc.decision.shadow import undecided_rules
from sbc.policy.conditions import ALWAYS, AllOf, AnyOf, Between, Condition, Masked, Not
from sbc.policy.origin import Origin
from sbc.policy.syscalls import AbiRules, FilterPolicy, Rule, decide
from sbc_runtime.action import ALLOW, KILL_PROCESS, Action, Verdict, errno_verdict
from sbc_runtime.arch import ARCHES

ARCH = ARCHES["x86_64"]
NUMBER = 56
VERDICTS = (ALLOW, errno_verdict(1), errno_verdict(38), Verdict(Action.LOG))

words = st.integers(0, 7) | st.sampled_from((0x7FFFFFFF, 0x80000000, 0xFFFFFFFF))
args = st.tuples(*[st.sampled_from((0, 1, 2, 3, 7, 8, 0x80000000, 0xFFFFFFFF, 1 << 32, (1 << 64) - 1))] * 6)


@st.composite
def masked(draw: st.DrawFn) -> Masked:
    mask = draw(words.filter(bool))
    return Masked(draw(st.integers(0, 1)), 32, mask, draw(words) & mask)


@st.composite
def between(draw: st.DrawFn) -> Between:
    low, high = sorted((draw(words), draw(words)))
    return Between(draw(st.integers(0, 1)), 32, low, high)


def _inner(children: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    several = st.lists(children, min_size=1, max_size=3).map(tuple)
    return several.map(AllOf) | several.map(AnyOf) | children.map(Not)


conditions: st.SearchStrategy[Condition] = st.recursive(masked() | between() | st.just(ALWAYS), _inner, max_leaves=4)


@st.composite
def policies(draw: st.DrawFn) -> FilterPolicy:
    made = draw(st.lists(st.tuples(conditions, st.sampled_from(VERDICTS)), min_size=1, max_size=5))
    rules = tuple(
        Rule(NUMBER, "clone", verdict, Origin("syscalls", f"rule {place}"), condition)
        for place, (condition, verdict) in enumerate(made)
    )
    other = Origin("syscalls", "default")
    return FilterPolicy((AbiRules(ARCH, rules, draw(st.sampled_from(VERDICTS)), other),), KILL_PROCESS, other)


@given(policies())
def test_a_cheap_proof_is_never_wrong(policy: FilterPolicy) -> None:
    rules = policy.abis[0].rules
    if surely_decide(rules):
        assert undecided_rules(policy.abis[0]) == ()


@given(policies(), args)
def test_the_verdict_is_one_of_those_that_a_call_can_get(policy: FilterPolicy, values: tuple[int, ...]) -> None:
    found = Calls(policy.abis[0]).verdicts("clone")
    assert decide(policy, ARCH.audit, NUMBER, values).verdict in found


@given(policies(), args, st.sets(st.integers(0, 5)))
def test_what_decides_is_among_the_outcomes(policy: FilterPolicy, values: tuple[int, ...], open_args: set[int]) -> None:
    known = tuple(None if place in open_args else value for place, value in enumerate(values))
    outcomes = possible(policy.abis[0], NUMBER, known)
    decision = decide(policy, ARCH.audit, NUMBER, values)
    assert (decision.verdict, decision.origin) in {(outcome.verdict, outcome.origin) for outcome in outcomes}


@given(policies(), st.sets(st.integers(0, 5)))
def test_each_outcome_has_an_example_that_is_one(policy: FilterPolicy, open_args: set[int]) -> None:
    known = tuple(None if place in open_args else 1 for place in range(6))
    for outcome in possible(policy.abis[0], NUMBER, known):
        assert outcome.example is not None
        decision = decide(policy, ARCH.audit, NUMBER, outcome.example)
        assert (decision.verdict, decision.origin) == (outcome.verdict, outcome.origin)
        assert all(value in (None, given) for value, given in zip(known, outcome.example, strict=True))
