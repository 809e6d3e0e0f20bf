"""Numbers of the calls of each ABI.

Source: the package `system-calls` and, for calls that kernels removed, the numbers that stay reserved for them.
"""

from collections.abc import Mapping
from functools import cache, lru_cache
from types import MappingProxyType

from sbc.kernel._data import load
from sbc.kernel.abi import X32_BIT, check

_ARM_PRIVATE = 0xF0000
_X32_OWN = range(X32_BIT + 512, X32_BIT + 548)


@cache
def numbers(abi: str) -> Mapping[str, int]:
    """The number of each call of `abi`."""
    found: dict[str, int] = load(check(abi))["numbers"]
    return MappingProxyType(found)


@cache
def names_of(abi: str) -> Mapping[int, str]:
    """The name of each assigned number of `abi`."""
    return MappingProxyType({number: call for call, number in numbers(abi).items()})


@cache
def all_calls() -> frozenset[str]:
    """Every name that is a call of at least one supported ABI."""
    return frozenset(load("calls")["since"])


@lru_cache(1024)
def expand_glob(pattern: str) -> tuple[str, ...]:
    """The calls of any ABI that match a pattern, where `*` stands for any text, sorted; none match: empty."""
    if "*" not in pattern:
        return (pattern,) if pattern in all_calls() else ()
    first, *middle, last = pattern.split("*")
    shortest = len(pattern) - pattern.count("*")
    ends = (call for call in all_calls() if call.startswith(first) and call.endswith(last) and len(call) >= shortest)
    return tuple(sorted(call for call in ends if _in_order(middle, call[len(first) : len(call) - len(last)])))


def _in_order(pieces: list[str], text: str) -> bool:
    """Tell whether the pieces stand in a text, one behind the other."""
    at = 0
    for piece in pieces:
        found = text.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def in_main_table(abi: str, number: int) -> bool:
    """Whether `number` lies in the table that grows with each kernel.

    Outside are arm's private calls (from 0xf0000) and the calls that x32 keeps for itself (512 to 547).
    """
    match check(abi):
        case "arm":
            return number < _ARM_PRIVATE
        case "x32":
            return number >= X32_BIT and number not in _X32_OWN
        case _:
            return True
