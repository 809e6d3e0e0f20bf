"""Policies made by hand and at random, and the inputs that tell two of them apart."""

from collections.abc import Iterator
from itertools import product

from hypothesis import strategies as st

from sbc.policy.conditions import ALWAYS, AllOf, AnyOf, Between, Condition, Masked, Not
from sbc.policy.origin import Origin
from sbc.policy.syscalls import AbiRules, FilterPolicy, Newer, Rule
from sbc_runtime.action import ALLOW, KILL_PROCESS, KILL_THREAD, Action, Verdict, errno_verdict
from sbc_runtime.arch import ARCHES

LAST = (1 << 64) - 1
ORIGIN = Origin("syscalls", "a statement")
EPERM = errno_verdict(1)
ENOSYS = errno_verdict(38)


def rule(number: int, verdict: Verdict, condition: Condition = ALWAYS) -> Rule:
    return Rule(number, f"call{number}", verdict, ORIGIN, condition)


def policy(
    *rules: Rule, default: Verdict = ALLOW, abi: str = "x86_64", foreign: Verdict = KILL_PROCESS
) -> FilterPolicy:
    return FilterPolicy((AbiRules(ARCHES[abi], rules, default, ORIGIN),), foreign, ORIGIN)


def equals(arg: int, value: int, width: int = 32) -> Condition:
    return Between(arg, width, value, value)


JOINED = (
    ("x86_64",),
    ("x86_64", "x32"),
    ("x86_64", "i386", "x32"),
    ("x86_64", "i386"),
    ("i386",),
    ("aarch64", "arm"),
    ("s390x",),
    ("ppc64le",),
)

VALUES = (0, 1, 2, 3, 8, 16, 38, 40, 0x80, 0xFF, 0xFFFF, 0x7E020000, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF)
WIDE = (*VALUES, 1 << 32, (1 << 32) + 5, 0x7E02000000000001, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)

verdicts = st.sampled_from(
    (
        ALLOW,
        EPERM,
        ENOSYS,
        KILL_PROCESS,
        KILL_THREAD,
        Verdict(Action.TRAP, 7),
        Verdict(Action.LOG),
        Verdict(Action.NOTIFY),
    )
)


@st.composite
def tests_of_arguments(draw: st.DrawFn) -> Condition:
    width = draw(st.sampled_from((16, 32, 32, 64, 64)))
    last = (1 << width) - 1
    arg = draw(st.sampled_from((0, 0, 0, 1, 5)))
    values = st.sampled_from([value for value in WIDE if value <= last]) | st.integers(0, last)
    first, second = draw(values), draw(values)
    if draw(st.booleans()):
        return Masked(arg, width, first or 1, second & (first or 1))
    if draw(st.booleans()):
        return Between(arg, width, first, first)
    return Between(arg, width, min(first, second), max(first, second))


conditions = st.recursive(
    tests_of_arguments(),
    lambda inner: st.one_of(
        inner.map(Not),
        st.lists(inner, max_size=4).map(lambda parts: AllOf(tuple(parts))),
        st.lists(inner, max_size=4).map(lambda parts: AnyOf(tuple(parts))),
    ),
    max_leaves=6,
)


@st.composite
def abis(draw: st.DrawFn, name: str) -> AbiRules:
    arch = ARCHES[name]
    some = st.sampled_from((0, 1, 2, 3, 5, 8, 9, 10, 11, 12, 40, 41, 255, 256, 300, 1000))
    numbers = some.map(lambda number: arch.first_number + number) | st.sampled_from((arch.last_number, 0x40000001))
    rules = st.builds(rule, numbers, verdicts, st.just(ALWAYS) | conditions)
    newer = None
    if draw(st.booleans()):
        low = arch.first_number + draw(st.sampled_from((0, 2, 10, 256, 500)))
        newer = Newer(low, draw(st.sampled_from((low, low + 3, arch.last_number))), draw(verdicts), ORIGIN)
    return AbiRules(arch, tuple(draw(st.lists(rules, max_size=12))), draw(verdicts), ORIGIN, newer)


@st.composite
def policies(draw: st.DrawFn) -> FilterPolicy:
    names = draw(st.sampled_from(JOINED))
    return FilterPolicy(tuple(draw(abis(name)) for name in names), draw(verdicts), ORIGIN)


def constants(condition: Condition) -> Iterator[tuple[int, int]]:
    """Give each argument that is compared, with the values at which something may change."""
    match condition:
        case Masked(arg=arg, mask=mask, value=value):
            yield from (
                (arg, edge) for edge in (value, mask, value ^ (mask & -mask), ~mask & (1 << 64) - 1, value | ~mask)
            )
        case Between(arg=arg, low=low, high=high):
            yield from ((arg, edge) for edge in (low - 1, low, low + 1, high - 1, high, high + 1, low + (1 << 32)))
        case Not(operand=operand):
            yield from constants(operand)
        case AllOf(operands=operands) | AnyOf(operands=operands):
            for operand in operands:
                yield from constants(operand)


def inputs(filter_policy: FilterPolicy, most: int = 64) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """Give calls around every constant of a policy: audit architecture, number, arguments."""
    audits = {abi.arch.audit for abi in filter_policy.abis}
    rules = [one for abi in filter_policy.abis for one in abi.rules]
    edges = [0, 0x3FFFFFFF, 0x40000000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]
    newer = [edge for abi in filter_policy.abis if abi.newer for edge in (abi.newer.low, abi.newer.high)]
    near = {
        near for number in (*edges, *newer, *(one.number for one in rules)) for near in (number - 1, number, number + 1)
    }
    for audit in sorted({*audits, *(audit + 1 for audit in audits), 0, 0xFFFFFFFF, 0xC00000B7}):
        for number in sorted(number & 0xFFFFFFFF for number in near):
            values: dict[int, set[int]] = {}
            for one in rules:
                if one.number == number and audit in audits:
                    for arg, value in constants(one.condition):
                        low = value & (1 << 64) - 1
                        values.setdefault(arg, {0, (1 << 64) - 1}).update(
                            (low, low & 0xFFFFFFFF, low | 0xDEADBEEF << 32)
                        )
            choices = [sorted(values.get(arg, {0xCAFEF00D00000001})) for arg in range(6)]
            for place, args in enumerate(product(*_thinned(choices, most))):
                if place == most * 4:
                    break
                yield audit, number, args


def _thinned(choices: list[list[int]], most: int) -> list[list[int]]:
    """Thin the longest lists out until their product is about `most` times four."""
    size = 1
    for choice in choices:
        size *= len(choice)
    while size > most * 4:
        longest = max(range(len(choices)), key=lambda place: len(choices[place]))
        size = size // len(choices[longest])
        if len(choices[longest]) <= 2:
            break
        choices[longest] = choices[longest][::2]
        size *= len(choices[longest])
    return choices
