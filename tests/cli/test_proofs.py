"""Filters that cannot be made or proven: an error of the whole command, and nothing is written."""

from pathlib import Path

import pytest

from tests.cli.conftest import Profile, Sbc

PROFILE = """\
sbx 1
profile p {{
  files {{ root host; read / }}
  syscalls {{
    abi x86_64
    default allow
    {}
  }}
}}
"""


def scattered(count: int) -> str:
    """Values that no range or mask joins."""
    return " ".join(str(number * 2654435761 % (1 << 32)) for number in range(1, count + 1))


LARGE = f"deny EPERM ioctl when cmd in {{ {scattered(4200)} }}"
COMPLEX = "deny EPERM mmap when " + " or ".join(
    f"(prot & {1 << bit} == {1 << bit} and flags & {1 << 31 - bit} == {1 << 31 - bit})" for bit in range(22)
)
OPEN = "foreign-abi allow"


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        (LARGE, ("SBX601", "the kernel takes 4096")),
        (COMPLEX, ("SBX602", "at `mmap` on x86_64: the decision diagram has more than 500,000 nodes")),
        (OPEN, ("SBX604", "lets every call of every ABI through")),
    ],
    ids=["too large", "too complex", "open"],
)
def test_what_is_not_proven_is_not_written(
    sbc: Sbc, profile: Profile, tmp_path: Path, rules: str, told: tuple[str, str]
) -> None:
    code, words = told
    path = profile(PROFILE.format(rules))
    said = sbc("compile", path, "-o", "out")
    assert said.status == 2
    assert f"error[{code}]" in said.err
    assert words in said.err
    assert "--> " in said.err
    assert not (tmp_path / "out").exists()
    (found,) = [one for one in sbc("check", path, "--json").json()["files"][0]["diagnostics"] if one["code"] == code]
    assert found["severity"] == "error"


def test_a_large_filter_names_the_call_that_costs_most(sbc: Sbc, profile: Profile) -> None:
    assert "`ioctl` costs most" in sbc("check", profile(PROFILE.format(LARGE))).err


def test_just_below_the_limit_is_proven(sbc: Sbc, profile: Profile) -> None:
    rules = f"deny EPERM ioctl when cmd in {{ {scattered(4000)} }}"
    said = sbc("check", profile(PROFILE.format(rules)), "--json").json()["files"][0]["profiles"][0]
    assert 4000 < said["filters"][0]["instructions"] <= 4096
