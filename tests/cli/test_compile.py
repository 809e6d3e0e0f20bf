"""`sbc compile`: whole outputs or none, the same bytes from anywhere, honest tables."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sbc.cli.parser import build_parsers
from tests.cli.conftest import PROFILES, ROOT, Profile, Sbc

SMALL = """\
sbx 1
use <stock>
profile small {
  syscalls { abi x86_64; default allow; include @stock-denylist }
  files { root host; read / }
}
"""
SYSTEM_CALLS = "sbx 1\nprofile p { syscalls { abi x86_64; default allow; %s }; files { root host; read / } }\n"


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_the_default_targets(sbc: Sbc, tmp_path: Path) -> None:
    said = sbc("compile", PROFILES / "agent-check.sbx")
    assert said.status == 0
    made = {f"agent-check.{suffix}" for suffix in ("x86_64.bpf", "aarch64.bpf", "bwrap", "md", "sbb")}
    assert names(tmp_path / "build" / "agent-check") == made
    assert "wrote build/agent-check/agent-check.sbb" in said.out
    assert "no `sbpl` file" in said.err


def test_a_target_that_cannot_say_the_profile_is_an_error_by_name(sbc: Sbc, tmp_path: Path) -> None:
    said = sbc("compile", PROFILES / "agent-check.sbx", "--target", "sbpl", "-o", "out")
    assert said.status == 2
    assert "error[SBX" in said.err
    assert "write ${workdir} as /work" in said.err
    assert not (tmp_path / "out").exists()


def test_only_the_targets_named(sbc: Sbc, tmp_path: Path) -> None:
    assert sbc("compile", PROFILES / "gate.sbx", "--target", "sbpl", "-o", "out").status == 0
    assert names(tmp_path / "out") == {"gate.sb"}


def test_a_target_that_was_not_asked_for_stops_nothing(sbc: Sbc, profile: Profile) -> None:
    path = profile(SYSTEM_CALLS % "deny EPERM { execve execveat }")
    assert sbc("compile", path, "--target", "bpf").status == 0
    said = sbc("compile", path)
    assert said.status == 2
    assert "execve" in said.err


def test_an_unknown_target_is_an_error_with_a_suggestion(sbc: Sbc) -> None:
    said = sbc("compile", PROFILES / "gate.sbx", "--target", "bwarp")
    assert said.status == 2
    assert "did you mean `bwrap`" in said.err


def test_an_error_writes_nothing(sbc: Sbc, profile: Profile, tmp_path: Path) -> None:
    said = sbc("compile", profile(SYSTEM_CALLS % "deny EPERM ptarce"), "-o", "out")
    assert said.status == 2
    assert "did you mean `ptrace`" in said.err
    assert not (tmp_path / "out").exists()


def test_what_is_no_longer_made_is_removed(sbc: Sbc, profile: Profile, tmp_path: Path) -> None:
    path = profile(SMALL.replace("abi x86_64;", "abi x86_64, aarch64;"))
    assert sbc("compile", path, "-o", "out").status == 0
    (tmp_path / "out" / "mine.txt").write_text("")
    profile(SMALL)
    said = sbc("compile", path, "-o", "out")
    assert "removed out/small.aarch64.bpf" in said.out
    assert names(tmp_path / "out") == {f"small.{s}" for s in ("x86_64.bpf", "sb", "bwrap", "md", "sbb")} | {"mine.txt"}


def test_json_has_coverage_and_diagnostics(sbc: Sbc) -> None:
    said = sbc("compile", PROFILES / "agent-check.sbx", "--json")
    made = said.json()
    assert made["profile"] == "agent-check"
    assert "build/agent-check/agent-check.sbb" in made["written"]
    row = next(row for row in made["coverage"] if row["statement"]["text"].startswith("tmp /tmp"))
    assert row["targets"]["bpf"]["state"] == "not applicable"
    assert row["targets"]["bwrap"]["state"] == "left to the runtime"
    assert "inode" in row["targets"]["bwrap"]["why"]
    assert {diagnostic["severity"] for diagnostic in made["diagnostics"]} == {"note"}
    assert said.err == ""


def test_what_targets_say_is_told(sbc: Sbc, profile: Profile, tmp_path: Path) -> None:
    path = profile("sbx 1\nprofile p { syscalls none; files { root host; read / } }\n")
    said = sbc("compile", path, "-o", "out")
    assert "note: bpf: `syscalls none`: no filter is written\n" in said.out
    assert "- bpf: `syscalls none`: no filter is written." in (tmp_path / "out" / "p.md").read_text()
    made = sbc("compile", path, "-o", "out", "--json").json()
    assert {"target": "bpf", "text": "`syscalls none`: no filter is written"} in made["notes"]
    assert sbc("compile", path, "--target", "bwrap", "-o", "out", "--json").json()["notes"] == []


def test_a_folder_that_cannot_be_written_is_one_line(sbc: Sbc, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    said = sbc("compile", PROFILES / "gate.sbx", "-o", "out")
    assert said.status == 2
    assert said.err.splitlines()[-1].startswith("sbc compile: out: ")


@pytest.mark.parametrize("name", ["agent-check", "gate", "builder", "docker-default"])
def test_the_same_bytes_from_anywhere(name: str, tmp_path: Path) -> None:
    """Folder, locale, time zone, home, and the order of hashes do not matter."""
    outputs: list[dict[str, bytes]] = []
    for number, folder in enumerate((tmp_path, ROOT)):
        out = tmp_path / f"out{number}"
        environment = {
            "PYTHONPATH": f"{ROOT}/compiler:{ROOT}/runtime", "PYTHONHASHSEED": str(number), "HOME": str(tmp_path),
            "TZ": ("UTC", "Asia/Tokyo")[number], "LC_ALL": ("C", "C.UTF-8")[number], "PATH": os.environ["PATH"],
        }  # fmt: skip
        subprocess.run(
            [sys.executable, "-m", "sbc.cli.main", "compile", os.path.relpath(PROFILES / f"{name}.sbx", folder),
             "-o", str(out)],
            cwd=folder, env=environment, check=True, capture_output=True,
        )  # fmt: skip
        outputs.append({path.name: path.read_bytes() for path in out.iterdir()})
    assert outputs[0] == outputs[1]
    assert not [
        key for key, value in outputs[0].items() if str(tmp_path).encode() in value or str(ROOT).encode() in value
    ]


def test_compiling_imports_nothing_slow(tmp_path: Path) -> None:
    """A parser generator, templates, OpenSSL, compressors: each would cost more than a part of the compiler."""
    code = (
        "import sys\nfrom sbc.cli.main import main\n"
        f"main(['compile', {str(PROFILES / 'agent-check.sbx')!r}, '-o', {str(tmp_path / 'out')!r}])\n"
        "names = ('lark', 'jinja2', 'inspect', '_hashlib', 'shutil', 'lzma', 'rich', 'subprocess', 'dataclasses')\n"
        "print(*(name for name in names if name in sys.modules), file=sys.stderr)"
    )
    environment = {"PYTHONPATH": f"{ROOT}/compiler:{ROOT}/runtime", "HOME": str(tmp_path)}
    said = [
        subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True).stderr
        for _ in range(2)  # the first fills the cache of tables and trees
    ]
    assert said[1].splitlines()[-1] == ""


def test_what_is_shared_between_files_changes_nothing(sbc: Sbc, profile: Profile) -> None:
    """Filters of one meaning are proven once; each file still has its own lines and findings."""
    first = profile(SYSTEM_CALLS % "deny EPERM ptrace", "a.sbx")
    second = profile("# moved\n" + SYSTEM_CALLS % "deny EPERM ptrace", "b.sbx")
    other = profile(SYSTEM_CALLS % "deny ENOSYS ptrace", "c.sbx")
    together = sbc("check", first, second, other, "--json").json()["files"]
    alone = [sbc("check", path, "--json").json()["files"][0] for path in (first, second, other)]
    for made in (*together, *alone):
        for figures in made["profiles"][0]["filters"]:
            del figures["proof_ms"]
    assert together == alone
    assert together[0]["profiles"] == together[1]["profiles"]
    lines = [[found["line"] for found in made["diagnostics"]] for made in together]
    assert lines[1] == [line + 1 for line in lines[0]]


def test_every_command_has_examples() -> None:
    for name, parser in build_parsers(None).commands.items():
        assert f"sbc {name}" in parser.format_help().split("example", 1)[1], name
