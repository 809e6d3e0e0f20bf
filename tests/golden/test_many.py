"""Very many diagnostics of one kind in one file: the first are told, the others counted."""

import re
from pathlib import Path

import pytest

from sbc.diagnostics.diagnostic import MAX_TOLD, Severity
from tests.golden.front_end import diagnostics_of

HEAD = "sbx 1\nprofile p {\n  files { root private; read /usr }\n  syscalls {\n    abi aarch64\n    default allow\n"
LINES = {
    Severity.ERROR: ("SBX009", "    deny EPERM nothing_{0}\n"),
    Severity.LINT: ("SBX010", "    deny EPERM ioctl when arg1:u64 == {0}\n"),
    Severity.NOTE: ("SBX011", "    deny EPERM fork when arg0:u64 == {0}\n"),
}


@pytest.mark.parametrize("severity", LINES)
def test_the_others_are_counted(tmp_path: Path, severity: Severity) -> None:
    code, line = LINES[severity]
    path = tmp_path / "p.sbx"
    path.write_text(HEAD + "".join(line.format(number) for number in range(MAX_TOLD + 7)) + "  }\n}\n")
    found = [one for one in diagnostics_of(path) if one.severity is severity]
    counts = [one for one in found if one.code == code]
    told = len([one for one in found if one.code != code])
    assert told >= MAX_TOLD
    (count,) = counts
    assert re.fullmatch(rf"[78] more {severity.value}s in p\.sbx", count.title())
