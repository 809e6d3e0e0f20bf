"""Rules in words: from the statement's own text, and exactly, from its condition."""

import re
from functools import cache

from sbc.backends.docs.blocks import Code, Inline, Mark, Text, codes
from sbc.kernel.constants import errno
from sbc.policy.conditions import AllOf, AnyOf, Between, Condition, Masked, Not
from sbc.policy.origin import Origin
from sbc_runtime.action import Action, Verdict

_ACTIONS = {
    Action.KILL_PROCESS: "kills the process",
    Action.KILL_THREAD: "kills the thread",
    Action.TRAP: "raises SIGSYS",
    Action.NOTIFY: "asks the supervisor",
    Action.TRACE: "asks the tracer",
    Action.LOG: "is allowed and logged",
    Action.ALLOW: "is allowed",
}

_TOKEN = re.compile(r"\{[^{}]*\}|[()]|==|!=|<=|>=|[<>&|]|[^\s(){}<>=!&|]+")
_TESTS = {
    "==": " is ",
    "!=": " is not ",
    "<": " is below ",
    "<=": " is at most ",
    ">": " is above ",
    ">=": " is at least ",
    "&": " & ",
    "|": " | ",
    "and": " and ",
    "or": " or ",
    "not": "not ",
    "(": "(",
    ")": ")",
}
_HAS = {"any": " has any of ", "all": " has all of ", "none": " has none of ", "only": " has nothing but "}


@cache
def _errno_names(abi: str) -> dict[int, tuple[str, ...]]:
    names: dict[int, tuple[str, ...]] = {}
    for name, value in sorted(errno(abi).items()):
        names[value] = (*names.get(value, ()), name)
    return names


def verdict_words(verdict: Verdict, origin: Origin, abi: str) -> Inline:
    """Say what a verdict does with a call. Where an error number has two names, the statement's is used."""
    if verdict.action is Action.ERRNO:
        names = _errno_names(abi).get(verdict.data, ())
        said = re.findall(r"\w+", origin.text)
        name = next((name for name in names if name in said), names[0] if names else str(verdict.data))
        return Text("fails with "), Code(name)
    if verdict.action is Action.TRACE:
        return (Text(f"asks the tracer, with message {verdict.data}"),)
    return (Text(_ACTIONS[verdict.action]),)


def condition_words(origin: Origin) -> Inline | None:
    """Say a rule's condition from its statement's text: `when flags has any X` gives: when `flags` has any of `X`.

    None where the text does not read as a rule with a condition.
    """
    found = re.search(r"(?:^|[\s}])(when|unless)\s", origin.text)
    if found is None:
        return None
    tail = origin.text[found.end() :]
    tokens = _TOKEN.findall(tail)
    if "".join(tokens).replace(" ", "") != "".join(tail.split()):
        return (Text(f" {found[1]} "), Code(tail))
    return (Text(f" {found[1]} "), *_translate(tokens))


def _translate(words: list[str]) -> Inline:
    made: list[Text | Code | Mark] = []
    place = 0
    while place < len(words):
        word = words[place]
        following = words[place + 1] if place + 1 < len(words) else ""
        if word == "has" and following in _HAS:
            made.append(Text(_HAS[following]))
            place += 1
        elif word == "in" and following:
            low, dots, high = following.partition("..")
            if following.startswith("{"):
                made.append(Text(" is one of "))
            elif dots and low and high:
                made += (Text(" is between "), Code(low), Text(" and "), Code(high))
                place += 1
            else:
                made.append(Text(" is in "))
        elif word in _TESTS:
            made.append(Text(_TESTS[word]))
        elif word.startswith("{"):
            made += codes(re.split(r"[\s,]+", word[1:-1].strip(" ,\t")))
        else:
            made.append(Code(word))
        place += 1
    return tuple(made)


def exactly(condition: Condition) -> str:
    """Write a condition on registers in the notation of the language: `arg0:u32 in { 1 2 }`."""
    match condition:
        case Masked():
            return _masked(condition, "==")
        case Not(operand=Masked() as test):
            return _masked(test, "!=")
        case Between():
            return _between(condition)
        case Not(operand=operand):
            if (found := _listed(operand)) is not None:
                return f"{found[0]} not in {found[1]}"
            return f"not ({exactly(operand)})"
        case AllOf(operands=()):
            return "always"
        case AnyOf(operands=()):
            return "never"
        case AllOf(operands=operands):
            return " and ".join(_inner(one) for one in operands)
        case AnyOf(operands=operands):
            if (found := _listed(condition)) is not None:
                return f"{found[0]} in {found[1]}"
            return " or ".join(_inner(one) for one in operands)


def _inner(condition: Condition) -> str:
    compound = isinstance(condition, AllOf | AnyOf) and len(condition.operands) > 1 and _listed(condition) is None
    return f"({exactly(condition)})" if compound else exactly(condition)


def _register(test: Masked | Between) -> str:
    return f"arg{test.arg}:u{test.width}"


def _value(value: int) -> str:
    return str(value) if value < 1000 else f"{value:#x}"


def _equal_to(condition: Condition) -> int | None:
    """Give the one value that a test lets through, or None."""
    if isinstance(condition, Masked) and condition.mask == (1 << condition.width) - 1:
        return condition.value
    if isinstance(condition, Between) and condition.low == condition.high:
        return condition.low
    return None


def _listed(condition: Condition) -> tuple[str, str] | None:
    """Give register and set, where a condition is a choice between values of one register."""
    if not isinstance(condition, AnyOf) or len(condition.operands) < 2:
        return None
    values: list[int] = []
    registers: set[str] = set()
    for one in condition.operands:
        value = _equal_to(one)
        if value is None or not isinstance(one, Masked | Between):
            return None
        values.append(value)
        registers.add(_register(one))
    if len(registers) != 1:
        return None
    return registers.pop(), "{ " + " ".join(_value(value) for value in sorted(set(values))) + " }"


def _masked(test: Masked, sign: str) -> str:
    if _equal_to(test) is not None:
        return f"{_register(test)} {sign} {_value(test.value)}"
    return f"{_register(test)} & {_value(test.mask)} {sign} {_value(test.value)}"


def _between(test: Between) -> str:
    if test.low == test.high:
        return f"{_register(test)} == {_value(test.low)}"
    if test.low == 0:
        return f"{_register(test)} <= {_value(test.high)}"
    if test.high == (1 << test.width) - 1:
        return f"{_register(test)} >= {_value(test.low)}"
    return f"{_register(test)} in {_value(test.low)}..{_value(test.high)}"
