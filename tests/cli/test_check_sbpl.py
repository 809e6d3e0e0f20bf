"""`sbc check` of SBPL: its words, its JSON, its exit statuses."""

import json
from pathlib import Path

import pytest

from sbc.cli.main import main

FINE = '(version 1)\n(allow default)\n(deny file-read-xattr (literal (param "X")))\n'
LINT = '(version 1)\n(allow default)\n(deny file-read-xattr (literal "/tmp/x"))\n'
BROKEN = "(version 1)\n(alow default)\n"


def written(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text, "utf-8")
    return str(path)


def test_the_worst_decides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fine, lint, broken = (written(tmp_path, f"{n}.sb", t) for n, t in enumerate((FINE, LINT, BROKEN)))
    x = ["-D", "X=/a"]
    assert main(["check", fine, *x]) == 0
    assert capsys.readouterr().out == f"{fine}: 2 rules, no finding\n"
    assert main(["check", fine, lint, *x]) == 1
    told = capsys.readouterr()
    assert told.out.splitlines()[1] == f"{lint}: 2 rules, 1 finding"
    assert "lint[SBX455]" in told.err
    assert f"--> {lint}:3:32" in told.err
    assert main(["check", broken, lint, fine, *x]) == 2
    told = capsys.readouterr()
    assert "error[SBX441]" in told.err
    assert broken not in told.out
    assert main(["check", fine]) == 2
    assert "error[SBX443]" in capsys.readouterr().err


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lint, broken = written(tmp_path, "a.sbpl", LINT), written(tmp_path, "b.sb", BROKEN)
    assert main(["check", lint, broken, "--json"]) == 2
    first, second = json.loads(capsys.readouterr().out)["files"]
    assert (first["file"], first["rules"]) == (lint, 2)
    (one,) = first["diagnostics"]
    assert (one["code"], one["severity"], one["file"], one["line"]) == ("SBX455", "lint", "a.sbpl", 3)
    assert (second["rules"], second["diagnostics"][0]["code"]) == (None, "SBX441")


def test_beside_profiles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lint = written(tmp_path, "a.sb", LINT)
    library = written(tmp_path, "b.sbx", "sbx 1\ngroup @a { read write }\n")
    assert main(["check", lint, library]) == 1
    assert "b.sbx: no profile; its definitions are right" in capsys.readouterr().out


def test_imports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "imports"
    folder.mkdir()
    written(folder, "x.sb", '(deny file-read-xattr (literal "/etc/x"))\n')
    main_file = written(tmp_path, "a.sb", '(version 1)\n(allow default)\n(import "x.sb")\n')
    assert main(["check", main_file]) == 2
    assert "error[SBX448]" in capsys.readouterr().err
    assert main(["check", main_file, "--import-folder", str(folder)]) == 1
    assert "x.sb:1:32" in capsys.readouterr().err


def test_options_that_nothing_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    library = written(tmp_path, "b.sbx", "sbx 1\ngroup @a { read write }\n")
    lint = written(tmp_path, "a.sb", LINT)
    for call in (
        [library, "-D", "X=1"],
        [library, "--import-folder", "."],
        [lint, "--profile", "p"],
        [lint, "-D", "X"],
    ):
        assert main(["check", *call]) == 2
        assert capsys.readouterr().err.startswith("sbc check: ")


@pytest.mark.parametrize("name", ["nowhere.sb", ""])
def test_a_file_that_is_none(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "folder.sb").mkdir()
    assert main(["check", str(tmp_path / (name or "folder.sb"))]) == 2
    assert "error[SBX001]" in capsys.readouterr().err


def test_a_code_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "SBX452"]) == 0
    assert "Right:" in capsys.readouterr().out
