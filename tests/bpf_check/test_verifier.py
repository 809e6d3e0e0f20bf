"""The kernel's checks: each rule refuses what it is for, under its own name, and says where."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sbc_runtime import instruction as bpf
from sbc_runtime.instruction import Instruction, Program, pack
from sbc_runtime.verifier import CLASSIC_CODES, SECCOMP_CODES, Refused, verify, verify_bytes
from tests.decision.programs import LOAD, plain, programs

ALLOW = plain(bpf.RET | bpf.K, 0x7FFF0000)
RECALL = plain(bpf.LD | bpf.MEM, 3)
STORE = plain(bpf.ST, 3)


def jump(jt: int, jf: int) -> Instruction:
    return Instruction(bpf.JMP | bpf.JEQ | bpf.K, jt, jf, 0)


REFUSED: list[tuple[str, int | None, Program]] = [
    ("bpf_check_basics_ok", None, ()),
    ("bpf_check_basics_ok", None, (ALLOW,) * 4097),
    ("sock_filter", 0, (Instruction(bpf.JMP | bpf.JEQ | bpf.K, 256, 0, 0), ALLOW)),
    ("sock_filter", 0, (plain(bpf.RET, 1 << 32),)),
    ("sock_filter", 0, (plain(bpf.RET, -1),)),
    ("chk_code_allowed", 1, (ALLOW, plain(0xFFFF), ALLOW)),
    ("chk_code_allowed", 0, (plain(bpf.RET | bpf.X), ALLOW)),
    ("chk_code_allowed", 0, (plain(bpf.ALU | bpf.NEG | bpf.X), ALLOW)),
    ("bpf_check_classic: division", 0, (plain(bpf.ALU | bpf.DIV | bpf.K, 0), ALLOW)),
    ("bpf_check_classic: division", 0, (plain(bpf.ALU | bpf.MOD | bpf.K, 0), ALLOW)),
    ("bpf_check_classic: shift", 1, (ALLOW, plain(bpf.ALU | bpf.LSH | bpf.K, 32), ALLOW)),
    ("bpf_check_classic: shift", 0, (plain(bpf.ALU | bpf.RSH | bpf.K, 0xFFFFFFFF), ALLOW)),
    ("bpf_check_classic: scratch memory", 0, (plain(bpf.ST, 16), ALLOW)),
    ("bpf_check_classic: scratch memory", 0, (plain(bpf.LDX | bpf.MEM, 16), ALLOW)),
    ("bpf_check_classic: jump", 0, (plain(bpf.JMP | bpf.JA, 1), ALLOW)),
    ("bpf_check_classic: jump", 0, (plain(bpf.JMP | bpf.JA, 0xFFFFFFFF), ALLOW)),
    ("bpf_check_classic: conditional jump", 0, (jump(1, 0), ALLOW)),
    ("bpf_check_classic: conditional jump", 0, (jump(0, 1), ALLOW)),
    ("bpf_check_classic: ancillary load", 0, (plain(LOAD, 0xFFFFF001), ALLOW)),
    ("bpf_check_classic: final return", 1, (ALLOW, plain(LOAD, 0))),
    ("check_load_and_stores", 0, (RECALL, ALLOW)),
    ("check_load_and_stores", 2, (jump(0, 1), STORE, RECALL, ALLOW)),
    ("check_load_and_stores", 3, (plain(bpf.JMP | bpf.JA, 1), STORE, ALLOW, RECALL, ALLOW)),
    ("check_load_and_stores", 1, (plain(bpf.STX, 2), RECALL, ALLOW)),
    ("seccomp_check_filter", 0, (plain(bpf.ALU | bpf.MOD | bpf.K, 3), ALLOW)),
    ("seccomp_check_filter", 0, (plain(bpf.LD | bpf.W | bpf.IND, 0), ALLOW)),
    ("seccomp_check_filter", 0, (plain(bpf.LDX | 0x10 | bpf.MSH, 0), ALLOW)),
    ("seccomp_check_filter: data load", 0, (plain(LOAD, 64), ALLOW)),
    ("seccomp_check_filter: data load", 0, (plain(LOAD, 0xFFFFF000), ALLOW)),
    ("seccomp_check_filter: data load", 0, (plain(LOAD, 2), ALLOW)),
]


@pytest.mark.parametrize(("rule", "index", "program"), REFUSED)
def test_each_rule_refuses_under_its_name(rule: str, index: int | None, program: Program) -> None:
    with pytest.raises(Refused) as caught:
        verify(program)
    assert (caught.value.rule, caught.value.index) == (rule, index)
    assert caught.value.reason in str(caught.value)


TAKEN: list[Program] = [
    (ALLOW,),
    (ALLOW,) * 4096,
    (plain(bpf.RET | bpf.A),),
    (jump(0, 0), ALLOW),
    (jump(255, 255), *(ALLOW,) * 256),
    (plain(LOAD, 60), ALLOW),
    (plain(bpf.LD | bpf.W | bpf.LEN, 12345), plain(bpf.LDX | bpf.W | bpf.LEN), ALLOW),
    (STORE, jump(0, 1), RECALL, RECALL, ALLOW),
    (jump(0, 2), STORE, plain(bpf.JMP | bpf.JA, 1), plain(bpf.STX, 3), RECALL, ALLOW),
    # The word is written on no path, but nothing reaches the load: the kernel takes that too.
    (ALLOW, plain(bpf.JMP | bpf.JA, 0), ALLOW),
    (plain(bpf.JMP | bpf.JA, 1), RECALL, ALLOW),
]


@pytest.mark.parametrize("program", TAKEN, ids=range(len(TAKEN)))
def test_what_the_kernel_takes(program: Program) -> None:
    verify(program)


def test_the_lists_of_codes() -> None:
    """`chk_code_allowed` has 49 codes; seccomp drops MOD and what packets alone need, 8 of them."""
    assert len(SECCOMP_CODES) == 41
    assert len(CLASSIC_CODES) == 49
    assert SECCOMP_CODES < CLASSIC_CODES


@settings(max_examples=100, deadline=None)
@given(programs(), st.sampled_from(("little", "big")))
def test_raw_bytes(program: Program, byte_order: str) -> None:
    order = "little" if byte_order == "little" else "big"
    assert verify_bytes(pack(program, order), order) == program


def test_raw_bytes_that_are_no_program() -> None:
    with pytest.raises(Refused, match="7 bytes are not a whole number"):
        verify_bytes(bytes(7), "little")
    with pytest.raises(Refused, match="0 instructions"):
        verify_bytes(b"", "little")
