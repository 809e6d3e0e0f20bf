"""The prover against mutated filters: it must catch every mutant that decides otherwise, and no other."""

from pathlib import Path

import pytest

from sbc.backends.bpf.generate import generate
from sbc.policy.conditions import AllOf, Between, Masked, Not
from sbc_runtime import instruction as bpf
from sbc_runtime.instruction import Instruction, Program, unpack
from tests.bpf.policies import EPERM, equals, policy, rule
from tests.decision.mutants import check_against_original, check_against_policy, mutants
from tests.decision.oracle import Comparing, representatives
from tests.decision.programs import LOAD, plain
from tests.decision.shipped import shipped_filters
from tests.shared_data import shared_folder

ALLOW = plain(bpf.RET | bpf.K, 0x7FFF0000)
DENY = plain(bpf.RET | bpf.K, 0x00050001)

HAND_WRITTEN: dict[str, Program] = {
    "one number": (plain(LOAD, 0), Instruction(bpf.JMP | bpf.JEQ | bpf.K, 0, 1, 41), DENY, ALLOW),
    "a range": (
        plain(LOAD, 0),
        Instruction(bpf.JMP | bpf.JGE | bpf.K, 0, 2, 10),
        Instruction(bpf.JMP | bpf.JGT | bpf.K, 1, 0, 20),
        DENY,
        ALLOW,
    ),
    "a mask": (
        plain(LOAD, 0),
        Instruction(bpf.JMP | bpf.JEQ | bpf.K, 0, 3, 56),
        plain(LOAD, 16),
        plain(bpf.ALU | bpf.AND | bpf.K, 0x30000),
        Instruction(bpf.JMP | bpf.JEQ | bpf.K, 1, 0, 0x10000),
        ALLOW,
        DENY,
    ),
    "dead code and a far jump": (
        plain(LOAD, 4),
        Instruction(bpf.JMP | bpf.JSET | bpf.K, 1, 0, 0x80000000),
        plain(bpf.JMP | bpf.JA, 1),
        ALLOW,
        DENY,
        ALLOW,
    ),
}


@pytest.mark.parametrize("name", HAND_WRITTEN)
def test_hand_written_filters(name: str) -> None:
    program = HAND_WRITTEN[name]
    tally = check_against_original(program, mutants(program), "little")
    assert tally.caught > 100
    assert tally.refused > 10
    assert tally.harmless
    assert tally.too_complex + tally.sampled < tally.caught / 10, tally


def test_a_generated_filter() -> None:
    small = policy(
        rule(41, EPERM, Not(Between(0, 32, 1, 2))),
        rule(56, EPERM, Not(Masked(0, 64, 0x7E02000000, 0))),
        rule(101, EPERM),
        rule(102, EPERM, AllOf((equals(0, 5), equals(1, 6, 64)))),
    )
    program = generate(small)
    tally = check_against_policy(small, program, mutants(program))
    assert tally.caught > 1000
    assert tally.too_complex + tally.sampled < tally.caught / 10, tally


SHIPPED = shipped_filters()


def test_some_mutants_of_a_shipped_filter() -> None:
    policy, program = SHIPPED["agent-check.x86_64"]
    assert check_against_policy(policy, program, list(mutants(program))[::53]).caught


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_all_mutants_of_shipped_filters(name: str) -> None:
    policy, program = SHIPPED[name]
    tally = check_against_policy(policy, program, mutants(program))
    assert sum(tally) > 70 * len(program)
    assert tally.too_complex + tally.sampled < tally.caught / 10, tally


def peers() -> list[Path]:
    folder = shared_folder()
    return sorted((folder / "bench" / "peer-filters").glob("*.bpf")) if folder else []


@pytest.mark.slow
@pytest.mark.parametrize("path", peers(), ids=lambda path: path.stem)
def test_filters_of_other_compilers(path: Path) -> None:
    """They are written in other styles; some hundred mutants of each."""
    program = unpack(path.read_bytes(), "little")
    every = list(mutants(program))
    assert check_against_original(program, every[:: len(every) // 100 | 1], "little").caught > 50


def test_the_oracle_has_a_value_of_every_class() -> None:
    comparisons = frozenset({(0xFFFFFFFF, 10), (0xFFFFFFFF, 20), (0x3, 0), (0x80000000, 0)})
    found = representatives(comparisons)
    brute = {tuple((value & mask) - constant > 0 for mask, constant in comparisons) for value in range(64)}
    made = {tuple((value & mask) - constant > 0 for mask, constant in comparisons) for value in found}
    assert brute <= made
    assert len(made) > len(brute)


def test_the_oracle_finds_a_needle() -> None:
    program = HAND_WRITTEN["a mask"]
    changed = (*program[:4], program[4]._replace(k=0x10001), *program[5:])
    assert Comparing(program, changed).disagreement() is not None
    same = (*program[:3], plain(bpf.ALU | bpf.AND | bpf.K, 0x30000), *program[4:])
    alike = Comparing(program, same)
    assert alike.disagreement() is None
    assert alike.exact
