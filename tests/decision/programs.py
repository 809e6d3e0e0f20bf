"""Programs at random, with every instruction that seccomp allows, and the inputs that tell their paths apart."""

from hypothesis import strategies as st

from sbc.decision.words import Input
from sbc_runtime import instruction as bpf
from sbc_runtime.instruction import Instruction, Program

EDGES = (0, 1, 2, 3, 5, 7, 8, 16, 31, 32, 33, 40, 0x80, 0xFF, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
RETURNS = (
    0x7FFF0000,
    0x80000000,
    0,
    0x00050001,
    0x00050026,
    0x0005FFFF,
    0x00030007,
    0x7FFC0000,
    0x7FF00005,
    0x12345678,
)
SMALL_MASKS = (0x1, 0x7, 0x1F, 0x21, 0x80000001, 0x80000003)

LOAD = bpf.LD | bpf.W | bpf.ABS
OPERATIONS = (bpf.ADD, bpf.SUB, bpf.MUL, bpf.DIV, bpf.OR, bpf.AND, bpf.XOR, bpf.LSH, bpf.RSH)
TESTS = (bpf.JEQ, bpf.JGT, bpf.JGE, bpf.JSET)

constants = st.sampled_from(EDGES) | st.integers(0, 0xFFFFFFFF)
offsets = st.sampled_from((0, 0, 4, 16, 16, 20, 24, 8, 56, 60))


def plain(code: int, k: int = 0) -> Instruction:
    return Instruction(code, 0, 0, k)


@st.composite
def steps(draw: st.DrawFn, scratch: int) -> list[Instruction]:
    """One thing a program does between its jumps; `scratch` words are known to be written."""
    kind = draw(st.sampled_from(("load", "load", "masked", "k", "x", "neg", "tax", "txa", "imm", "len", "st", "mem")))
    match kind:
        case "load":
            return [plain(LOAD, draw(offsets))]
        case "masked":
            mask = draw(st.sampled_from(SMALL_MASKS) | constants)
            return [plain(LOAD, draw(offsets)), plain(bpf.ALU | bpf.AND | bpf.K, mask)]
        case "k":
            operation = draw(st.sampled_from(OPERATIONS))
            k = draw(constants)
            if operation in (bpf.LSH, bpf.RSH):
                k &= 31
            return [plain(bpf.ALU | operation | bpf.K, k or 1)]
        case "x":
            return [plain(bpf.ALU | draw(st.sampled_from(OPERATIONS)) | bpf.X)]
        case "neg":
            return [plain(bpf.ALU | bpf.NEG)]
        case "tax" | "txa":
            return [plain(bpf.MISC | (bpf.TAX if kind == "tax" else bpf.TXA))]
        case "imm":
            return [plain(draw(st.sampled_from((bpf.LD, bpf.LDX))) | bpf.IMM, draw(constants))]
        case "len":
            return [plain(draw(st.sampled_from((bpf.LD, bpf.LDX))) | bpf.W | bpf.LEN)]
        case "st":
            return [plain(draw(st.sampled_from((bpf.ST, bpf.STX))), draw(st.integers(0, 15)))]
        case _:
            if not scratch:
                return [plain(bpf.LD | bpf.IMM, 1)]
            return [plain(draw(st.sampled_from((bpf.LD, bpf.LDX))) | bpf.MEM, draw(st.integers(0, scratch - 1)))]


@st.composite
def programs(draw: st.DrawFn, most: int = 14) -> Program:
    """Programs that the kernel would take."""
    scratch = draw(st.sampled_from((0, 1, 3)))
    made = [plain(draw(st.sampled_from((bpf.ST, bpf.STX))), word) for word in range(scratch)]
    for _ in range(draw(st.integers(1, most))):
        made += draw(steps(scratch))
        if draw(st.booleans()):
            source = draw(st.sampled_from((bpf.K, bpf.K, bpf.X)))
            code = bpf.JMP | draw(st.sampled_from(TESTS)) | source
            made.append(Instruction(code, draw(st.integers(0, 6)), draw(st.integers(0, 6)), draw(constants)))
        elif draw(st.integers(0, 5)) == 0:
            made.append(plain(bpf.JMP | bpf.JA, draw(st.integers(0, 4))))
        elif draw(st.integers(0, 5)) == 0:
            made.append(draw(returns()))
    made += [draw(returns()) for _ in range(draw(st.integers(1, 3)))]
    return _within(made)


@st.composite
def returns(draw: st.DrawFn) -> Instruction:
    if draw(st.integers(0, 7)) == 0:
        return plain(bpf.RET | bpf.A)
    return plain(bpf.RET | bpf.K, draw(st.sampled_from(RETURNS)))


def _within(made: list[Instruction]) -> Program:
    """Shorten jumps that would leave the program."""
    program: list[Instruction] = []
    for place, instruction in enumerate(made):
        left = len(made) - place - 2
        if instruction.code == bpf.JMP | bpf.JA:
            program.append(instruction._replace(k=min(instruction.k, left)))
        elif instruction.code & 7 == bpf.JMP:
            program.append(instruction._replace(jt=min(instruction.jt, left), jf=min(instruction.jf, left)))
        else:
            program.append(instruction)
    return tuple(program)


def halves_near(program: Program) -> list[int]:
    """Give words around every constant of a program."""
    found = {0, 1, 0x80000000, 0xFFFFFFFF}
    for instruction in program:
        found.update((instruction.k + near) & 0xFFFFFFFF for near in (-1, 0, 1))
    return sorted(found)


@st.composite
def inputs(draw: st.DrawFn, program: Program) -> Input:
    """One call, its words near the program's constants or anywhere."""
    words = st.sampled_from(halves_near(program)) | constants
    args = tuple(draw(words) << 32 | draw(words) for _ in range(6))
    return Input(draw(words), draw(words), args, draw(words) << 32 | draw(words))
