"""What the kernel reads of the registers of each call.

Source: the system call definitions of Linux 6.12 (newer kernels for newer calls) and each ABI's table of entry points.
The definition casts a register to its C type: those bits are all that the kernel sees. i386 and arm are described as
a 64-bit kernel serves them.
"""

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from sbc.kernel._data import load
from sbc.kernel.abi import check

SPLIT = "it is split over two registers"
IN_MEMORY = "it is passed in memory, not in a register"


class Argument(NamedTuple):
    """One argument of a call on one ABI."""

    name: str
    """The kernel's name for it, the same on every ABI."""
    ctype: str
    """The C type of the entry point."""
    width: int
    """How many bits the kernel reads: 16, 32 or 64."""
    signed: bool
    """Whether the C type is signed."""
    pointer: bool
    """Whether it is an address in user memory."""
    position: int | None
    """Which of the six argument registers holds it; None where it is not exactly one."""
    reason: str | None
    """Why there is no position."""


class Signature(NamedTuple):
    """The arguments of a call by name, and what its entry point reads by register."""

    call: str
    args: tuple[Argument, ...]
    """In the order of the kernel's definition; `position` gives the register."""
    registers: tuple[Argument | None, ...]
    """Register by register; a half of a split argument has 32 bits, padding is None."""

    def argument(self, name: str) -> Argument | None:
        """The argument with the kernel's name `name`."""
        for argument in self.args:
            if argument.name == name:
                return argument
        return None

    def register(self, index: int) -> Argument | None:
        """What the kernel reads from register `index`, or None where it reads nothing."""
        return self.registers[index] if index < len(self.registers) else None


@cache
def signature(abi: str, call: str) -> Signature | None:
    """The signature of `call` on `abi`; None where `abi` has no such call or its arguments are not known."""
    text: str | None = load(check(abi))["signatures"].get(call)
    if text is None:
        return None
    args: list[Argument] = []
    read: dict[int, Argument] = {}
    for index, entry in enumerate(text.split(";") if text else ()):
        argument, where = _argument(index, entry)
        args.append(argument)
        read.update(_registers(argument, where))
    count = max(read, default=-1) + 1
    return Signature(call, tuple(args), tuple(read.get(index) for index in range(count)))


def _argument(index: int, entry: str) -> tuple[Argument, tuple[int, ...]]:
    name, ctype, code, *rest = entry.split(",")
    if not rest:
        where: tuple[int, ...] = (index,)
    elif rest[0] == "-":
        where = ()
    else:
        where = tuple(map(int, rest[0].split("+")))
    position = where[0] if len(where) == 1 else None
    reason = None if position is not None else SPLIT if where else IN_MEMORY
    return Argument(name, ctype, int(code[1:]), code[0] == "s", code[0] == "p", position, reason), where


def _registers(argument: Argument, where: tuple[int, ...]) -> Iterator[tuple[int, Argument]]:
    if len(where) == 1:
        yield where[0], argument
        return
    for part, index in zip(("low", "high"), where, strict=False):
        yield index, Argument(argument.name, f"{part} half of {argument.ctype}", 32, False, False, index, None)
