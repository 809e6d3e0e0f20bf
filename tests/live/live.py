"""Calls under a filter of this kernel: what goes into the driver, and what came out."""

import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from sbc_runtime import instruction as bpf
from sbc_runtime.action import Action, Verdict
from sbc_runtime.instruction import Program, pack
from tests.live import driver

MARKERS = 3000
"""The first errno that stands for a verdict; no filter here denies with it or the ones after it."""

PASSING = (Action.ALLOW, Action.LOG, Action.TRACE, Action.NOTIFY)


class Call(NamedTuple):
    """One call: number and arguments as 64-bit registers; `compat` makes it by `int 0x80`."""

    number: int
    args: tuple[int, ...]
    compat: bool = False


class Job(NamedTuple):
    """A filter that lets no call through, and the calls to make under it."""

    program: Program
    calls: Sequence[Call]


class Ran(NamedTuple):
    """What each call returned (None: it was not reached), and how the child ended."""

    results: list[int | None]
    status: int

    @property
    def signal(self) -> int | None:
        return os.WTERMSIG(self.status) if os.WIFSIGNALED(self.status) else None


def needs_live_filters() -> None:
    """Skip, with the reason, where filters of this kind cannot be loaded."""
    if sys.platform != "linux" or platform.machine() != "x86_64" or sys.maxsize < 1 << 32:
        pytest.skip(f"makes x86-64 calls by machine code; this is {sys.platform} on {platform.machine()}")
    if not Path("/proc/sys/kernel/seccomp/actions_avail").exists():
        pytest.skip("this kernel has no seccomp filters")


def needs_compat_calls() -> None:
    """Skip, with the reason, where `int 0x80` makes no call."""
    deny = (bpf.Instruction(bpf.RET | bpf.K, 0, 0, Verdict(Action.ERRNO, MARKERS).ret()),)
    ran = run_jobs([Job(deny, [Call(20, (0,) * 6, compat=True)])])[0]
    if ran.results != [-MARKERS]:
        pytest.skip("this kernel takes no 32-bit calls (int 0x80)")


def marked(program: Program, verdicts: dict[Verdict, int], *, kills: bool = False) -> Program:
    """Give the program with every verdict replaced by an errno that stands for it, so that no call has an effect.

    `verdicts` is filled with the errnos. With `kills` the killing verdicts stay.
    """
    made: list[bpf.Instruction] = []
    for instruction in program:
        if instruction.code == bpf.RET | bpf.K:
            verdict = Verdict.of_ret(instruction.k)
            if not kills or verdict.action in PASSING:
                errno = verdicts.setdefault(verdict, MARKERS + len(verdicts))
                instruction = instruction._replace(k=Verdict(Action.ERRNO, errno).ret())  # noqa: PLW2901
        made.append(instruction)
    return tuple(made)


def run_jobs(jobs: Sequence[Job]) -> list[Ran]:
    """Make the calls of each job in a child of its own, under the job's filter."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "jobs"
        path.write_bytes(_laid_out(jobs))
        subprocess.run([sys.executable, "-I", driver.__file__, str(path)], check=True, timeout=3000)
        return _read(path.read_bytes(), jobs)


def _records(job: Job) -> int:
    return len(job.calls) + driver.PREPARATION


def _offsets(jobs: Sequence[Job]) -> list[tuple[int, int]]:
    """Give the offsets of each job's program and records."""
    place = driver.COUNT.size + len(jobs) * driver.HEADER.size
    made: list[tuple[int, int]] = []
    for job in jobs:
        records = place + len(job.program) * bpf.SIZE
        made.append((place, records))
        place = records + _records(job) * driver.RECORD.size
    return made


def _laid_out(jobs: Sequence[Job]) -> bytes:
    headers: list[bytes] = []
    bodies: list[bytes] = []
    for job, (program, records) in zip(jobs, _offsets(jobs), strict=True):
        for code, _, _, k in job.program:
            assert code != bpf.RET | bpf.K or Verdict.of_ret(k).action not in PASSING, "a call could pass"
        headers.append(driver.HEADER.pack(program, len(job.program), records, _records(job), 0, 0))
        bodies.append(pack(job.program, "little"))
        bodies.append(bytes(driver.PREPARATION * driver.RECORD.size))
        bodies += [
            driver.RECORD.pack(
                call.number,
                *call.args,
                driver.NOT_RUN,
                driver.INT80 if call.compat else driver.SYSCALL,
                *(0,) * 7,
            )
            for call in job.calls
        ]
    return driver.COUNT.pack(len(jobs)) + b"".join(headers) + b"".join(bodies)


def _read(data: bytes, jobs: Sequence[Job]) -> list[Ran]:
    made: list[Ran] = []
    for index, (job, (_, records)) in enumerate(zip(jobs, _offsets(jobs), strict=True)):
        status = driver.HEADER.unpack_from(data, driver.COUNT.size + index * driver.HEADER.size)[4]
        results = [
            driver.RECORD.unpack_from(data, records + place * driver.RECORD.size)[7] for place in range(_records(job))
        ]
        assert results[: driver.PREPARATION] == [0, 0], f"the kernel refused the filter: {results[:2]}"
        shown = [None if result == driver.NOT_RUN else result for result in results[driver.PREPARATION :]]
        made.append(Ran(shown, status))
    return made
