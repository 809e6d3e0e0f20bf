"""The truth tables: what each shipped profile decides, by its policy read literally and by its filter."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from sbc.analysis.explain.call import explain_call
from sbc.analysis.explain.question import read_call
from sbc.analysis.explain.registers import registers
from sbc.analysis.words import verdict_text
from sbc.backends.bpf.generate import generate
from sbc.backends.bpf.interpreter import run
from sbc.kernel.numbers import numbers
from sbc.policy.syscalls import FilterPolicy
from sbc_runtime.arch import ARCHES, LAST_NUMBER
from sbc_runtime.instruction import Program
from tests.analysis.lowered import SHIPPED, shipped

FOLDER = Path(__file__).parent
ROW = re.compile(r"(?P<abis>\S+)\s+(?P<call>.+?)\s+->\s+(?P<verdict>[^#]+?)\s*(#.*)?")
GARBAGE = (0, 1, 0x10000000, 0xFFFFFFFF, 0xDEADBEEF00000000, (1 << 64) - 1)


class Row(NamedTuple):
    """One line of a table, for one ABI."""

    profile: str
    abi: str
    call: str
    verdicts: frozenset[str]


def rows(profile: str) -> list[Row]:
    found: list[Row] = []
    for line in (FOLDER / f"{profile}.txt").read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        match = ROW.fullmatch(line)
        assert match is not None, line
        verdicts = frozenset(part.strip() for part in match["verdict"].split("|"))
        found += [Row(profile, abi, match["call"], verdicts) for abi in match["abis"].split(",")]
    return found


ROWS = [row for profile in SHIPPED for row in rows(profile)]


@cache
def program(profile: str, index: int) -> Program:
    return generate(shipped(profile)[0].syscalls.filters[index])


def filter_for(profile: str, abi: str) -> tuple[int, FilterPolicy]:
    """Give the filter that a call by an ABI reaches."""
    filters = list(enumerate(shipped(profile)[0].syscalls.filters))
    arch = ARCHES[abi]
    own = [one for one in filters if any(rules.arch == arch for rules in one[1].abis)]
    return (own or [one for one in filters if one[1].abis[0].arch.kernel == arch.kernel])[0]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.profile}-{row.abi}-{row.call}")
def test_the_policy_decides_so(row: Row) -> None:
    (answer,) = explain_call(shipped(row.profile)[0], row.call, row.abi)
    said = {verdict_text(outcome.verdict, row.abi) for outcome in answer.outcomes} or {"absent"}
    assert said == row.verdicts


@pytest.mark.parametrize(
    "row", [row for row in ROWS if "absent" not in row.verdicts], ids=lambda row: f"{row.profile}-{row.abi}-{row.call}"
)
def test_the_filter_decides_so(row: Row) -> None:
    index, policy = filter_for(row.profile, row.abi)
    question = read_call(row.call)
    number = numbers(row.abi)[question.call] if isinstance(question.call, str) else question.call & LAST_NUMBER
    known = registers(question, question.call if isinstance(question.call, str) else None, row.abi)
    filter_program = program(row.profile, index)
    for value in GARBAGE:
        args = tuple(value if given is None else given for given in known)
        result = run(filter_program, ARCHES[row.abi].audit, number, args, byte_order=policy.abis[0].arch.byte_order)
        assert verdict_text(result.verdict, row.abi) in row.verdicts


def test_every_abi_has_a_row() -> None:
    assert {row.abi for row in ROWS} == set(ARCHES)


@pytest.mark.parametrize("profile", SHIPPED)
def test_every_filter_of_a_profile_has_rows(profile: str) -> None:
    listed = {rules.arch.name for policy in shipped(profile)[0].syscalls.filters for rules in policy.abis}
    assert listed <= {row.abi for row in ROWS if row.profile == profile}
