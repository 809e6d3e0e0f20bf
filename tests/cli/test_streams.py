"""What becomes of a command whose streams cannot be written: one line and exit 2, never a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import PROFILES, ROOT, Profile

GATE = str(PROFILES / "gate.sbx")
SBC = [sys.executable, "-m", "sbc.cli.main"]
ANSWERS = {
    "compile": ["compile", GATE, "-o", "out"],
    "check": ["check", GATE],
    "fmt": ["fmt", "--check", "unformatted.sbx"],
    "explain": ["explain", GATE, "read(0)"],
    "code": ["explain", "SBX203"],
    "docs": ["docs", GATE],
    "page": ["docs", GATE, "--format", "html"],
    "json": ["check", GATE, "--json"],
    "completion": ["completion", "bash"],
    "doctor": ["doctor"],
    "help": ["--help"],
    "help of a command": ["check", "--help"],
    "version": ["--version"],
}
CAN_BE_FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")


def shell(
    folder: Path, arguments: list[str], redirection: str, unbuffered: str = ""
) -> "subprocess.CompletedProcess[str]":
    (folder / "unformatted.sbx").write_text("sbx 1\ngroup  @a { read }\n")
    environment = {"PYTHONPATH": f"{ROOT}/compiler:{ROOT}/runtime", "PATH": os.environ["PATH"], "HOME": str(folder)}
    if unbuffered:
        environment["PYTHONUNBUFFERED"] = unbuffered
    command = ["/bin/sh", "-c", f'"$@" {redirection}', "sh", *SBC, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def ours(said: "subprocess.CompletedProcess[str]") -> list[str]:
    assert "Traceback" not in said.stderr
    assert "Exception ignored" not in said.stderr
    return [line for line in said.stderr.splitlines() if line.startswith("sbc")]


@CAN_BE_FULL
@pytest.mark.parametrize("name", ANSWERS)
def test_a_full_output_is_one_line(tmp_path: Path, name: str) -> None:
    said = shell(tmp_path, ANSWERS[name], ">/dev/full")
    assert ours(said) == ["sbc: the output cannot be written: No space left on device"]
    assert said.returncode == 2


@CAN_BE_FULL
@pytest.mark.parametrize("name", ["help", "completion", "check"])
def test_a_full_output_without_a_buffer_is_one_line(tmp_path: Path, name: str) -> None:
    said = shell(tmp_path, ANSWERS[name], ">/dev/full", unbuffered="1")
    assert ours(said) == ["sbc: the output cannot be written: No space left on device"]
    assert said.returncode == 2


@pytest.mark.parametrize("name", ANSWERS)
def test_a_closed_output_is_one_line(tmp_path: Path, name: str) -> None:
    said = shell(tmp_path, ANSWERS[name], ">&-")
    assert ours(said) == ["sbc: the output cannot be written: Bad file descriptor"]
    assert said.returncode == 2


def test_no_file_is_opened_in_place_of_a_closed_stream(tmp_path: Path) -> None:
    """Descriptor 1 would be the first file that is opened for writing, and get what is printed."""
    shell(tmp_path, ANSWERS["compile"], "<&- >&- 2>&-")
    assert (tmp_path / "out" / "gate.sb").read_text().startswith(";")
    assert (tmp_path / "out" / "gate.x86_64.bpf").stat().st_size % 8 == 0


@pytest.mark.parametrize("redirection", ["2>&-", "<&-", "<&- 2>&-"])
def test_other_closed_streams_do_no_harm(tmp_path: Path, redirection: str) -> None:
    said = shell(tmp_path, ANSWERS["check"], redirection)
    assert (said.returncode, said.stderr) == (0, "")
    assert "gate: x86_64" in said.stdout


@CAN_BE_FULL
def test_full_diagnostics_are_no_traceback(tmp_path: Path, profile: Profile) -> None:
    path = profile("sbx 1\nprofile p { files { root hst } }\n")
    said = shell(tmp_path, ["check", str(path)], "2>/dev/full")
    assert (said.returncode, said.stdout) == (2, "")


def test_a_reader_that_went_away_is_nothing_to_tell(tmp_path: Path) -> None:
    said = shell(tmp_path, ["completion", "bash"], "| true")
    assert said.stderr == ""


# ---- files that cannot be written or read ---------------------------------------------------------------------------


def test_a_folder_where_a_file_should_be_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "out" / "gate.sb").mkdir(parents=True)
    said = shell(tmp_path, ANSWERS["compile"], "")
    assert ours(said) == ["sbc compile: out/gate.sb: Is a directory; name a folder that you may write to by `-o`"]
    assert said.returncode == 2
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["gate.sb"]


def test_a_folder_that_may_not_be_written_is_named(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root writes everywhere")
    (tmp_path / "out").mkdir(mode=0o500)
    said = shell(tmp_path, ANSWERS["compile"], "")
    assert ours(said) == ["sbc compile: out: Permission denied"]
    assert said.returncode == 2
