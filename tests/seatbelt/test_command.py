"""`sbc seatbelt-eval`: its JSON, its words and its exit statuses."""

import json
from pathlib import Path

import pytest

from sbc.cli.main import main

PROFILE = """(version 1)
(deny default)
(allow file-read*
  (subpath (param "ROOT")))
(allow process-exec (with no-sandbox) (literal "/usr/bin/open"))
"""


@pytest.fixture
def profile(tmp_path: Path) -> str:
    path = tmp_path / "p.sb"
    path.write_text(PROFILE)
    return str(path)


def test_json(profile: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["seatbelt-eval", profile, "file-read-data", "/a/b", "-D", "ROOT=/a", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "decision": "allow",
        "rule": {"file": "p.sb", "line": 3, "text": '(allow file-read*\n  (subpath (param "ROOT")))'},
        "operation": "file-read*",
        "bare": False,
    }
    assert main(["seatbelt-eval", profile, "file-write-data", "/a/b", "-D", "ROOT=/a", "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == {
        "decision": "deny",
        "rule": {"file": "p.sb", "line": 2, "text": "(deny default)"},
        "operation": "default",
        "bare": True,
    }


def test_no_rule_is_null(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.sb"
    path.write_text("(version 1)(deny default)")
    assert main(["seatbelt-eval", str(path), "process-info-pidinfo", "others", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer == {"decision": "allow", "rule": None, "operation": "process-info*", "bare": False}


def test_words(profile: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["seatbelt-eval", profile, "process-exec", "/usr/bin/open", "-D", "ROOT=/a"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("allow\n")
    assert "p.sb:5: (allow process-exec (with no-sandbox)" in out
    assert "without this sandbox" in out


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["file-read-data", "/a"], "SBX443"),
        (["file-read", "/a", "-D", "ROOT=/a"], "SBX450"),
        (["file-read-data", "a", "-D", "ROOT=/a"], "SBX450"),
        (["file-read-data", "-", "-D", "ROOT=/a"], "SBX451"),
    ],
)
def test_what_is_wrong(profile: str, arguments: list[str], code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["seatbelt-eval", profile, *arguments]) == 2
    assert f"error[{code}]" in capsys.readouterr().err
    assert main(["seatbelt-eval", profile, *arguments, "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["diagnostics"][0]["code"] == code


@pytest.mark.parametrize("option", [["-D", "ROOT"], ["-D", "=x"], ["-D", "A=1", "-D", "A=2"], ["--attr", "uid"]])
def test_options_that_are_none(profile: str, option: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["seatbelt-eval", profile, "file-read-data", "/a", *option]) == 2
    assert capsys.readouterr().err.startswith("sbc seatbelt-eval: ")


def test_a_file_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["seatbelt-eval", str(tmp_path / "x.sb"), "file-read-data", "/a"]) == 2
    assert "SBX001" in capsys.readouterr().err


def test_a_spelling_that_the_kernel_never_sees_is_noted(profile: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["seatbelt-eval", profile, "file-read-data", "/tmp/x", "-D", "ROOT=/tmp"]) == 0
    assert "/private/tmp/x" in capsys.readouterr().err


def test_attributes(tmp_path: Path) -> None:
    path = tmp_path / "p.sb"
    path.write_text("(version 1)(allow default)(deny file-write-create (vnode-type SYMLINK))")
    base = ["seatbelt-eval", str(path), "file-write-create", "/a"]
    assert main(base) == 2
    assert main([*base, "--attr", "vnode-type=SYMLINK"]) == 1
    assert main([*base, "--attr", "vnode=DIRECTORY"]) == 0
