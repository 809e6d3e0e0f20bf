"""Law: a lowered condition holds for six registers exactly where the test, read literally on C values, does."""

from collections.abc import Callable
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from sbc.policy.conditions import holds
from tests.resolve.lowered import rules_on

MASK64 = (1 << 64) - 1
ABIS = ("x86_64", "i386", "s390x", "arm", "mips64el")


class CType(NamedTuple):
    """A register and the C type that the kernel casts it to."""

    name: str
    arg: int
    width: int
    signed: bool

    def read(self, registers: tuple[int, ...]) -> int:
        low = registers[self.arg] % (1 << self.width)
        return low - (1 << self.width) if self.signed and low >> (self.width - 1) else low


Meaning = Callable[[tuple[int, ...]], bool]
Case = tuple[str, Meaning]

SUBJECTS = (
    CType("dfd", 0, 32, True),
    CType("flags", 2, 32, True),
    CType("mode", 3, 16, False),
    CType("arg0", 0, 32, True),
    CType("arg3", 3, 16, False),
    CType("arg0:u64", 0, 64, False),
    CType("arg1:s64", 1, 64, True),
    CType("arg2:u32", 2, 32, False),
    CType("arg4:u16", 4, 16, False),
    CType("arg5:s32", 5, 32, True),
)


def values(kind: CType, *, order: bool = False) -> st.SearchStrategy[int]:
    low, top = -(1 << (kind.width - 1)), (1 << kind.width) - 1
    if order and kind.signed:
        top = (1 << (kind.width - 1)) - 1
    edges = [v for v in (low, low + 1, -1, 0, 1, 2, 1 << (kind.width - 1), top - 1, top) if low <= v <= top]
    return st.one_of(st.sampled_from(edges), st.integers(low, top))


def compared(x: int, operator: str, value: int) -> bool:
    return {
        "==": x == value,
        "!=": x != value,
        "<": x < value,
        "<=": x <= value,
        ">": x > value,
        ">=": x >= value,
    }[operator]


def as_type(kind: CType, value: int) -> int:
    return kind.read(tuple(value & MASK64 for _ in range(6)))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    kind = draw(st.sampled_from(SUBJECTS))
    modulus = 1 << kind.width
    shape = draw(st.sampled_from(["compare", "in", "range", "mask", "has"]))
    if shape == "compare":
        operator = draw(st.sampled_from(["==", "!=", "<", "<=", ">", ">="]))
        value = draw(values(kind, order=operator not in ("==", "!=")))
        text = f"{kind.name} {operator} {value}"
        return text, lambda registers: compared(kind.read(registers), operator, as_type(kind, value))
    if shape == "in":
        members = draw(st.lists(values(kind), min_size=1, max_size=4))
        text = f"{kind.name} in {{ {' '.join(map(str, members))} }}"
        return text, lambda registers: any(kind.read(registers) == as_type(kind, one) for one in members)
    if shape == "range":
        ends = sorted(as_type(kind, draw(values(kind, order=True))) for _ in range(2))
        text = f"{kind.name} in {ends[0]}..{ends[1]}"
        return text, lambda registers: ends[0] <= kind.read(registers) <= ends[1]
    bits = draw(values(kind).filter(lambda value: value % modulus != 0))
    if shape == "mask":
        wanted = draw(values(kind)) & bits
        text = f"{kind.name} & {bits} == {wanted}"
        return text, lambda registers: (kind.read(registers) & bits) % modulus == wanted % modulus
    quantifier = draw(st.sampled_from(["any", "all", "none", "only"]))

    def meaning(registers: tuple[int, ...]) -> bool:
        x = kind.read(registers)
        rest = {"any": x & bits, "none": x & bits, "all": ~x & bits, "only": x & ~bits}[quantifier] % modulus
        return rest != 0 if quantifier == "any" else rest == 0

    return f"{kind.name} has {quantifier} {bits}", meaning


def combined(inner: st.SearchStrategy[Case]) -> st.SearchStrategy[Case]:
    def both(pair: tuple[Case, Case]) -> Case:
        (a, left), (b, right) = pair
        return f"({a} and {b})", lambda registers: left(registers) and right(registers)

    def either(pair: tuple[Case, Case]) -> Case:
        (a, left), (b, right) = pair
        return f"({a} or {b})", lambda registers: left(registers) or right(registers)

    def neither(case: Case) -> Case:
        return f"not ({case[0]})", lambda registers: not case[1](registers)

    pairs = st.tuples(inner, inner)
    return st.one_of(pairs.map(both), pairs.map(either), inner.map(neither))


CONDITIONS = st.recursive(cases(), combined, max_leaves=5)
WORDS = st.one_of(
    st.sampled_from([0, 1, 2, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1 << 63, MASK64]),
    st.integers(0, MASK64),
)
REGISTERS = st.lists(WORDS, min_size=6, max_size=6).map(tuple)


@settings(max_examples=300, deadline=None)
@given(
    CONDITIONS, st.lists(REGISTERS, min_size=1, max_size=30), st.sampled_from(["when", "unless"]), st.sampled_from(ABIS)
)
def test_lowered_conditions_agree_with_c(case: Case, samples: list[tuple[int, ...]], word: str, abi: str) -> None:
    text, meaning = case
    (rule,) = rules_on(abi, f"deny EPERM openat {word} {text}").rules
    near = [tuple((value + step) & MASK64 for value in registers) for registers in samples[:3] for step in (-1, 1)]
    for registers in (*samples, *near):
        expected = meaning(registers) == (word == "when")
        assert holds(rule.condition, registers) is expected, (text, registers)
