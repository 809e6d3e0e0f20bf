"""What the runtime's own filters are put together from (`init_guard`, `seccomp`, `socket_filters`)."""

from collections.abc import Iterable, Mapping
from errno import EPERM

from sbc_runtime.action import Action
from sbc_runtime.instruction import ABS, JEQ, JMP, LD, OFFSET_ARCH, RET, Instruction, K, W, pack
from sbc_runtime.words import Literal

LOAD = LD | W | ABS
EQUAL = JMP | JEQ | K
ALLOW = Instruction(RET | K, 0, 0, Action.ALLOW.ret)
KILL = Instruction(RET | K, 0, 0, Action.KILL_PROCESS.ret)


def errno(number: int) -> Instruction:
    """Give the end of a filter by which a call fails with an errno."""
    return Instruction(RET | K, 0, 0, Action.ERRNO.ret | number)


REFUSE = errno(EPERM)


def by_architecture(blocks: Mapping[int, Iterable[Instruction]], byte_order: Literal["little", "big"]) -> bytes:
    """Give the filter that goes through the block of a call's `AUDIT_ARCH_*`; calls of any other kill the process."""
    program = [Instruction(LOAD, 0, 0, OFFSET_ARCH)]
    for audit, block in blocks.items():
        whole = tuple(block)
        program += [Instruction(EQUAL, 0, len(whole), audit), *whole]
    return pack((*program, KILL), byte_order)
