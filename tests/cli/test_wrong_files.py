"""A file that is not there, or not what a command takes: each command says what is wrong, where, and what to do."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import PROFILES, Sbc
from tests.cli.test_run import ENVIRONMENT, SBC

AGENT = PROFILES / "agent-check.sbx"

PROFILE_COMMANDS = {
    "compile": ("compile", "FILE"),
    "check": ("check", "FILE"),
    "fmt": ("fmt", "FILE"),
    "explain": ("explain", "FILE", "read", "/x"),
    "docs": ("docs", "FILE"),
    "disasm": ("disasm", "FILTER", "--policy", "FILE"),
    "run": ("run", "FILE", "--", "true"),
}
SBPL_COMMANDS = {"check": ("check", "FILE"), "seatbelt-eval": ("seatbelt-eval", "FILE", "file-read-data", "/x")}
FILTER_COMMANDS = {"eval": ("eval", "FILE", "--abi", "x86_64", "read"), "disasm": ("disasm", "FILE")}

Named = tuple[str, str]

COMMANDS = [
    *(pytest.param(line, ".sbx", id=f"{name} profile") for name, line in PROFILE_COMMANDS.items()),
    *(pytest.param(line, ".sb", id=f"{name} SBPL") for name, line in SBPL_COMMANDS.items()),
    *(pytest.param(line, ".bpf", id=f"{name} filter") for name, line in FILTER_COMMANDS.items()),
    pytest.param(("run", "FILE", "--", "true"), ".sbb", id="run bundle"),
]

WRONG = {
    "absent": "o such file or directory",
    "folder": "folder|directory|regular file",
    "pipe": "pipe|regular file",
    "empty": "empty|no version|not a bundle",
    "latin-1": "UTF-8|no text|whole number|not a bundle",
    "a loop": "loop|symbolic links",
}
"""What can be wrong with any file, and what is said of it, by whatever command."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with one file of every kind."""
    folder = tmp_path_factory.mktemp("made")
    for profile, targets in ((AGENT, "bpf,bundle"), (PROFILES / "gate.sbx", "sbpl")):
        line = [*SBC, "compile", str(profile), "-o", str(folder), "--target", targets]
        subprocess.run(line, check=True, env=ENVIRONMENT, capture_output=True)
    return folder


def spoil(path: Path, how: str) -> None:
    match how:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "empty":
            path.touch()
        case "latin-1":
            path.write_bytes(b"\xe9t\xe9")
        case "a loop":
            path.symlink_to(path.name)
        case _:
            pass


def said_of(sbc: Sbc, line: tuple[str, ...], path: Path, made: Path) -> str:
    """Give the one line or so that the command says of the file."""
    filled = [{"FILE": path.name, "FILTER": str(made / "agent-check.x86_64.bpf")}.get(word, word) for word in line]
    done = sbc(*filled)
    assert done.status == (125 if line[0] == "run" else 2), done
    assert done.out == ""
    assert path.name in done.err
    assert "Traceback" not in done.err
    return done.err


def advises(said: str) -> bool:
    """Tell whether an error says what to do: a line of help, or the last part of the one line."""
    return "\nhelp: " in said or "; name " in said


@pytest.mark.parametrize("how", [how for how in WRONG if how != "latin-1"])
@pytest.mark.parametrize(("line", "ending"), COMMANDS)
def test_no_file_of_any_kind(sbc: Sbc, made: Path, line: tuple[str, ...], ending: str, how: str) -> None:
    path = Path(f"wrong{ending}")
    spoil(path, how)
    said = said_of(sbc, line, path, made)
    assert any(word in said for word in WRONG[how].split("|")), said
    assert advises(said), said


@pytest.mark.parametrize(("line", "ending"), [one for one in COMMANDS if one.values[1] != ".sb"])
def test_no_text(sbc: Sbc, made: Path, line: tuple[str, ...], ending: str) -> None:
    test_no_file_of_any_kind(sbc, made, line, ending, "latin-1")  # SBPL is bytes, and may be any


@pytest.mark.parametrize("line", PROFILE_COMMANDS.values(), ids=PROFILE_COMMANDS)
@pytest.mark.parametrize("other", [("agent-check.sbb", "a bundle"), ("gate.sb", "SBPL")], ids=lambda other: other[0])
def test_another_kind_in_place_of_a_profile(sbc: Sbc, made: Path, line: tuple[str, ...], other: Named) -> None:
    name, kind = other
    path = Path("other.sbx")
    path.write_bytes((made / name).read_bytes())
    said = said_of(sbc, line, path, made)
    assert said.startswith(f"error[SBX012]: `other.sbx` is {kind}, not a profile of `sbx`\nhelp: ")
    assert said.count("error[") == 1


@pytest.mark.parametrize("line", SBPL_COMMANDS.values(), ids=SBPL_COMMANDS)
@pytest.mark.parametrize(
    "other", [("agent-check.sbb", "a bundle"), ("agent-check.sbx", "a profile of `sbx`")], ids=lambda other: other[0]
)
def test_another_kind_in_place_of_sbpl(sbc: Sbc, made: Path, line: tuple[str, ...], other: Named) -> None:
    name, kind = other
    path = Path("other.sb")
    path.write_bytes((AGENT if name == AGENT.name else made / name).read_bytes())
    assert said_of(sbc, line, path, made).startswith(f"error[SBX012]: `other.sb` is {kind}, not SBPL\nhelp: ")


@pytest.mark.parametrize("name", ["other.sbb", "other.txt"])
def test_another_kind_in_place_of_a_bundle(sbc: Sbc, made: Path, name: str) -> None:
    path = Path(name)
    path.write_bytes(AGENT.read_bytes())
    said = said_of(sbc, ("run", "FILE", "--", "true"), path, made)
    advice = "compile it, or give it a name that ends in `.sbx`"
    assert said == f"sbc run: {name} is a profile, not a bundle; {advice}; nothing was run\n"
    path.write_bytes((made / "gate.sb").read_bytes())
    said = said_of(sbc, ("run", "FILE", "--", "true"), path, made)
    assert "this is not a bundle; name a file `.sbb` that `sbc compile` wrote" in said


@pytest.mark.parametrize("line", FILTER_COMMANDS.values(), ids=FILTER_COMMANDS)
@pytest.mark.parametrize("other", ["agent-check.sbb", "gate.sb", "agent-check.sbx"])
def test_another_kind_in_place_of_a_filter(
    sbc: Sbc, made: Path, tmp_path: Path, line: tuple[str, ...], other: str
) -> None:
    path = tmp_path / "other.bpf"
    path.write_bytes((AGENT if other == AGENT.name else made / other).read_bytes())
    assert advises(said_of(sbc, line, path, made))


def test_places_that_cannot_be_written(sbc: Sbc, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    below = tmp_path / "file" / "x"
    assert advises(sbc("compile", AGENT, "-o", below).err)
    assert advises(sbc("docs", AGENT, "--check", below).err)
    assert advises(sbc("docs", AGENT, "--update", below).err)
    assert advises(sbc("run", AGENT, "-D", f"workdir={tmp_path}", "--report", below, "--", "true").err)


def test_the_advice_is_part_of_the_json(sbc: Sbc, tmp_path: Path) -> None:
    found = json.loads(sbc("check", tmp_path / "absent.sbx", "--json").out)["files"][0]["diagnostics"]
    assert [(one["code"], one["help"]) for one in found] == [
        ("SBX001", "name a file that is there, and that you may read")
    ]
