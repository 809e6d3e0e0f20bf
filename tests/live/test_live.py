"""Filters on this kernel against the interpreter: the same verdict for every call that was made."""

import signal

import pytest

from sbc.backends.bpf.interpreter import run
from sbc_runtime import instruction as bpf
from sbc_runtime.action import ALLOW, KILL_PROCESS, KILL_THREAD, Action, Verdict
from sbc_runtime.arch import ARCHES
from sbc_runtime.instruction import Instruction, Program
from sbc_runtime.verifier import SECCOMP_CODES
from tests.decision.programs import LOAD, plain
from tests.decision.test_program_road import OPERANDS, exercised
from tests.live.calls import X32, random_calls
from tests.live.filters import x86_64_filters
from tests.live.live import Call, Job, marked, needs_compat_calls, needs_live_filters, run_jobs

X86_64, I386 = ARCHES["x86_64"].audit, ARCHES["i386"].audit
FILTERS = x86_64_filters()
LOW = 0xFFFFFFFF


@pytest.fixture(autouse=True)
def live() -> None:
    needs_live_filters()


def expected(program: Program, call: Call) -> int:
    """Give what a call returns under a filter that only denies: minus the errno, as the interpreter says."""
    args = tuple(value & LOW for value in call.args) if call.compat else call.args
    verdict = run(program, I386 if call.compat else X86_64, call.number & LOW, args).verdict
    assert verdict.action is Action.ERRNO
    return -verdict.data


def compare(program: Program, calls: list[Call]) -> None:
    ran = run_jobs([Job(program, calls)])[0]
    assert ran.signal == signal.SIGILL
    for call, result in zip(calls, ran.results, strict=True):
        assert result == expected(program, call), call


@pytest.mark.parametrize("name", FILTERS)
def test_random_and_boundary_calls(name: str) -> None:
    program = marked(FILTERS[name].program, {})
    compare(program, random_calls(program, FILTERS[name].calls, 1))


@pytest.mark.parametrize("name", FILTERS)
def test_calls_of_another_abi(name: str) -> None:
    needs_compat_calls()
    program = marked(FILTERS[name].program, {})
    compare(program, random_calls(program, FILTERS[name].calls // 3, 2, compat=True))


@pytest.mark.parametrize("name", FILTERS)
def test_kills(name: str) -> None:
    """The verdicts that kill stay as they are: the child ends there, and not before."""
    needs_compat_calls()
    program = marked(FILTERS[name].program, {}, kills=True)
    harmless = Call(0, (0,) * 6)
    probes = [
        *(Call(number | X32, (0,) * 6) for number in (0, 41, 520, 0x3FFFFFFF)),
        Call(LOW, (0,) * 6),
        Call(41, (16, 0, 0, 0, 0, 0)),
        *(Call(number, (1,) * 6, compat=True) for number in (1, 102, 400)),
    ]
    killing = (KILL_PROCESS, KILL_THREAD)
    first = run(program, X86_64, 0, ()).verdict in killing
    for probe, ran in zip(
        probes, run_jobs([Job(program, [harmless, probe, harmless]) for probe in probes]), strict=True
    ):
        args = tuple(value & LOW for value in probe.args)
        kills = run(program, I386 if probe.compat else X86_64, probe.number, args).verdict in killing
        assert not first
        assert ran.signal == (signal.SIGSYS if kills else signal.SIGILL), probe
        assert (ran.results[1] is None, ran.results[2] is None) == (kills, kills)


def test_every_instruction() -> None:
    """Each instruction that seccomp allows, as this kernel runs it: sums, shifts by X beyond 31, scratch memory.

    The programs end in `RET A` with an errno of at most 255, whatever the instruction made of A.
    """
    jobs: list[Job] = []
    for code in sorted(SECCOMP_CODES - {bpf.RET | bpf.K, bpf.RET | bpf.A}):
        divides = code == bpf.ALU | bpf.DIV | bpf.X
        calls = [Call(1, (a, x, 0, 0, 0, 0)) for a in OPERANDS for x in OPERANDS if not divides or x & 0x80000061]
        jobs += [Job(exercised(code, operand), calls) for operand in OPERANDS]
    assert len(jobs) > 500
    for job, ran in zip(jobs, run_jobs(jobs), strict=True):
        assert ran.results == [expected(job.program, call) for call in job.calls], job.program


def test_division_by_zero_kills() -> None:
    program = (
        plain(LOAD, 16),
        plain(bpf.MISC | bpf.TAX),
        plain(bpf.LD | bpf.IMM, 7),
        plain(bpf.ALU | bpf.DIV | bpf.X),
        plain(bpf.RET | bpf.K, 0x00050007),
    )
    ran = run_jobs([Job(program, [Call(1, (1, 0, 0, 0, 0, 0)), Call(1, (0,) * 6)])])[0]
    assert ran.results == [-7, None]
    assert ran.signal == signal.SIGSYS


def test_an_errno_above_the_largest_counts_as_it() -> None:
    ran = run_jobs([Job((plain(bpf.RET | bpf.K, 0x0005FFFF),), [Call(1, (0,) * 6)])])[0]
    assert ran.results == [-4095]


def test_an_unknown_action_kills() -> None:
    ran = run_jobs([Job((plain(bpf.RET | bpf.K, 0x12340000),), [Call(1, (0,) * 6)])])[0]
    assert ran.results == [None]
    assert ran.signal == signal.SIGSYS


def test_marked_filters_let_nothing_through() -> None:
    verdicts: dict[Verdict, int] = {}
    program = (
        plain(LOAD, 0),
        Instruction(bpf.JMP | bpf.JEQ | bpf.K, 0, 1, 1),
        plain(bpf.RET | bpf.K, 0x7FFC0000),
        plain(bpf.RET | bpf.K, 0x7FFF0000),
    )
    made = marked(program, verdicts)
    assert {Verdict.of_ret(one.k).action for one in made[2:]} == {Action.ERRNO}
    assert verdicts == {Verdict(Action.LOG): 3000, ALLOW: 3001}
