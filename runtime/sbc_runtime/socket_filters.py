"""The runtime's own filters for `network none`, by the families of sockets.

`unix_only`: without a network namespace only AF_UNIX sockets can be made. Calls of another ABI kill the process, as do
x32's: they have other numbers.

`guard`: beside a network namespace, for the families that no such namespace holds. The profile's own filter mostly
denies them; where it does not, this one is loaded too.

In both, `socketcall` and io_uring are absent (ENOSYS): the one keeps its arguments in memory, the other makes sockets
without a call (`IORING_OP_SOCKET`, Linux 5.19), so that no filter sees either. Where a C library makes its sockets by
`socketcall` (glibc for s390x, i386), none can be made.
"""

import os
from errno import EACCES, EAFNOSUPPORT, ENOSYS
from functools import cache

from sbc_runtime.arch import ARCHES, LAST_NUMBER, X32_BIT, Arch, native_arch
from sbc_runtime.filter_outcomes import may_pass
from sbc_runtime.filter_parts import ALLOW, EQUAL, KILL, LOAD, by_architecture, errno
from sbc_runtime.instruction import (
    ALU,
    AND,
    JGE,
    JMP,
    OFFSET_ARCH,
    OFFSET_NR,
    Instruction,
    K,
    low_word_offset,
    pack,
    unpack,
)
from sbc_runtime.outcome import RunLoss
from sbc_runtime.prepared import Prepared
from sbc_runtime.records import NamedTuple

AF_UNIX = 1
DEFAULT = "default"
"""Where a loss stands that comes from no statement of the profile."""

OUTSIDE = {"AF_IUCV": 32, "AF_VSOCK": 40, "AF_QIPCRTR": 42}
"""Families whose sockets reach beyond the machine or its namespaces, whatever network namespace they are made in.

Found in each family's `create` (`net/iucv/af_iucv.c`, `net/vmw_vsock/af_vsock.c`, `net/qrtr/af_qrtr.c`): the others are
bound to their namespace, refuse any but the first (bluetooth, nfc, x25, ax25, llc, ...), ask for a capability that is
not there (caif, phonet, isdn), or reach no service (alg).
"""


class SocketCalls(NamedTuple):
    """An ABI's numbers (`arch/*/tools/syscall*.tbl`); `socketcall` 0: it has none."""

    socket: int
    socketpair: int
    socketcall: int = 0
    io_uring_setup: int = 425


_GENERIC = SocketCalls(198, 199)

SOCKET_CALLS = {
    "x86_64": SocketCalls(41, 53),
    "aarch64": _GENERIC,
    "riscv64": _GENERIC,
    "loongarch64": _GENERIC,
    "s390x": SocketCalls(359, 360, 102),
    "ppc64le": SocketCalls(326, 333, 102),
    "arm": SocketCalls(281, 288),
    "i386": SocketCalls(359, 360, 102),
    "mips64el": SocketCalls(5040, 5052, 0, 5425),
}
"""Every ABI that is some machine's own. arm: where the old ABI, which has `socketcall`, is served, filters are not."""


def unix_only(arch: Arch) -> bytes:
    """Give the filter for the ABI that is the machine's own, in its byte order; `KeyError` where that is not known."""
    calls = SOCKET_CALLS[arch.name]
    x32 = arch.last_number < LAST_NUMBER
    # Jumps count from the next instruction; the last six are the test of `family` and the four answers.
    program = (
        Instruction(LOAD, 0, 0, OFFSET_ARCH),
        Instruction(EQUAL, 0, 10, arch.audit),  # another ABI: killed
        Instruction(LOAD, 0, 0, OFFSET_NR),
        Instruction(JMP | JGE | K, 8 if x32 else 0, 0, X32_BIT),  # x32's numbers: killed
        Instruction(EQUAL, 3, 0, calls.socket),
        Instruction(EQUAL, 2, 0, calls.socketpair),
        Instruction(EQUAL, 6, 0, calls.io_uring_setup),  # absent
        Instruction(EQUAL, 5, 3, calls.socketcall or calls.io_uring_setup),  # absent, else allowed
        Instruction(LOAD, 0, 0, low_word_offset(0, arch.byte_order)),  # `int family`: the low word alone
        Instruction(EQUAL, 1, 0, AF_UNIX),
        errno(EACCES),
        ALLOW,
        KILL,
        errno(ENOSYS),
    )
    return pack(program, arch.byte_order)


def _served(arch: Arch) -> tuple[Arch, ...]:
    """Give the ABIs of a machine that have sockets of their own: x32's calls are x86-64's with one bit more."""
    return tuple(one for one in ARCHES.values() if one.kernel == arch.kernel and one.name in SOCKET_CALLS)


@cache
def passes(program: bytes | None, arch: Arch) -> tuple[bool, bool]:
    """Tell what a profile's filter may let through: a socket of a family of `OUTSIDE`, and io_uring or `socketcall`."""
    if program is None:
        return True, True
    known = unpack(program, arch.byte_order)
    sockets = unseen = False
    for one in _served(arch):
        calls = SOCKET_CALLS[one.name]
        for bit in (0, X32_BIT) if one.last_number < LAST_NUMBER else (0,):
            call = {OFFSET_ARCH: one.audit, OFFSET_NR: calls.socket | bit}
            family = low_word_offset(0, one.byte_order)
            sockets |= any(may_pass(known, {**call, family: number}) for number in OUTSIDE.values())
            for number in {calls.io_uring_setup, calls.socketcall or calls.io_uring_setup}:
                unseen |= may_pass(known, {**call, OFFSET_NR: number | bit})
    return sockets, unseen


def guard(program: bytes | None, arch: Arch) -> bytes | None:
    """Give the filter to load beside a profile's; None where that one denies it all."""
    return _guard(arch) if any(passes(program, arch)) else None


def narrowed(prepared: Prepared) -> tuple[RunLoss, ...]:
    """Give what `guard` takes away that the profile's filter lets through."""
    arch = native_arch(os.uname().machine)
    if prepared.guard is None or arch is None or not passes(prepared.program, arch)[1]:
        return ()
    why = "io_uring, and socketcall where there is one, are absent: no filter sees the sockets that they make"
    return (RunLoss("narrower", DEFAULT, "network none", why),)


@cache
def _guard(arch: Arch) -> bytes:
    blocks: dict[int, list[Instruction]] = {}
    for one in _served(arch):
        calls = SOCKET_CALLS[one.name]
        x32 = [Instruction(ALU | AND | K, 0, 0, LAST_NUMBER ^ X32_BIT)] if one.last_number < LAST_NUMBER else []
        blocks[one.audit] = [
            Instruction(LOAD, 0, 0, OFFSET_NR),
            *x32,
            Instruction(EQUAL, 7, 0, calls.io_uring_setup),  # absent
            Instruction(EQUAL, 6, 0, calls.socketcall or calls.io_uring_setup),  # absent
            Instruction(EQUAL, 0, 4, calls.socket),
            Instruction(LOAD, 0, 0, low_word_offset(0, one.byte_order)),  # `int family`: the low word alone
            *(Instruction(EQUAL, 5 - at, 0, number) for at, number in enumerate(OUTSIDE.values(), 1)),
            ALLOW,
            errno(ENOSYS),
            errno(EAFNOSUPPORT),
        ]
    return by_architecture(blocks, arch.byte_order)
