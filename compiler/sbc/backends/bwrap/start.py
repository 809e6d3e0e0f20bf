"""What bubblewrap itself needs of the filter.

It loads the filter in the process that becomes the command and in its init, and both go on from there: the one to
`execve`, the other to wait for it and to tell its status by `write`, where an errno goes unnoticed and a signal ends
it (tried with 0.8 and 0.11; `tests/targets/test_bwrap_run.py` tries it again). The arguments of these calls are known
but for addresses and a descriptor, so what a filter decides of them is computed exactly.
"""

from collections.abc import Callable, Iterator

from sbc.decision.policy_road import diagram_of_condition
from sbc.decision.table import FALSE, Table, TooComplex
from sbc.diagnostics.catalogue.targets import SandboxCannotStart
from sbc.kernel.numbers import numbers
from sbc.policy.conditions import AllOf, Between, Condition, Masked
from sbc.policy.origin import Origin
from sbc.policy.policy import Policy
from sbc.policy.syscalls import AbiRules
from sbc.record import Record
from sbc_runtime.action import Action

_PASSES = frozenset({Action.ALLOW, Action.LOG})
_SURVIVES = frozenset({*_PASSES, Action.ERRNO, Action.TRACE, Action.NOTIFY})
_INT = 32


class Need(Record):
    """The actions on a call that leave bubblewrap working; `arguments` gives, for a word size, what it passes."""

    fine: frozenset[Action]
    arguments: Callable[[int], Condition]


def _address(arg: int, word: int) -> Condition:
    return Between(arg, word, 1, (1 << word) - 1)


def _value(arg: int, width: int, value: int) -> Condition:
    mask = (1 << width) - 1
    return Masked(arg, width, mask, value & mask)


NEEDED = {
    "execve": Need(_PASSES, lambda word: AllOf(tuple(_address(arg, word) for arg in range(3)))),
    # wait(&status)
    "wait4": Need(
        _PASSES, lambda word: AllOf((_value(0, _INT, -1), _address(1, word), _value(2, _INT, 0), _value(3, word, 0)))
    ),
    # write(an eventfd, &value, 8)
    "write": Need(_SURVIVES, lambda word: AllOf((_address(1, word), _value(2, word, 8)))),
}
"""The calls that it makes under the filter."""


def check(policy: Policy) -> Iterator[SandboxCannotStart]:
    """Give every needed call that a filter stops whatever is open of its arguments."""
    told: set[tuple[str, Origin]] = set()
    for one in policy.syscalls.filters:
        # bubblewrap runs under the filter's first ABI, the native one.
        abi = one.abis[0]
        for call, need in NEEDED.items():
            number = numbers(abi.arch.name).get(call)
            stopped = None if number is None else _stopped_by(abi, number, need)
            if stopped is not None and (call, stopped) not in told:
                told.add((call, stopped))
                yield SandboxCannotStart(stopped.span, call, stopped.text)


def _stopped_by(abi: AbiRules, number: int, need: Need) -> Origin | None:
    """Give what stops a call under an ABI for all arguments that bubblewrap may pass, if anything does."""
    table = Table()
    first: Origin | None = None
    try:
        left = diagram_of_condition(table, need.arguments(abi.arch.word))
        for rule in abi.rules:
            if rule.number != number:
                continue
            held = diagram_of_condition(table, rule.condition)
            if table.both(left, held) == FALSE:
                continue
            if rule.verdict.action in need.fine:
                return None
            first = first or rule.origin
            left = table.both(left, table.outside(held))
    except TooComplex:
        return None  # then the filter cannot be proven either, which is told
    if left == FALSE:
        return first
    newer = abi.newer
    if newer is not None and newer.low <= number <= newer.high:
        verdict, origin = newer.verdict, newer.origin
    else:
        verdict, origin = abi.default, abi.default_origin
    return None if verdict.action in need.fine else first or origin
