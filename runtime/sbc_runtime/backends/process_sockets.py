"""The second filter of `network none` without a network namespace: only AF_UNIX sockets can be made.

Calls of another ABI kill the process, as do x32's: they have other numbers. `socketcall` keeps its arguments in memory
and io_uring makes sockets without a call (`IORING_OP_SOCKET`, Linux 5.19), so that no filter sees either: both are
absent (ENOSYS). Where a C library makes its sockets by `socketcall` (glibc for s390x, i386), none can be made.
"""

from errno import EACCES, ENOSYS
from typing import NamedTuple

from sbc_runtime.action import Action
from sbc_runtime.arch import LAST_NUMBER, X32_BIT, Arch
from sbc_runtime.instruction import (
    ABS,
    JEQ,
    JGE,
    JMP,
    LD,
    OFFSET_ARCH,
    OFFSET_NR,
    RET,
    Instruction,
    K,
    W,
    low_word_offset,
    pack,
)

AF_UNIX = 1


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
    "arm": SocketCalls(281, 288, 102),
    "i386": SocketCalls(359, 360, 102),
    "mips64el": SocketCalls(5040, 5052, 0, 5425),
}
"""Every ABI that is some machine's own."""


def unix_only(arch: Arch) -> bytes:
    """Give the filter for the ABI that is the machine's own, in its byte order; `KeyError` where that is not known."""
    calls = SOCKET_CALLS[arch.name]
    load, equal = LD | W | ABS, JMP | JEQ | K
    x32 = arch.last_number < LAST_NUMBER
    # Jumps count from the next instruction; the last six are the test of `family` and the four answers.
    program = (
        Instruction(load, 0, 0, OFFSET_ARCH),
        Instruction(equal, 0, 10, arch.audit),  # another ABI: killed
        Instruction(load, 0, 0, OFFSET_NR),
        Instruction(JMP | JGE | K, 8 if x32 else 0, 0, X32_BIT),  # x32's numbers: killed
        Instruction(equal, 3, 0, calls.socket),
        Instruction(equal, 2, 0, calls.socketpair),
        Instruction(equal, 6, 0, calls.io_uring_setup),  # absent
        Instruction(equal, 5, 3, calls.socketcall or calls.io_uring_setup),  # absent, else allowed
        Instruction(load, 0, 0, low_word_offset(0, arch.byte_order)),  # `int family`: the low word alone
        Instruction(equal, 1, 0, AF_UNIX),
        Instruction(RET | K, 0, 0, Action.ERRNO.ret | EACCES),
        Instruction(RET | K, 0, 0, Action.ALLOW.ret),
        Instruction(RET | K, 0, 0, Action.KILL_PROCESS.ret),
        Instruction(RET | K, 0, 0, Action.ERRNO.ret | ENOSYS),
    )
    return pack(program, arch.byte_order)
