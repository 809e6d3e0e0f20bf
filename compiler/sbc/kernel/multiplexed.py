"""Calls that stand for many: `socketcall` and `ipc`, whose first argument says which call is meant.

Source: the `SYS_*` codes of linux/net.h and those of linux/ipc.h, on the ABIs that have the numbers.
"""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from sbc.kernel._data import load
from sbc.kernel.numbers import all_calls, numbers

MULTIPLEXERS = {"socketcall": ("SYS", "SYS_"), "ipc": ("IPCOP", "")}
"""Each multiplexer with the family of its codes and what their names start with."""


@cache
def multiplexed(abi: str) -> Mapping[str, Mapping[str, int]]:
    """For each multiplexer of `abi` the calls behind it, with their codes. Most ABIs have none."""
    return MappingProxyType({name: _behind(name) for name in MULTIPLEXERS if name in numbers(abi)})


def code_mask(abi: str, multiplexer: str) -> int:
    """The bits of the first argument that say which call is meant: `ipc` keeps a version above, but on s390x."""
    return 0xFFFF if multiplexer == "ipc" and abi != "s390x" else 0xFFFF_FFFF


def multiplexer_of(abi: str, call: str) -> str | None:
    """The call of `abi` that does `call` too, or None."""
    for name, behind in multiplexed(abi).items():
        if call in behind:
            return name
    return None


def _behind(multiplexer: str) -> Mapping[str, int]:
    family, prefix = MULTIPLEXERS[multiplexer]
    codes: dict[str, int] = load("constants")[family][1]
    named = {name.removeprefix(prefix).lower(): code for name, code in codes.items()}
    return MappingProxyType({call: code for call, code in sorted(named.items(), key=_by_code) if call in all_calls()})


def _by_code(item: tuple[str, int]) -> int:
    return item[1]
