"""Which kernel brought which call, and where each kernel's tables end.

Source: the table of syscalls(2) in the man pages and, from Linux 5.14 on, the kernel's own tables. Known are the
releases from 3.17, which brought seccomp(2), to the newest that the numbers come from.
"""

from functools import cache

from sbc.kernel._data import load
from sbc.kernel.abi import check
from sbc.kernel.numbers import in_main_table, numbers


@cache
def known_releases() -> tuple[str, ...]:
    """The kernels that `last_number` knows, oldest first."""
    return tuple(load("calls")["releases"])


@cache
def since(abi: str, call: str) -> str | None:
    """The kernel that gave `call` to `abi`; None where `abi` has no such call or nobody wrote it down."""
    if call not in numbers(abi):
        return None
    tables = load("calls")
    version: str = tables["later"].get(abi, {}).get(call, tables["since"][call])
    arrived: str | None = tables["arrival"].get(abi)
    if arrived and version and _order(version) < _order(arrived):
        return arrived
    return version or None


@cache
def last_number(abi: str, kernel: str = "6.12") -> int:
    """The last number of that kernel's main table for `abi`, bit 30 included for x32.

    ValueError, with the releases that are known, where `kernel` is none of them or is older than the ABI.
    """
    if kernel not in known_releases():
        known = known_releases()
        raise ValueError(f"unknown kernel {kernel!r}; known are {known[0]} to {known[-1]}")
    arrived: str | None = load("calls")["arrival"].get(check(abi))
    if arrived and _order(kernel) < _order(arrived):
        raise ValueError(f"linux {kernel} has no {abi}: it came with {arrived}")
    limit = _order(kernel)
    return max(
        number
        for call, number in numbers(abi).items()
        if in_main_table(abi, number) and (version := since(abi, call)) is not None and _order(version) <= limit
    )


def _order(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
