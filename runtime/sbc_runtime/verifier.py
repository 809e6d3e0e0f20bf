"""What the kernel checks before it takes a seccomp filter, one function for each of its rules.

The kernel answers every fault with EINVAL; here each has the name of the kernel function that refuses it. Two checkers
run, in this order: `bpf_check_classic` (`net/core/filter.c`), for every classic-BPF program, and `seccomp_check_filter`
(`kernel/seccomp.c`). Standard library only; nothing here knows how filters are made.
"""

from collections.abc import Callable

from sbc_runtime import instruction as bpf
from sbc_runtime.instruction import MAX_INSTRUCTIONS, SCRATCH_WORDS, SIZE, Program, unpack
from sbc_runtime.words import Literal

_K_OPERATIONS = (bpf.ADD, bpf.SUB, bpf.MUL, bpf.DIV, bpf.OR, bpf.AND, bpf.LSH, bpf.RSH, bpf.XOR)
_TESTS = (bpf.JEQ, bpf.JGT, bpf.JGE, bpf.JSET)

_LOAD = bpf.LD | bpf.W | bpf.ABS
_JUMP = bpf.JMP | bpf.JA
_TEST_CODES = frozenset(bpf.JMP | test | source for test in _TESTS for source in (bpf.K, bpf.X))
_RETURN_CODES = frozenset({bpf.RET | bpf.K, bpf.RET | bpf.A})
_STORE_CODES = frozenset({bpf.ST, bpf.STX})
_RECALL_CODES = frozenset({bpf.LD | bpf.MEM, bpf.LDX | bpf.MEM})
_SCRATCH_CODES = _STORE_CODES | _RECALL_CODES
_DIVISION_CODES = frozenset({bpf.ALU | bpf.DIV | bpf.K, bpf.ALU | bpf.MOD | bpf.K})
_SHIFT_CODES = frozenset({bpf.ALU | bpf.LSH | bpf.K, bpf.ALU | bpf.RSH | bpf.K})

SECCOMP_CODES = frozenset(
    {
        _LOAD,
        bpf.LD | bpf.W | bpf.LEN,
        bpf.LDX | bpf.W | bpf.LEN,
        bpf.LD | bpf.IMM,
        bpf.LDX | bpf.IMM,
        *_SCRATCH_CODES,
        *(bpf.ALU | operation | source for operation in _K_OPERATIONS for source in (bpf.K, bpf.X)),
        bpf.ALU | bpf.NEG,
        bpf.MISC | bpf.TAX,
        bpf.MISC | bpf.TXA,
        _JUMP,
        *_TEST_CODES,
        *_RETURN_CODES,
    }
)
"""The codes that `seccomp_check_filter` lists."""

_H, _B = 0x08, 0x10
_PACKET_LOADS = frozenset(bpf.LD | size | bpf.ABS for size in (bpf.W, _H, _B))

CLASSIC_CODES = SECCOMP_CODES | frozenset(
    {
        *(bpf.ALU | bpf.MOD | source for source in (bpf.K, bpf.X)),
        *_PACKET_LOADS,
        *(bpf.LD | size | bpf.IND for size in (bpf.W, _H, _B)),
        bpf.LDX | _B | bpf.MSH,
    }
)
"""The codes that `chk_code_allowed` lists: seccomp's, and those that only packets have a use for."""

_ANCILLARY = 0xFFFFF000
_ANCILLARY_KNOWN = frozenset(range(_ANCILLARY, _ANCILLARY + 64, 4))
"""`SKF_AD_OFF` as an unsigned word, and the offsets from it that `bpf_anc_helper` knows."""


class Refused(ValueError):
    """The kernel would refuse the program.

    `rule` names the kernel's check, `index` the instruction (None: the program as a whole), `reason` the fault.
    """

    def __init__(self, rule: str, index: int | None, reason: str) -> None:
        place = "program" if index is None else f"instruction {index}"
        super().__init__(f"{place}: {reason} ({rule})")
        self.rule = rule
        self.index = index
        self.reason = reason


def _sock_filter(program: Program) -> None:
    """`struct sock_filter` (`include/uapi/linux/filter.h`): what its fields can hold."""
    for index, (code, jt, jf, k) in enumerate(program):
        if not (0 <= code <= 0xFFFF and 0 <= jt <= 0xFF and 0 <= jf <= 0xFF and 0 <= k <= 0xFFFFFFFF):
            raise Refused("sock_filter", index, "a field does not fit its width")


def _bpf_check_basics_ok(program: Program) -> None:
    """`bpf_check_basics_ok`: 1 to `BPF_MAXINSNS` instructions."""
    if not 1 <= len(program) <= MAX_INSTRUCTIONS:
        reason = f"{len(program)} instructions, where 1 to {MAX_INSTRUCTIONS} are allowed"
        raise Refused("bpf_check_basics_ok", None, reason)


def _chk_code_allowed(program: Program) -> None:
    """`chk_code_allowed`: codes of classic BPF."""
    for index, instruction in enumerate(program):
        if instruction[0] not in CLASSIC_CODES:
            raise Refused("chk_code_allowed", index, f"no such instruction code, {instruction[0]:#06x}")


def _division(program: Program) -> None:
    """`bpf_check_classic`, case `BPF_DIV | BPF_K`: no division by the constant zero."""
    for index, (code, _, _, k) in enumerate(program):
        if k == 0 and code in _DIVISION_CODES:
            raise Refused("bpf_check_classic: division", index, "division by zero")


def _shift(program: Program) -> None:
    """`bpf_check_classic`, case `BPF_LSH | BPF_K`: shifts by less than 32."""
    for index, (code, _, _, k) in enumerate(program):
        if k >= 32 and code in _SHIFT_CODES:
            raise Refused("bpf_check_classic: shift", index, f"shift by {k}, where 0 to 31 are allowed")


def _scratch_index(program: Program) -> None:
    """`bpf_check_classic`, cases `BPF_MEM`, `BPF_ST`, `BPF_STX`: words 0 to 15 of the scratch memory."""
    for index, (code, _, _, k) in enumerate(program):
        if k >= SCRATCH_WORDS and code in _SCRATCH_CODES:
            reason = f"scratch word {k}, where there are {SCRATCH_WORDS}"
            raise Refused("bpf_check_classic: scratch memory", index, reason)


def _far_jump(program: Program) -> None:
    """`bpf_check_classic`, case `BPF_JA`: the target is inside the program."""
    for index, (code, _, _, k) in enumerate(program):
        if code == _JUMP and k >= len(program) - index - 1:
            raise Refused("bpf_check_classic: jump", index, f"jump to {index + 1 + k}, outside the program")


def _test_jump(program: Program) -> None:
    """`bpf_check_classic`, cases `BPF_JEQ` and so on: both targets are inside the program."""
    length = len(program)
    for index, (code, jt, jf, _) in enumerate(program):
        if code in _TEST_CODES and index + 1 + (jt if jt > jf else jf) >= length:
            target = index + 1 + max(jt, jf)
            raise Refused("bpf_check_classic: conditional jump", index, f"jump to {target}, outside the program")


def _ancillary_load(program: Program) -> None:
    """`bpf_check_classic`, case `BPF_ABS`: no load from an unknown ancillary offset."""
    for index, (code, _, _, k) in enumerate(program):
        if k >= _ANCILLARY and code in _PACKET_LOADS and k not in _ANCILLARY_KNOWN:
            raise Refused("bpf_check_classic: ancillary load", index, f"load from unknown ancillary offset {k:#x}")


def _final_return(program: Program) -> None:
    """`bpf_check_classic`, at its end: the last instruction returns."""
    if program[-1][0] not in _RETURN_CODES:
        raise Refused("bpf_check_classic: final return", len(program) - 1, "the last instruction is not a return")


def _check_load_and_stores(program: Program) -> None:
    """`check_load_and_stores`: a word of scratch memory is written on every path before it is read."""
    if not any(instruction[0] in _RECALL_CODES for instruction in program):
        return
    everything = (1 << SCRATCH_WORDS) - 1
    arriving = [everything] * len(program)
    written = 0
    for index, (code, jt, jf, k) in enumerate(program):
        written &= arriving[index]
        if code in _STORE_CODES:
            written |= 1 << k
        elif code in _RECALL_CODES and not written >> k & 1:
            raise Refused("check_load_and_stores", index, f"scratch word {k} is read where it may not be written")
        elif code == _JUMP:
            arriving[index + 1 + k] &= written
            written = everything
        elif code in _TEST_CODES:
            arriving[index + 1 + jt] &= written
            arriving[index + 1 + jf] &= written
            written = everything


def _seccomp_check_filter(program: Program) -> None:
    """`seccomp_check_filter`: only the codes that it lists."""
    for index, instruction in enumerate(program):
        if instruction[0] not in SECCOMP_CODES:
            reason = f"instruction code {instruction[0]:#06x} is not for seccomp"
            raise Refused("seccomp_check_filter", index, reason)


def _data_load(program: Program) -> None:
    """`seccomp_check_filter`, case `BPF_ABS`: aligned words inside `struct seccomp_data`."""
    for index, (code, _, _, k) in enumerate(program):
        if code == _LOAD and (k & 3 or k >= bpf.DATA_SIZE):
            what = "beyond seccomp_data's 64 bytes" if k >= bpf.DATA_SIZE else "not a multiple of 4"
            raise Refused("seccomp_check_filter: data load", index, f"load at offset {k}, {what}")


RULES: tuple[Callable[[Program], None], ...] = (
    _bpf_check_basics_ok,
    _sock_filter,
    _chk_code_allowed,
    _division,
    _shift,
    _scratch_index,
    _far_jump,
    _test_jump,
    _ancillary_load,
    _final_return,
    _check_load_and_stores,
    _seccomp_check_filter,
    _data_load,
)
"""The rules in the kernel's order; each relies on those before it."""


def verify(program: Program) -> None:
    """Raise `Refused` where the kernel would not take the program as a seccomp filter."""
    for rule in RULES:
        rule(program)


def verify_bytes(data: bytes, byte_order: Literal["little", "big"]) -> Program:
    """Read raw bytes as a program and verify it; `Refused` also where they are no whole number of instructions."""
    if len(data) % SIZE:
        raise Refused("sock_filter", None, f"{len(data)} bytes are not a whole number of {SIZE}-byte instructions")
    program = unpack(data, byte_order)
    verify(program)
    return program
