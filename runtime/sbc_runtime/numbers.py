"""The numbers of the system calls that libc has no function for, per ABI (`arch/*/tools/syscall*.tbl`)."""

from sbc_runtime.arch import native_arch
from sbc_runtime.records import NamedTuple


class Calls(NamedTuple):
    """Numbers of raw calls; ioprio_get(2) is the next after ioprio_set(2).

    From 424 on, every ABI but mips counts alike (`include/uapi/asm-generic/unistd.h`).
    """

    pivot_root: int
    seccomp: int
    capset: int
    keyctl: int
    clone: int
    ptrace: int
    ioprio_set: int
    kcmp: int
    open_tree: int = 428
    move_mount: int = 429
    clone3: int = 435
    close_range: int = 436
    openat2: int = 437
    mount_setattr: int = 442


_GENERIC = Calls(41, 277, 91, 219, 220, 117, 30, 272)

_CALLS = {
    "x86_64": Calls(155, 317, 126, 250, 56, 101, 251, 312),
    "aarch64": _GENERIC,
    "riscv64": _GENERIC,
    "loongarch64": _GENERIC,
    "s390x": Calls(217, 348, 185, 280, 120, 26, 282, 343),
    "ppc64le": Calls(203, 358, 184, 271, 120, 26, 273, 354),
    "arm": Calls(218, 383, 185, 311, 120, 26, 314, 378),
    "i386": Calls(217, 354, 185, 288, 120, 26, 289, 349),
    "mips64el": Calls(5151, 5312, 5124, 5241, 5055, 5099, 5273, 5306, 5428, 5429, 5435, 5436, 5437, 5442),
}

_OF_32_BITS = (192, 414, 422, 403)

INIT_CALLS: dict[str, tuple[int, ...]] = {
    # read write close poll ppoll rt_sigaction rt_sigprocmask rt_sigreturn brk mmap munmap mremap mprotect madvise
    # futex wait4 exit exit_group prctl clock_gettime, in this order; what an ABI does not have is left out. On ABIs of
    # 32 bits mmap2 ppoll_time64 futex_time64 clock_gettime64 come after them.
    "x86_64": (0, 1, 3, 7, 271, 13, 14, 15, 12, 9, 11, 25, 10, 28, 202, 61, 60, 231, 157, 228),
    "aarch64": (63, 64, 57, 73, 134, 135, 139, 214, 222, 215, 216, 226, 233, 98, 260, 93, 94, 167, 113),
    "riscv64": (63, 64, 57, 73, 134, 135, 139, 214, 222, 215, 216, 226, 233, 98, 260, 93, 94, 167, 113),
    "loongarch64": (63, 64, 57, 73, 134, 135, 139, 214, 222, 215, 216, 226, 233, 98, 260, 93, 94, 167, 113),
    "s390x": (3, 4, 6, 168, 302, 174, 175, 173, 45, 90, 91, 163, 125, 219, 238, 114, 1, 248, 172, 260),
    "ppc64le": (3, 4, 6, 167, 281, 173, 174, 172, 45, 90, 91, 163, 125, 205, 221, 114, 1, 234, 171, 246),
    "arm": (3, 4, 6, 168, 336, 174, 175, 173, 45, 91, 163, 125, 220, 240, 114, 1, 248, 172, 263, *_OF_32_BITS),
    "i386": (3, 4, 6, 168, 309, 174, 175, 173, 45, 90, 91, 163, 125, 219, 240, 114, 1, 252, 172, 265, *_OF_32_BITS),
    "mips64el": tuple(
        5000 + one for one in (0, 1, 3, 7, 261, 13, 14, 211, 12, 9, 11, 24, 10, 27, 194, 59, 58, 205, 153, 222)
    ),
}
"""What init's own filter allows, for every ABI that the runtime can be run in."""


def calls(machine: str) -> Calls:
    """Give the numbers of the ABI that is native under uname(2)'s `machine`; `KeyError` where it is not supported."""
    arch = native_arch(machine)
    if arch is None:
        raise KeyError(machine)
    return _CALLS[arch.name]
