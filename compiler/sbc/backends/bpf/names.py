"""The names that a listing shows: by default the kernel's own, from the compiler's tables."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from sbc_runtime.action import Verdict
from sbc_runtime.arch import ARCHES, Arch


class Names(NamedTuple):
    """Where names come from; each gives None where there is none.

    `call(audit, number)`, `argument(audit, number, arg)`, `constant(audit, number, arg, value)`, `errno(abi, value)`.
    """

    call: Callable[[int, int], str | None]
    argument: Callable[[int, int, int], str | None]
    constant: Callable[[int, int, int, int], str | None]
    errno: Callable[[str, int], str | None]


class Lines(NamedTuple):
    """The policy's own text: for a verdict, and for a call by audit architecture and number."""

    verdicts: Mapping[Verdict, str] = {}
    calls: Mapping[tuple[int, int], str] = {}


def kernel_names() -> Names:
    """Give the kernel's names."""
    return Names(_call, _argument, _constant, _errno)


def _nothing(*_: int | str) -> None:
    """Know no name."""


NO_NAMES = Names(_nothing, _nothing, _nothing, _nothing)
"""For listings that show numbers alone."""


def _abi(audit: int, number: int) -> Arch | None:
    for arch in ARCHES.values():
        if arch.audit == audit and arch.first_number <= number <= arch.last_number:
            return arch
    return None


def _call(audit: int, number: int) -> str | None:
    from sbc.kernel.numbers import names_of  # noqa: PLC0415

    arch = _abi(audit, number)
    return names_of(arch.name).get(number) if arch else None


def _argument(audit: int, number: int, arg: int) -> str | None:
    from sbc.kernel.signature import signature  # noqa: PLC0415

    arch, call = _abi(audit, number), _call(audit, number)
    found = signature(arch.name, call) if arch and call else None
    register = found.register(arg) if found else None
    return f"{call}: {register.name}" if register else None


def _constant(audit: int, number: int, arg: int, value: int) -> str | None:
    """Give a constant of the families that the argument takes; for flags, the OR of those that make up the value."""
    from sbc.kernel.arguments import argument_families  # noqa: PLC0415
    from sbc.kernel.constants import constants, members  # noqa: PLC0415
    from sbc.kernel.signature import signature  # noqa: PLC0415

    arch, call = _abi(audit, number), _call(audit, number)
    found = signature(arch.name, call) if arch and call else None
    register = found.register(arg) if found else None
    families = argument_families(call, register.name) if call and register else None
    if not arch or not families:
        return None
    known = constants(arch.name)
    named = [
        (name, known[name] & 0xFFFFFFFF)
        for family in families
        for name in sorted(members(family))
        if name in known and name.startswith(family)
    ]
    exact = [name for name, constant in named if constant == value]
    if exact:
        return ", ".join(exact[:2])
    bits = {constant: name for name, constant in reversed(named) if constant & value and constant & constant - 1 == 0}
    return " | ".join(bits[bit] for bit in sorted(bits)) if sum(bits) == value else None


def _errno(abi: str, value: int) -> str | None:
    from sbc.kernel.constants import errno  # noqa: PLC0415

    return min((name for name, number in errno(abi).items() if number == value), default=None)
