"""Which calls the kernel will answer without running the filter.

Since Linux 5.11 `seccomp_cache_prepare` (`kernel/seccomp.c`) follows each filter once for every number of the native
and the compat ABI; a number that is allowed whatever its arguments goes into a bitmap. What it can follow is little:
loads of `nr` and `arch`, JA, tests against K, AND with K, RET K.
"""

from collections.abc import Iterable

from sbc_runtime import instruction as bpf
from sbc_runtime.action import ALLOW
from sbc_runtime.instruction import Program

_ALLOW = ALLOW.ret()
_LOAD = bpf.LD | bpf.W | bpf.ABS
_RETURN = bpf.RET | bpf.K
_JUMP = bpf.JMP | bpf.JA
_AND = bpf.ALU | bpf.AND | bpf.K


def is_const_allow(program: Program, audit: int, number: int) -> bool:
    """Give what `seccomp_is_const_allow` answers for one number of an architecture.

    Its exception for uretprobe(2) and uprobe(2) is left out: those numbers pass whatever the filter says.
    """
    a = pc = 0
    while True:
        code, jt, jf, k = program[pc]
        if code == _LOAD:
            if k == bpf.OFFSET_NR:
                a = number
            elif k == bpf.OFFSET_ARCH:
                a = audit
            else:
                return False
        elif code == bpf.JMP | bpf.JEQ | bpf.K:
            pc += jt if a == k else jf
        elif code == bpf.JMP | bpf.JGE | bpf.K:
            pc += jt if a >= k else jf
        elif code == bpf.JMP | bpf.JGT | bpf.K:
            pc += jt if a > k else jf
        elif code == bpf.JMP | bpf.JSET | bpf.K:
            pc += jt if a & k else jf
        elif code == _RETURN:
            return k == _ALLOW
        elif code == _JUMP:
            pc += k
        elif code == _AND:
            a &= k
        else:
            return False
        pc += 1


def const_allow(program: Program, audit: int, numbers: Iterable[int]) -> tuple[int, ...]:
    """Give those of `numbers` that the kernel's bitmap will allow, in their order."""
    return tuple(number for number in numbers if is_const_allow(program, audit, number))
