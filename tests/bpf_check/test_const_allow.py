"""What the kernel answers from its bitmap: the same as an independent reading of `seccomp_is_const_allow`."""

import importlib.util
from types import ModuleType

import pytest

from sbc.backends.bpf.const_allow import const_allow, is_const_allow
from sbc_runtime import instruction as bpf
from sbc_runtime.arch import ARCHES
from sbc_runtime.instruction import Instruction, Program, unpack
from tests.decision.programs import LOAD, plain
from tests.shared_data import shared

X86_64 = ARCHES["x86_64"].audit
ALLOW = plain(bpf.RET | bpf.K, 0x7FFF0000)


def reference() -> ModuleType:
    path = shared("bench", "cbpf.py")
    spec = importlib.util.spec_from_file_location("cbpf", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_same_answers_as_the_reference() -> None:
    cbpf = reference()
    for path in sorted(shared("bench", "peer-filters").glob("*.bpf")):
        raw = cbpf.load(str(path))
        program = unpack(path.read_bytes(), "little")
        for arch in ARCHES.values():
            for number in (*range(480), *range(0x40000000, 0x40000020), 0xFFFFFFFF):
                assert is_const_allow(program, arch.audit, number) == cbpf.const_allow(raw, number, arch.audit)


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ((ALLOW,), (1, 2, 3)),
        ((plain(LOAD, 16), ALLOW), ()),
        ((plain(LOAD, 0), Instruction(bpf.JMP | bpf.JEQ | bpf.K, 0, 1, 2), plain(LOAD, 20), ALLOW), (1, 3)),
        ((plain(LOAD, 0), plain(bpf.ALU | bpf.AND | bpf.K, 1), plain(bpf.JMP | bpf.JA, 0), ALLOW), (1, 2, 3)),
        ((plain(LOAD, 0), plain(bpf.MISC | bpf.TAX), ALLOW), ()),
        ((plain(bpf.LD | bpf.IMM, 0), ALLOW), ()),
        ((plain(LOAD, 0), plain(bpf.ST, 0), ALLOW), ()),
        ((plain(bpf.RET | bpf.K, 0x7FFF0001),), ()),
        ((plain(bpf.RET | bpf.K, 0x7FFC0000),), ()),
        ((plain(LOAD, 0), Instruction(bpf.JMP | bpf.JSET | bpf.K, 1, 0, 2), ALLOW, plain(bpf.RET | bpf.K, 0)), (1,)),
    ],
)
def test_what_it_can_follow(program: Program, expected: tuple[int, ...]) -> None:
    assert const_allow(program, X86_64, range(1, 4)) == expected
