"""Filters at run time: the one that init gets, and what no run can serve."""

from functools import cache

from sbc_runtime.action import Action
from sbc_runtime.arch import Arch
from sbc_runtime.filter_parts import ALLOW, EQUAL, KILL, LOAD, REFUSE
from sbc_runtime.instruction import OFFSET_ARCH, OFFSET_NR, RET, A, Instruction, K, pack, unpack
from sbc_runtime.numbers import INIT_CALLS

_ACTION = 0xFFFF0000


def init_filter(arch: Arch) -> bytes:
    """Give init's own filter: what an interpreter needs to poll, to reap and to end.

    Other calls fail with EPERM; another ABI kills.
    """
    allowed = INIT_CALLS[arch.name]
    program = [
        Instruction(LOAD, 0, 0, OFFSET_ARCH),
        Instruction(EQUAL, 1, 0, arch.audit),
        KILL,
        Instruction(LOAD, 0, 0, OFFSET_NR),
    ]
    for left, number in zip(range(len(allowed) - 1, -1, -1), allowed, strict=True):
        program.append(Instruction(EQUAL, left + 1, 0, number))
    program.append(REFUSE)
    program.append(ALLOW)
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
