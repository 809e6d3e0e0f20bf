"""Named constants, with the values that each ABI gives them.

Source: the kernel's uapi headers of each ABI, and of its private headers those definitions that every libc repeats
(`AF_*`, `SOCK_*`, `MSG_*`, `SOL_*`, `MNT_*`, `SPLICE_F_*`).
"""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from sbc.kernel._data import load
from sbc.kernel.abi import check

ERRNO = "errno"
"""The family of error numbers, which `constants` leaves out: no argument takes them."""


@cache
def constants(abi: str) -> Mapping[str, int]:
    """The constants of `abi` by name. A negative value (`AT_FDCWD`) stands for its two's complement."""
    found: dict[str, int] = {}
    for _, values in load("constants").values():
        found.update(values)
    own: dict[str, int | None] = load(check(abi))["constants"]
    for name, value in own.items():
        if value is None:
            del found[name]
        else:
            found[name] = value
    return MappingProxyType(found)


@cache
def errno(abi: str) -> Mapping[str, int]:
    """The error numbers of `abi` by name."""
    found: dict[str, int] = load(check(abi))["errno"]
    return MappingProxyType(found)


@cache
def families() -> Mapping[str, str]:
    """What each family's constants are, in a few words: `CLONE` gives `a flag of clone(2)`."""
    texts = {name: str(text) for name, (text, _) in load("constants").items()}
    return MappingProxyType({ERRNO: "an error number", **texts})


@cache
def members(family: str) -> frozenset[str]:
    """The names of a family on any ABI."""
    if family == ERRNO:
        return frozenset(load("x86_64")["errno"]) | frozenset(load("mips64el")["errno"])
    return frozenset(load("constants")[family][1])


def family_of(name: str) -> str | None:
    """The family of a constant, or None where no ABI has it."""
    if (family := _families().get(name)) is not None:
        return family
    return ERRNO if name in members(ERRNO) else None


def constant_origin(name: str) -> str | None:
    """What a constant is, in a few words (`a flag of open(2)`), or None where no ABI has it."""
    family = family_of(name)
    return None if family is None else families()[family]


@cache
def _families() -> Mapping[str, str]:
    return {name: family for family, (_, values) in load("constants").items() for name in values}
