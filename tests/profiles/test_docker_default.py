"""docker-default decides as the container engines' own file does, on every ABI that it lists."""

import pytest

from sbc.kernel.numbers import numbers
from sbc.policy.syscalls import decide
from tests.analysis.lowered import shipped
from tests.profiles.engine import EngineProfile
from tests.shared_data import shared

ABIS = ("x86_64", "aarch64", "riscv64", "s390x", "ppc64le", "loongarch64", "mips64el")
HIGH = (0, 1 << 32, 0x7E020000 << 32, 0xFFFFFFFF << 32)


def test_it_lists_these_abis() -> None:
    assert tuple(f.name for f in shipped("docker-default")[0].syscalls.filters) == ABIS


@pytest.mark.parametrize("abi", ABIS)
def test_the_same_verdict_on_every_call(abi: str) -> None:
    engine = EngineProfile(shared("corpora", "oci", "docker-default.json"))
    policy = next(f for f in shipped("docker-default")[0].syscalls.filters if f.name == abi)
    arch = policy.abis[0].arch
    for call, number in numbers(abi).items():
        values = {0, 1, 0x11} | {(v + d) & 0xFFFFFFFF for v in engine.values(call) for d in (-1, 0, 1)}
        values |= {value & -value for value in engine.values(call)}
        for low in values:
            for high in HIGH:
                for args in ((high | low, 0, 0, 0, 0, 0), (0, high | low, 0, 0, 0, 0), (high | low,) * 6):
                    got = decide(policy, arch.audit, number, args).verdict
                    assert got == engine.decide(abi, call, args), (call, [hex(value) for value in args])
