"""Whether a filter tells ABIs apart: one that does not reads every number as if all ABIs had the same ones."""

from sbc_runtime.action import Action, Verdict
from sbc_runtime.instruction import ABS, JA, JMP, LD, OFFSET_ARCH, RET, A, K, Program, W

_RUNS = frozenset({Action.ALLOW, Action.LOG})
_LOAD = LD | W | ABS


def lets_any_abi_through(program: Program) -> bool:
    """Tell whether a verified program carries calls out though no branch of it depends on the ABI."""
    return not _tests_arch(program) and any(
        one.code == RET | A or (one.code == RET | K and Verdict.of_ret(one.k).action in _RUNS) for one in program
    )


def _tests_arch(program: Program) -> bool:
    """Tell whether some conditional jump follows a load of `arch` without another load between them."""
    loaded = False
    for one in program:
        kind = one.code & 0x07
        if kind == JMP:
            if loaded and one.code & 0xF0 != JA:
                return True
        elif kind == LD:
            loaded = one.code == _LOAD and one.k == OFFSET_ARCH
    return False
