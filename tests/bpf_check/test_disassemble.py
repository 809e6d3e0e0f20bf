"""Listings: byte for byte the golden files beside this test; `SBC_GOLDEN=update` writes them."""

import os
from pathlib import Path

import pytest

from sbc.backends.bpf.disassemble import disassemble
from sbc.backends.bpf.names import NO_NAMES, Lines
from sbc.backends.bpf.policy_lines import lines_of
from sbc.policy.origin import Origin
from sbc.policy.syscalls import AbiRules, FilterPolicy, Rule
from sbc_runtime import instruction as bpf
from sbc_runtime.action import ALLOW, KILL_PROCESS, Verdict, errno_verdict
from sbc_runtime.arch import ARCHES
from sbc_runtime.instruction import Instruction, Program
from sbc_runtime.verifier import SECCOMP_CODES, verify
from tests.decision.programs import LOAD, plain

GOLDEN = Path(__file__).parent / "golden"
X86_64 = ARCHES["x86_64"].audit


def jump(operation: int, k: int, jt: int, jf: int, source: int = bpf.K) -> Instruction:
    return Instruction(bpf.JMP | operation | source, jt, jf, k)


def returns(verdict: Verdict) -> Instruction:
    return plain(bpf.RET | bpf.K, verdict.ret())


ARGUMENTS: Program = (
    plain(LOAD, 4),
    jump(bpf.JEQ, X86_64, 0, 16),
    plain(LOAD, 0),
    jump(bpf.JGE, 0x40000000, 14, 0),
    jump(bpf.JEQ, 41, 0, 4),
    plain(LOAD, 16),
    jump(bpf.JEQ, 2, 12, 0),
    jump(bpf.JEQ, 16, 11, 0),
    returns(errno_verdict(97)),
    jump(bpf.JEQ, 56, 0, 4),
    plain(LOAD, 20),
    jump(bpf.JEQ, 0, 0, 1),
    plain(LOAD, 16),
    jump(bpf.JSET, 0x7E020000, 3, 5),
    jump(bpf.JGT, 470, 0, 4),
    plain(bpf.JMP | bpf.JA, 1),
    returns(ALLOW),
    returns(errno_verdict(1)),
    returns(KILL_PROCESS),
    returns(ALLOW),
)

EVERYTHING: Program = (
    plain(bpf.LD | bpf.W | bpf.LEN),
    plain(bpf.LDX | bpf.W | bpf.LEN),
    plain(bpf.LD | bpf.IMM, 0xDEADBEEF),
    plain(bpf.LDX | bpf.IMM, 7),
    plain(bpf.ST, 0),
    plain(bpf.STX, 15),
    plain(bpf.LD | bpf.MEM, 15),
    plain(bpf.LDX | bpf.MEM, 0),
    plain(bpf.MISC | bpf.TAX),
    plain(bpf.MISC | bpf.TXA),
    *(plain(code, 3) for code in sorted(SECCOMP_CODES) if code & 7 == bpf.ALU),
    *(plain(LOAD, offset) for offset in range(0, 64, 4)),
    jump(bpf.JEQ, 0, 1, 0, bpf.X),
    jump(bpf.JSET, 5, 0, 1),
    plain(bpf.RET | bpf.K, 0x0005FFFF),
    plain(bpf.RET | bpf.K, 0x12345678),
    plain(bpf.RET | bpf.K, 0x00030009),
    plain(bpf.RET | bpf.A),
)

LINES = Lines({errno_verdict(1): "a.sbx:7: deny EPERM clone when ..."}, {(X86_64, 41): "a.sbx:9: deny socket"})

LISTINGS = {
    "arguments": disassemble(ARGUMENTS, "x86_64", lines=LINES),
    "arguments-numbers-alone": disassemble(ARGUMENTS, "x86_64", NO_NAMES),
    "everything": disassemble(EVERYTHING, "x86_64", NO_NAMES),
    "big-endian": disassemble(EVERYTHING, "s390x", NO_NAMES),
    "another-abi": disassemble((plain(LOAD, 0), jump(bpf.JEQ, 198, 0, 1), *ARGUMENTS[-4:]), "aarch64"),
}


@pytest.mark.parametrize("name", LISTINGS)
def test_golden(name: str) -> None:
    path = GOLDEN / f"{name}.dis"
    if os.environ.get("SBC_GOLDEN") == "update":
        path.parent.mkdir(exist_ok=True)
        path.write_text(LISTINGS[name])
    assert path.read_text() == LISTINGS[name]


def test_the_programs_are_real() -> None:
    verify(ARGUMENTS)
    verify(EVERYTHING)
    assert {code for code, _, _, _ in EVERYTHING} | {code for code, _, _, _ in ARGUMENTS} >= SECCOMP_CODES - {
        bpf.JMP | test | bpf.X for test in (bpf.JGT, bpf.JGE, bpf.JSET)
    }


def test_names_only_where_every_path_agrees() -> None:
    """Two calls share the test of an argument: it is not said to be either's."""
    program = (
        plain(LOAD, 0),
        jump(bpf.JEQ, 41, 1, 0),
        jump(bpf.JEQ, 56, 0, 2),
        plain(LOAD, 16),
        jump(bpf.JEQ, 2, 0, 1),
        returns(ALLOW),
        returns(KILL_PROCESS),
    )
    listing = disassemble(program, "x86_64").splitlines()
    assert "socket" in listing[1]
    assert ";" not in listing[3]
    assert ";" not in listing[4]


def test_lines_of_a_policy() -> None:
    one, other = Origin("syscalls", "deny EPERM setns"), Origin("syscalls", f"deny EPERM {{ {'mount ' * 20}}}")
    default = Origin("syscalls", "default allow")
    eperm = errno_verdict(1)
    rules = (Rule(308, "setns", eperm, one), Rule(165, "mount", eperm, other), Rule(308, "setns", eperm, other))
    lines = lines_of(FilterPolicy((AbiRules(ARCHES["x86_64"], rules, ALLOW, default),), KILL_PROCESS, default))
    assert lines.verdicts[eperm] == "default: deny EPERM setns and 1 more"
    assert lines.verdicts[ALLOW] == "default: default allow"
    assert lines.calls[X86_64, 308] == "default: deny EPERM setns and 1 more"
    assert lines.calls[X86_64, 165].endswith(" ...")
