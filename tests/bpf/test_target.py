"""The target: what is written, what is reported, and that an unproven filter is not written."""

import pytest

from sbc.backends.bpf import target
from sbc.backends.bpf.target import BpfTarget, FilterDiffers, build, longest_path
from sbc.backends.target import Target
from sbc.policy.syscalls import FilterPolicy, Syscalls
from sbc_runtime.arch import ARCHES
from sbc_runtime.instruction import JA, JEQ, JMP, RET, Instruction, Program, unpack
from tests.bpf.policies import EPERM, ORIGIN, equals, policy, rule


def test_it_is_a_target() -> None:
    as_target: Target = BpfTarget()
    assert (as_target.name, as_target.blocks) == ("bpf", {"syscalls"})


def test_a_file_for_each_filter_in_its_byte_order() -> None:
    syscalls = Syscalls((policy(rule(1, EPERM)), policy(rule(1, EPERM), abi="s390x")), ORIGIN)
    bpf = BpfTarget()
    filters = bpf.filters(syscalls)
    artifact = bpf.artifact("box", filters)
    assert [file.name for file in artifact.files] == ["box.x86_64.bpf", "box.s390x.bpf"]
    assert unpack(artifact.files[1].content, "big") == filters[1].program
    assert not artifact.losses
    assert not artifact.notes


def test_no_filter_is_said_out_loud() -> None:
    artifact = BpfTarget().artifact("box", ())
    assert artifact.files == ()
    assert "no filter" in artifact.notes[0]


def test_the_report() -> None:
    report = build(policy(rule(0, EPERM), rule(7, EPERM, equals(0, 1)))).report()
    assert report.const_allow == (("x86_64", 469),)
    assert report.longest_path < report.instructions
    assert report.proof_ms > 0


def test_an_unproven_filter_is_an_internal_error_with_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(_: FilterPolicy) -> Program:
        return (Instruction(RET, 0, 0, EPERM.ret()),)

    monkeypatch.setattr(target, "generate", wrong)
    with pytest.raises(FilterDiffers) as caught:
        build(policy(rule(9, EPERM)))
    assert caught.value.name == "x86_64"
    assert "internal error" in str(caught.value)
    assert caught.value.got == "errno 1"
    assert hex(ARCHES["x86_64"].audit) in str(caught.value)


def test_the_longest_path_follows_both_branches_and_jumps() -> None:
    ret = Instruction(RET, 0, 0, 0)
    assert longest_path((ret,)) == 1
    program = (Instruction(JMP | JEQ, 0, 2, 0), Instruction(JMP | JA, 0, 0, 0), ret, ret)
    assert longest_path(program) == 3
