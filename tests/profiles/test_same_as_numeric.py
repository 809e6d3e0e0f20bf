"""agent-check and docker-default decide as the policies that were measured, on every number and boundary value."""

import pytest

from sbc.policy.syscalls import decide
from sbc_runtime.action import Action
from tests.analysis.lowered import shipped
from tests.profiles.numeric import AUDIT, NumericPolicy
from tests.shared_data import shared

PAIRS = {"agent-check": "policy-denylist.json", "docker-default": "policy-docker-default.json"}
OTHERS = (0x40000003, 0xC00000B7, 0)
EDGES = (0x3FFFFFFF, 0x40000000, 0x40000001, 0x40000029, 0x400001FF, 0x40000208, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
SIMPLE = ((0,) * 6, (0xDEADBEEFCAFEBABE,) * 6, ((1 << 64) - 1,) * 6)

CONSTANTS = (0, 10, 38, 39, 40, 0x20008, 0x7E020000, 0x7E020080, *(1 << bit for bit in range(32)))
LOW = sorted({(c + d) & 0xFFFFFFFF for c in CONSTANTS for d in (-1, 0, 1)} | {0x80000000, 0xFFFFFFFF})
HIGH = (0, 1, 0x10000000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


@pytest.mark.parametrize("profile", PAIRS)
def test_the_same_verdict_on_every_number_and_boundary(profile: str) -> None:
    numeric = NumericPolicy(shared("bench", PAIRS[profile]))
    policy = next(f for f in shipped(profile)[0].syscalls.filters if f.name == "x86_64")
    calls = [(AUDIT, number, args) for number in (*range(1024), *EDGES) for args in SIMPLE]
    calls += [(audit, number, SIMPLE[0]) for audit in OTHERS for number in (0, 41, 101)]
    calls += [
        (AUDIT, number, (high << 32 | low, *(rest,) * 5))
        for number in numeric.asking
        for low in LOW
        for high in HIGH
        for rest in (0, 0xDEADBEEFCAFEBABE)
    ]
    wrong = [
        (hex(audit), number, hex(args[0]), want, got)
        for audit, number, args in calls
        if (got := decide(policy, audit, number, args).verdict) != (want := numeric.decide(audit, number, args))
    ]
    assert not wrong


@pytest.mark.parametrize("abi", ["x86_64", "aarch64"])
def test_the_deny_list_is_what_its_text_says(abi: str) -> None:
    """On both ABIs the list names the calls of the measured list that they have, and no other."""
    numeric = NumericPolicy(shared("bench", PAIRS["agent-check"]))
    names = {rule["name"] for rules in numeric.rules.values() for rule in rules}
    policy = next(f for f in shipped("agent-check")[0].syscalls.filters if f.name == abi)
    listed = {rule.call for rule in policy.abis[0].rules}
    only_x86 = {"iopl", "ioperm", "modify_ldt", "uselib", "_sysctl", "sysfs", "nfsservctl"}
    assert listed == (names if abi == "x86_64" else names - only_x86)
    assert all(rule.verdict.action is Action.ERRNO for rule in policy.abis[0].rules)
