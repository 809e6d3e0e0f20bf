"""Cheap proofs that a rule decides: one call that it matches and that no rule above it does."""

from collections.abc import Sequence

from sbc.policy.conditions import AllOf, AnyOf, Between, Condition, Masked, Not, holds
from sbc.policy.syscalls import Rule

_BACKGROUNDS = (0x5A3C_96E1_7B4D_2F08, 0)
"""What stands in the registers that a condition says nothing of: a value that profiles do not name, and zero."""


_MOST = 256
"""With more rules than these on one number, looking at each pair costs more than the diagram does."""


def surely_decide(rules: Sequence[Rule]) -> bool:
    """Tell whether each of the rules on one number has such a call. A `False` says nothing."""
    return len(rules) <= _MOST and all(_decides(rules, place) for place in range(len(rules)))


def _decides(rules: Sequence[Rule], place: int) -> bool:
    for background in _BACKGROUNDS:
        args = [background] * 6
        _fit(rules[place].condition, args)
        call = tuple(args)
        if holds(rules[place].condition, call) and not any(holds(rule.condition, call) for rule in rules[:place]):
            return True
    return False


def _fit(condition: Condition, args: list[int]) -> None:
    """Change registers so that a condition is likely to hold."""
    match condition:
        case Masked(arg=arg, mask=mask, value=value):
            args[arg] = args[arg] & ~mask | value
        case Between(arg=arg, width=width, low=low):
            args[arg] = args[arg] & ~((1 << width) - 1) | low
        case AllOf(operands=operands):
            for operand in operands:
                _fit(operand, args)
        case AnyOf(operands=operands):
            if operands:
                _fit(operands[0], args)
        case Not():
            pass
