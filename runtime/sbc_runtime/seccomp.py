"""Filters at run time: the one that init gets, and what no run can serve."""

from functools import cache

from sbc_runtime.action import Action
from sbc_runtime.arch import Arch
from sbc_runtime.instruction import ABS, JEQ, JMP, LD, OFFSET_ARCH, OFFSET_NR, RET, A, Instruction, K, W, pack, unpack
from sbc_runtime.numbers import INIT_CALLS

_EPERM = 1
_ACTION = 0xFFFF0000


def init_filter(arch: Arch) -> bytes:
    """Give init's own filter: what an interpreter needs to poll, to reap and to end.

    Other calls fail with EPERM; another ABI kills.
    """
    allowed = INIT_CALLS[arch.name]
    load = LD | W | ABS
    program = [
        Instruction(load, 0, 0, OFFSET_ARCH),
        Instruction(JMP | JEQ | K, 1, 0, arch.audit),
        Instruction(RET | K, 0, 0, Action.KILL_PROCESS.ret),
        Instruction(load, 0, 0, OFFSET_NR),
    ]
    for left, number in zip(range(len(allowed) - 1, -1, -1), allowed, strict=True):
        program.append(Instruction(JMP | JEQ | K, left + 1, 0, number))
    program.append(Instruction(RET | K, 0, 0, Action.ERRNO.ret | _EPERM))
    program.append(Instruction(RET | K, 0, 0, Action.ALLOW.ret))
    return pack(tuple(program), arch.byte_order)


@cache
def needs_supervisor(program: bytes, arch: Arch) -> str | None:
    """Give `trace` or `notify` where a filter returns it: nothing answers such calls here."""
    for one in unpack(program, arch.byte_order):
        if one.code in {RET | K, RET | A}:
            action = one.k & _ACTION
            if action in {Action.TRACE.ret, Action.NOTIFY.ret}:
                return Action.TRACE.word if action == Action.TRACE.ret else Action.NOTIFY.word
    return None
