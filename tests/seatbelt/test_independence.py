"""Evaluator, emitter and proof share no code but tables, so that one mistake cannot hide in two of them."""

import ast
from pathlib import Path

from tests.shared_data import ROOT

EMITTER = ROOT / "compiler" / "sbc" / "backends" / "seatbelt"
EVALUATOR = ROOT / "compiler" / "sbc" / "seatbelt"
PROOF = EMITTER / "proof"
CHECKERS = {"check.py"}
"""Modules beside the emitter that emit nothing: they may ask the evaluator about what went in."""


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def test_the_evaluator_imports_only_tables_and_diagnostics() -> None:
    allowed = ("sbc.seatbelt", "sbc.macos", "sbc.diagnostics", "sbc.record", "sbc_runtime.open_flags")
    found = {name for path in EVALUATOR.glob("*.py") for name in imports(path) if name.startswith("sbc")}
    assert {name for name in found if not name.startswith(allowed)} == set()


def test_the_emitter_does_not_import_the_evaluator() -> None:
    found = {
        path.name
        for path in EMITTER.glob("*.py")
        if path.name not in CHECKERS and any(name.startswith("sbc.seatbelt") for name in imports(path))
    }
    assert found == set()


def test_the_proof_imports_nothing_of_the_emitter() -> None:
    own = ("sbc.backends.seatbelt.proof", "sbc.backends.target")
    wrong = {
        name
        for path in PROOF.glob("*.py")
        for name in imports(path)
        if name.startswith(("sbc.backends", "sbc.resolve", "sbc.analysis")) and not name.startswith(own)
    }
    assert wrong == set()


def test_only_the_target_imports_the_proof() -> None:
    found = {path.name for path in EMITTER.glob("*.py") if any("seatbelt.proof" in name for name in imports(path))}
    assert found == {"target.py"}


def test_the_tables_hold_no_code_of_either() -> None:
    for path in (ROOT / "compiler" / "sbc" / "macos").glob("*.py"):
        assert not any(name.startswith("sbc") for name in imports(path))
