"""The shipped filters on other real kernels: what the kernel decides is what the interpreter and the policy say."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from sbc.backends.bpf.interpreter import run
from sbc.backends.bpf.target import build
from sbc.diagnostics.diagnostic import Reporter
from sbc.pipeline import load_policy
from sbc.policy.conditions import AllOf, AnyOf, Between, Condition, Masked, Not
from sbc.policy.syscalls import AbiRules, FilterPolicy, decide
from sbc_runtime.action import Action, Verdict
from sbc_runtime.arch import ARCHES
from sbc_runtime.instruction import RET, Instruction, K, pack
from tests.vm.boot import run_in_guest

pytestmark = pytest.mark.vm

ROOT = Path(__file__).parent.parent.parent
JOB = Path(__file__).parent / "jobs" / "filters"
MARKER = 4001
"""The errno that stands for "allow": no kernel gives it."""

UNFILTERED = {335, 336}
"""`uretprobe` and `uprobe` of x86-64: the kernel passes them without asking any filter, and they kill a process that
calls them itself (`__secure_computing`, `kernel/seccomp.c`)."""

GARBAGE = 0xDEADBEEF << 32
GUESTS = {"s390x-bookworm": "s390x", "arm64-bookworm": "aarch64", "amd64-trixie": "x86_64", "riscv64-trixie": "riscv64"}


def constants(condition: Condition) -> Iterator[tuple[int, int]]:
    match condition:
        case Masked(arg=arg, mask=mask, value=value):
            yield from ((arg, value), (arg, value ^ (mask & -mask)), (arg, mask))
        case Between(arg=arg, low=low, high=high):
            yield from ((arg, low), (arg, high))
        case Not(operand=operand):
            yield from constants(operand)
        case AllOf(operands=operands) | AnyOf(operands=operands):
            for operand in operands:
                yield from constants(operand)


def interesting_calls(abi: AbiRules) -> Iterator[tuple[int, tuple[int, ...]]]:
    checked: dict[int, set[tuple[int, int]]] = {}
    for rule in abi.rules:
        checked.setdefault(rule.number, set()).update(constants(rule.condition))
    for number in range(max(checked) + 40):
        yield number, (0,) * 6
        yield number, ((1 << 64) - 1,) * 6
    yield from ((number, (0,) * 6) for number in (0x3FFFFFFF, 1 << 20))
    for number, points in checked.items():
        for arg, point in sorted(points):
            for low in (point - 1, point, point + 1, 0, 1, 1 << 31, (1 << 32) - 1):
                for high in (0, GARBAGE):
                    args = [0] * 6
                    args[arg] = (low ^ high) & ((1 << 64) - 1)
                    yield number, tuple(args)


def job_for(policy: FilterPolicy, folder: Path) -> None:
    abi = policy.abis[0]
    program = build(policy).program
    allow, marked = Verdict(Action.ALLOW).ret(), Verdict(Action.ERRNO, MARKER).ret()
    harmless = tuple(Instruction(*i[:3], marked) if i.code & 0x1F == RET | K and i.k == allow else i for i in program)
    calls: list[tuple[int, tuple[int, ...], int | None]] = []
    for number, args in interesting_calls(abi):
        if number in UNFILTERED and abi.arch.name == "x86_64":
            continue
        result = Verdict.of_ret(run(program, abi.arch.audit, number, args, byte_order=abi.arch.byte_order).ret)
        assert result == decide(policy, abi.arch.audit, number, args).verdict
        expected = {Action.ALLOW: MARKER, Action.ERRNO: result.data}.get(result.action)
        calls.append((number, args, expected))
    content = {"filter": pack(harmless, abi.arch.byte_order).hex(), "calls": calls}
    (folder / "job.json").write_text(json.dumps(content))


@pytest.mark.parametrize("guest", GUESTS)
@pytest.mark.parametrize("profile", ["agent-check", "docker-default"])
def test_the_kernel_decides_as_the_policy(guest: str, profile: str, tmp_path: Path) -> None:
    source = tmp_path / f"{profile}.sbx"
    text = (ROOT / "profiles" / source.name).read_text()
    source.write_text(re.sub(r"abi x86_64, aarch64 ", "abi x86_64, aarch64, s390x, riscv64 ", text))
    policy = load_policy(source, profile, Reporter())
    wanted = next(one for one in policy.syscalls.filters if one.abis[0].arch == ARCHES[GUESTS[guest]])
    job = tmp_path / "job"
    shutil.copytree(JOB, job)
    job_for(wanted, job)
    result = run_in_guest(guest, job)
    assert result.status == 0, result.output
