"""The supported ABIs: one entry each.

An ABI is a way of entering the kernel: an `AUDIT_ARCH_*` value that `seccomp_data.arch` holds, an interval of system
call numbers, a word size and a byte order (`include/uapi/linux/audit.h`, `include/uapi/linux/elf-em.h`).
"""

import os

from sbc_runtime.records import NamedTuple
from sbc_runtime.words import Literal

X32_BIT = 0x40000000
"""`__X32_SYSCALL_BIT` (`arch/x86/include/uapi/asm/unistd.h`): set in every x32 system call number."""

LAST_NUMBER = 0xFFFFFFFF
"""The largest value of `seccomp_data.nr`, read as an unsigned word."""


class Arch(NamedTuple):
    """One ABI.

    `audit` is its `AUDIT_ARCH_*` value. `word` is the width in bits of its `long`, pointers and `size_t`.
    `first_number` and `last_number` bound its system call numbers, both ends in: x86-64 and x32 share `audit` and are
    told apart by number alone. `kernel` names the kernel that serves it: ABIs of one kernel can share a filter.
    `machines` are the values of uname(2)'s `machine` under which the ABI is the native one.
    """

    name: str
    audit: int
    word: Literal[32, 64]
    byte_order: Literal["little", "big"]
    kernel: str
    machines: tuple[str, ...] = ()
    first_number: int = 0
    last_number: int = LAST_NUMBER


_ALL = (
    Arch("x86_64", 0xC000003E, 64, "little", "x86", ("x86_64",), 0, X32_BIT - 1),
    Arch("aarch64", 0xC00000B7, 64, "little", "arm64", ("aarch64",)),
    Arch("riscv64", 0xC00000F3, 64, "little", "riscv", ("riscv64",)),
    Arch("s390x", 0x80000016, 64, "big", "s390", ("s390x",)),
    Arch("ppc64le", 0xC0000015, 64, "little", "powerpc", ("ppc64le",)),
    Arch("arm", 0x40000028, 32, "little", "arm64", ("armv6l", "armv7l", "armv8l")),
    Arch("i386", 0x40000003, 32, "little", "x86", ("i386", "i486", "i586", "i686")),
    Arch("x32", 0xC000003E, 64, "little", "x86", (), X32_BIT, LAST_NUMBER),
    Arch("loongarch64", 0xC0000102, 64, "little", "loongarch", ("loongarch64",)),
    Arch("mips64el", 0xC0000008, 64, "little", "mips", ("mips64",)),
)

ARCHES: dict[str, Arch] = {arch.name: arch for arch in _ALL}
"""Every supported ABI by its name, in the order in which reports list them."""


def native_arch(machine: str) -> Arch | None:
    """Give the ABI that is native under uname(2)'s `machine`, or None where it is not supported.

    Linux says `mips64` on both byte orders; the caller compares `sys.byteorder` with the entry's.
    """
    for arch in _ALL:
        if machine in arch.machines:
            return arch
    return None


def own_arch() -> Arch:
    """Give the ABI of this machine, which is this program's too (see `host`); `KeyError` where it is not supported."""
    machine = os.uname().machine
    arch = native_arch(machine)
    if arch is None:
        raise KeyError(machine)
    return arch
