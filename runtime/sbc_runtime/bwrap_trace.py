"""The few requests of ptrace(2) that are needed to hold a process at its execve(2), and to see what init reaps."""

import ctypes
import os
from struct import Struct

from sbc_runtime import libc
from sbc_runtime.arch import native_arch
from sbc_runtime.records import NamedTuple

# `include/uapi/linux/ptrace.h`.
_CONT = 7
_DETACH = 17
_SYSCALL = 24
_GETEVENTMSG = 0x4201
_SEIZE = 0x4206
_SETSIGMASK = 0x420B
_GET_SYSCALL_INFO = 0x420E
_SYSGOOD = 1
_FORK = 2
_VFORK = 4
_CLONE = 8
_EXEC = 0x10
_EXITKILL = 0x100000

EVENT_FORKS = frozenset({1, 2, 3})
EVENT_EXEC = 4
SYSCALL_STOP = 5 | 0x80
"""Events and signals of a stop, as `stopped` gives them."""

WALL = 0x40000000
"""`__WALL`: wait also for processes that are only traced (`include/uapi/linux/wait.h`)."""

_INFO = Struct("@B3xIQQ7Q")
_POINTER = Struct("@P")


class Numbers(NamedTuple):
    """The numbers of the calls that are looked for (`arch/*/tools/syscall*.tbl`)."""

    execve: int
    wait4: int
    waitid: int


_GENERIC = Numbers(221, 260, 95)
NUMBERS = {
    "x86_64": Numbers(59, 61, 247),
    "aarch64": _GENERIC,
    "riscv64": _GENERIC,
    "loongarch64": _GENERIC,
    "s390x": Numbers(11, 114, 281),
    "ppc64le": Numbers(11, 114, 272),
    "arm": Numbers(11, 114, 280),
    "i386": Numbers(11, 114, 284),
    "mips64el": Numbers(5057, 5059, 5237),
}


def numbers() -> Numbers:
    """Give this machine's numbers; `KeyError` where its ABI is not supported."""
    arch = native_arch(os.uname().machine)
    return NUMBERS["" if arch is None else arch.name]


class Entry(NamedTuple):
    """A process is about to enter a system call."""

    number: int
    arguments: tuple[int, ...]


class Exit(NamedTuple):
    """A process leaves a system call; `result` is negative, an errno, where it failed."""

    result: int


def seize(pid: int) -> None:
    """Trace a process and what it forks, without stopping it; all are killed when the tracer ends."""
    libc.ptrace(_SEIZE, pid, 0, _SYSGOOD | _FORK | _VFORK | _CLONE | _EXEC | _EXITKILL)


def resume(pid: int, signal: int = 0, *, calls: bool) -> None:
    """Let a stopped process go on, to its next system call (`calls`) or event; a process that is gone is no error."""
    _request(_SYSCALL if calls else _CONT, pid, signal)


def detach(pid: int) -> None:
    """Let a stopped process go on untraced."""
    _request(_DETACH, pid, 0)


def _request(request: int, pid: int, data: int) -> None:
    try:
        libc.ptrace(request, pid, 0, data)
    except ProcessLookupError:
        return  # killed meanwhile: waitpid(2) will say so


def stopped(status: int) -> tuple[int, int]:
    """Give the signal and the event of a stop (ptrace(2), "Stopped states")."""
    return (status >> 8) & 0xFF, status >> 16


def forked(pid: int) -> int:
    """Give the pid of the child that a process, stopped by the event, has just forked."""
    number = ctypes.c_ulong()
    libc.ptrace(_GETEVENTMSG, pid, 0, ctypes.addressof(number))
    return number.value


def system_call(pid: int) -> Entry | Exit | None:
    """Tell which end of which system call a process is stopped at (Linux 5.3)."""
    buffer = ctypes.create_string_buffer(_INFO.size)
    libc.ptrace(_GET_SYSCALL_INFO, pid, _INFO.size, ctypes.addressof(buffer))
    kind, _, _, _, first, *rest = _INFO.unpack(buffer.raw)
    if kind == 1:
        return Entry(first, tuple(rest))
    if kind == 2:
        return Exit(first - (1 << 64) if first >> 63 else first)
    return None


def unblock_signals(pid: int) -> None:
    """Empty the signal mask of a stopped process."""
    empty = ctypes.create_string_buffer(bytes(16), 16)
    # The size of the kernel's sigset_t: 64 signals, on mips 128.
    size = 16 if os.uname().machine.startswith("mips") else 8
    libc.ptrace(_SETSIGMASK, pid, size, ctypes.addressof(empty))


def read_memory(pid: int, address: int, size: int) -> bytes:
    """Read a traced process's memory."""
    descriptor = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.pread(descriptor, size, address)
    finally:
        os.close(descriptor)


def write_pointers(pid: int, address: int, pointers: list[int]) -> None:
    """Write an array of pointers, and the null pointer that ends it, into a traced process's memory."""
    content = b"".join(_POINTER.pack(one) for one in (*pointers, 0))
    descriptor = os.open(f"/proc/{pid}/mem", os.O_RDWR | os.O_CLOEXEC)
    try:
        if (
            os.pwrite(descriptor, content, address) != len(content)
            or os.pread(descriptor, len(content), address) != content
        ):
            raise OSError(14, "the environment could not be written")
    finally:
        os.close(descriptor)
