"""Classic-BPF instructions and programs: `struct sock_filter` (`include/uapi/linux/filter.h`) and `seccomp_data`."""

from struct import Struct

from sbc_runtime.records import NamedTuple
from sbc_runtime.words import Literal

SIZE = 8
"""Bytes of one `struct sock_filter`."""

MAX_INSTRUCTIONS = 4096
"""`BPF_MAXINSNS` (`include/uapi/linux/bpf_common.h`)."""

DATA_SIZE = 64
"""`sizeof(struct seccomp_data)`; what BPF_LEN loads."""

SCRATCH_WORDS = 16
"""`BPF_MEMWORDS`."""

OFFSET_NR = 0
OFFSET_ARCH = 4
OFFSET_IP = 8
OFFSET_ARGS = 16

# Instruction classes, sizes, modes, operations (`include/uapi/linux/bpf_common.h`).
LD, LDX, ST, STX, ALU, JMP, RET, MISC = range(8)
W = 0x00
IMM, ABS, IND, MEM, LEN, MSH = 0x00, 0x20, 0x40, 0x60, 0x80, 0xA0
ADD, SUB, MUL, DIV, OR, AND, LSH, RSH, NEG, MOD, XOR = range(0x00, 0xB0, 0x10)
JA, JEQ, JGT, JGE, JSET = 0x00, 0x10, 0x20, 0x30, 0x40
K, X, A = 0x00, 0x08, 0x10
TAX, TXA = 0x00, 0x80


class Instruction(NamedTuple):
    """One `struct sock_filter`: 16-bit `code`, jump distances `jt` and `jf` (0..255), 32-bit `k`."""

    code: int
    jt: int
    jf: int
    k: int


Program = tuple[Instruction, ...]

_LAYOUT = {"little": Struct("<HBBI"), "big": Struct(">HBBI")}


def pack(program: Program, byte_order: Literal["little", "big"]) -> bytes:
    """Give the program's raw bytes in an ABI's byte order."""
    layout = _LAYOUT[byte_order]
    return b"".join(layout.pack(*instruction) for instruction in program)


def unpack(data: bytes, byte_order: Literal["little", "big"]) -> Program:
    """Read raw bytes as a program; `ValueError` where their length is not a multiple of 8."""
    if len(data) % SIZE:
        raise ValueError(f"{len(data)} bytes are not a whole number of {SIZE}-byte instructions")
    layout = _LAYOUT[byte_order]
    return tuple(Instruction(*fields) for fields in layout.iter_unpack(data))


def low_word_offset(argument: int, byte_order: Literal["little", "big"]) -> int:
    """Give the offset in `seccomp_data` of the low half of argument 0..5."""
    return OFFSET_ARGS + 8 * argument + (4 if byte_order == "big" else 0)


def high_word_offset(argument: int, byte_order: Literal["little", "big"]) -> int:
    """Give the offset in `seccomp_data` of the high half of argument 0..5."""
    return OFFSET_ARGS + 8 * argument + (0 if byte_order == "big" else 4)
