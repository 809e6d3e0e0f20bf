"""The script for who has a Mac: its rows are the evaluator's, and its table says what was seen."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.macos import compare_with_system
from tests.macos.comparison_cases import NOT_A_ROW, is_row, row
from tests.macos.comparison_cases import answer as decided
from tests.macos.comparison_rows import PLACE, PORT, W, published, rows, text

SCRIPT = Path(compare_with_system.__file__)

LAX = '#!/bin/sh\nshift 4\nexec "$@"\n'
"""Enforces nothing."""

STRICT = """#!{python}
import json, sys
rows = json.load(open({rows!r}))
profile = open(sys.argv[2]).read()
action, path = sys.argv[-3:-1]
same = [one for one in rows if (one["profile"], one["action"]) == (profile, action)]
found = [one["expected"] for one in same if path.endswith(one["path"])]
print("begun")
print(found[0])
"""
"""Answers as the rows expect."""


def install(folder: Path, content: str) -> str:
    place = folder / "sandbox-exec"
    place.write_text(content)
    place.chmod(0o755)
    return str(place)


def test_rows_are_what_the_evaluator_answers() -> None:
    held = json.loads(PLACE.read_text(encoding="utf-8"))
    made = rows()
    assert held[: len(made)] == made, "run `python -m tests.macos.comparison_rows`"
    assert {one["expected"] for one in made} == {"allow", "deny", "open"}
    assert len({one["id"] for one in held}) == len(held)


def test_every_published_case_is_a_row_or_has_a_reason() -> None:
    cases = published()
    assert PLACE.read_text(encoding="utf-8") == text(cases), "run `python -m tests.macos.comparison_rows`"
    assert NOT_A_ROW.keys() <= {case["id"] for case in cases}
    made = [(case, row(case, PORT)) for case in cases if is_row(case)]
    assert len(made) > 50
    for case, one in made:
        # Moved below W it is still the same question.
        assert decided(case, one, W, PORT) == case["expect"].replace("error", "refused"), case["id"]


def test_the_script_needs_nothing_else() -> None:
    tree = ast.parse(SCRIPT.read_text(encoding="utf-8"))
    found = {one.name for node in ast.walk(tree) if isinstance(node, ast.Import) for one in node.names}
    found |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {one.partition(".")[0] for one in found} <= sys.stdlib_module_names


def test_without_a_mac_it_says_so() -> None:
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, check=False)
    assert (done.returncode, "needs macOS" in done.stderr) == (2, True)


def test_a_system_that_answers_as_expected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = install(tmp_path, STRICT.format(python=sys.executable, rows=str(PLACE)))
    some = tmp_path / "rows.json"
    some.write_text(json.dumps(rows()[-20:]))
    assert compare_with_system.main(program, some) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[-1] == "20 rows, 0 different"
    assert all(line.endswith(("same", "open")) for line in told[2:-1])


def test_actions_and_differences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where nothing is enforced every action succeeds, and every row that expects a deny differs."""
    program = install(tmp_path, LAX)
    assert compare_with_system.main(program) == 1
    told = capsys.readouterr().out.splitlines()
    expected = {one["id"]: one["expected"] for one in json.loads(PLACE.read_text())}
    for line in told[2:-1]:
        name, wanted, seen, *_ = line.split()
        assert wanted == expected[name]
        assert seen == "allow" or name == "open-process-star", line  # it asks a library of macOS
        assert line.endswith({"allow": "same", "open": "open"}.get(wanted, "DIFFERENT"))
    assert told[-1].endswith(f"{sum(one in ('deny', 'refused') for one in expected.values())} different")


def test_a_profile_that_is_to_be_refused(tmp_path: Path) -> None:
    program = install(tmp_path, "#!/bin/sh\nexit 65\n")
    one = next(one for one in json.loads(PLACE.read_text()) if one["expected"] == "refused")
    (tmp_path / "top").mkdir()
    assert list(compare_with_system.compare([one], tmp_path / "top", program)) == [
        (one["id"], "refused", "refused", "same")
    ]


def test_what_does_not_begin_is_no_answer(tmp_path: Path) -> None:
    program = install(tmp_path, "#!/bin/sh\necho 'sandbox-exec: no' >&2\nexit 65\n")
    row = rows()[0]
    (tmp_path / "top").mkdir()
    told = list(compare_with_system.compare([row], tmp_path / "top", program))
    assert told == [(row["id"], row["expected"], "not begun, status 65: sandbox-exec: no", "DIFFERENT")]
    assert [one.name for one in (tmp_path / "top").iterdir()] == ["profile.sb"]
