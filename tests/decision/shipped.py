"""The filters that ship: what the compiler makes of each profile of the repository."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

from sbc.backends.bpf.generate import generate
from sbc.diagnostics.diagnostic import Reporter
from sbc.pipeline import load_policy
from sbc.policy.syscalls import FilterPolicy
from sbc_runtime.instruction import Program

PROFILES = Path(__file__).resolve().parents[2] / "profiles"


class Shipped(NamedTuple):
    """One filter: its policy and its program."""

    policy: FilterPolicy
    program: Program


@cache
def shipped_filters() -> dict[str, Shipped]:
    """Give every different filter of the shipped profiles, by profile and ABI."""
    made: dict[str, Shipped] = {}
    programs: set[tuple[str, Program]] = set()
    for path in sorted(PROFILES.glob("*.sbx")):
        for policy in load_policy(path, None, Reporter()).syscalls.filters:
            program = generate(policy)
            if (policy.name, program) not in programs:
                programs.add((policy.name, program))
                made[f"{path.stem}.{policy.name}"] = Shipped(policy, program)
    return made
