"""Calls without which no ordinary program starts or ends: a rule that stops one stops every command.

Only rules are looked at: an allow-list may be meant for a program that its author knows.
"""

from collections.abc import Iterator

from sbc.analysis.calls import RUNS
from sbc.analysis.subject import Subject
from sbc.diagnostics.catalogue.lints import ProgramsCannotRun
from sbc.policy.conditions import AllOf, AnyOf, Between, Condition, Masked, Not
from sbc.policy.origin import Origin
from sbc_runtime.action import Action

_KILLS = frozenset({Action.KILL_PROCESS, Action.KILL_THREAD, Action.TRAP})

REFUSED = ("execve", "mmap", "mmap2", "mprotect", "exit_group")
"""With these refused in any way: the command itself, the loader of libraries and the end of a process."""

KILLED = (*REFUSED, "brk", "read", "close", "set_tid_address")
"""With these killed: the loaders and the start of C programs make them, and go on after an error."""

_POINTERS = {"execve": (0, 1, 2)}
"""Arguments that are never null when the call is meant to work."""


def check(subject: Subject) -> Iterator[ProgramsCannotRun]:
    """Report each rule that stops such a call, whatever its arguments."""
    told: set[tuple[str, Origin]] = set()
    for calls in subject.calls():
        for call in KILLED:
            rules = calls.rules(call)
            stops = _KILLS if call not in REFUSED else frozenset(Action) - RUNS
            if not rules or (call == "mmap" and calls.number("mmap2") is not None):
                continue
            first = next((rule for rule in rules if rule.verdict.action in stops), None)
            if first is None or not subject.written(first.origin):
                continue
            always = all(verdict.action in stops for verdict in calls.verdicts(call))
            always = always or (rules[0] is first and _always(first.condition, _POINTERS.get(call, ())))
            if always and (call, first.origin) not in told:
                told.add((call, first.origin))
                yield ProgramsCannotRun(first.origin.span, call, first.verdict.action.word)


def _always(condition: Condition, pointers: tuple[int, ...]) -> bool:
    """Tell whether a condition surely holds where some arguments are not null."""
    match condition:
        case Between(arg=arg, width=width, low=low, high=high):
            return arg in pointers and low <= 1 and high == (1 << width) - 1
        case Not(operand=Masked(arg=arg, width=width, mask=mask, value=0)):
            return arg in pointers and mask == (1 << width) - 1
        case AllOf(operands=operands):
            return all(_always(one, pointers) for one in operands)
        case AnyOf(operands=operands):
            return any(_always(one, pointers) for one in operands)
        case _:
            return False
