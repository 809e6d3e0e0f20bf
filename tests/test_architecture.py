"""The house rules: which way imports run, and what may not be imported where."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
COMPILER = ROOT / "compiler" / "sbc"
RUNTIME = ROOT / "runtime" / "sbc_runtime"

LAYERS = (
    ("record", "data", "cache"),
    ("diagnostics",),
    ("policy", "syntax", "kernel", "macos"),
    ("decision", "seatbelt"),
    ("backends", "resolve", "importers"),
    ("analysis",),
    ("pipeline",),
    ("cli",),
)
"""Parts of `sbc`, lowest first: a part imports only from lower layers and from itself."""

RANK = {part: rank for rank, parts in enumerate(LAYERS) for part in parts}

FORBIDDEN_PAIRS = {
    ("backends", "syntax"): "back ends never see the syntax tree",
    ("syntax", "policy"): "the syntax never sees the policy",
    ("decision", "syntax"): "the diagram knows only the policy",
    ("decision", "kernel"): "the diagram knows only numbers",
    ("seatbelt", "policy"): "the evaluator knows only SBPL",
    ("seatbelt", "syntax"): "the evaluator knows only SBPL",
}

LATE_ONLY = {"lark": {"sbc.syntax.parser"}, "jinja2": {"sbc.backends.docs"}, "rich": {"sbc.cli"}, "platformdirs": None}

GENERATOR = {
    "arguments", "assemble", "code", "dispatch", "feasible", "fields", "generate", "leaves", "regions", "search",
    "select",
}  # fmt: skip


class Import(NamedTuple):
    """One import statement: who imports what, on which line, and whether at module level."""

    importer: str
    imported: str
    line: int
    top: bool


def module_name(path: Path) -> str:
    source_root = COMPILER.parent if path.is_relative_to(COMPILER) else RUNTIME.parent
    return ".".join(path.relative_to(source_root).with_suffix("").parts).removesuffix(".__init__")


def modules() -> list[Path]:
    return sorted([*COMPILER.rglob("*.py"), *RUNTIME.rglob("*.py")])


def imports_of(path: Path) -> Iterator[Import]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(module_name(path), alias.name, node.lineno, id(node) not in inside)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            assert node.module is not None
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield Import(module_name(path), full, node.lineno, id(node) not in inside)


ALL_IMPORTS = [found for path in modules() for found in imports_of(path)]


def part(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def test_the_runtime_never_imports_the_compiler_or_any_package() -> None:
    allowed = sys.stdlib_module_names | {"sbc_runtime"}
    wrong = [i for i in ALL_IMPORTS if i.importer.startswith("sbc_runtime") and i.imported.split(".")[0] not in allowed]
    assert not wrong


def test_imports_run_downwards() -> None:
    wrong: list[Import] = []
    for found in ALL_IMPORTS:
        if not (found.importer.startswith("sbc.") and found.imported.startswith("sbc.")):
            continue
        above, below = part(found.importer), part(found.imported)
        if below == "__version__":
            continue
        if above != below and RANK[below] >= RANK[above]:
            wrong.append(found)
    assert not wrong


@pytest.mark.parametrize(("pair", "why"), FORBIDDEN_PAIRS.items(), ids=str)
def test_parts_that_do_not_know_each_other(pair: tuple[str, str], why: str) -> None:
    above, below = pair
    wrong = [
        i
        for i in ALL_IMPORTS
        if i.importer.startswith(f"sbc.{above}.") and (i.imported + ".").startswith(f"sbc.{below}.")
    ]
    assert not wrong, why


def test_only_the_lowering_sees_both_tree_and_policy() -> None:
    bridges = {
        i.importer
        for i in ALL_IMPORTS
        if i.imported.startswith("sbc.syntax.") and not i.importer.startswith(("sbc.syntax", "sbc.resolve", "sbc.cli"))
    }
    assert bridges <= {"sbc.pipeline"}


def test_no_back_end_imports_another() -> None:
    shared = {"target", "coverage", "registry"}
    wrong: list[Import] = []
    for found in ALL_IMPORTS:
        if not found.importer.startswith("sbc.backends.") or not found.imported.startswith("sbc.backends."):
            continue
        own, other = found.importer.split(".")[2], found.imported.split(".")[2]
        if own == "registry" or other in shared or own == other:
            continue
        wrong.append(found)
    assert not wrong


def test_checkers_import_nothing_of_the_generator() -> None:
    checkers = ("sbc.backends.bpf.interpreter", "sbc.backends.bpf.const_allow", "sbc_runtime.verifier", "sbc.decision")
    wrong = [
        i
        for i in ALL_IMPORTS
        if i.importer.startswith(checkers)
        and i.imported.startswith("sbc.backends.bpf.")
        and i.imported.split(".")[3] in GENERATOR
    ]
    assert not wrong


@pytest.mark.parametrize("package", LATE_ONLY)
def test_heavy_packages_are_imported_late_and_in_few_places(package: str) -> None:
    found = [i for i in ALL_IMPORTS if i.imported.split(".")[0] == package]
    assert not [i for i in found if i.top], f"{package} is imported at module level"
    places = LATE_ONLY[package]
    if places is not None:
        assert {i.importer for i in found if not i.importer.startswith(tuple(places))} == set()


def test_importing_the_runtime_imports_no_parser_and_no_templates() -> None:
    program = (
        "import sys, sbc_runtime.loader, sbc_runtime.bundle, sbc_runtime.verifier\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('lark', 'jinja2', 'sbc', 'rich')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(RUNTIME.parent)},
    )
    assert done.stdout.strip() == "[]"


def test_the_runtime_imports_no_typing_on_linux() -> None:
    """`sbc_runtime.words` and `sbc_runtime.records` say why."""
    elsewhere = {
        "sbc_runtime.words",
        "sbc_runtime.records",
        "sbc_runtime.windows_layout",
        "sbc_runtime.macos.keeper",
    }
    found = {
        i.importer for i in ALL_IMPORTS if i.importer.startswith("sbc_runtime") and i.imported.startswith("typing")
    }
    assert found <= elsewhere
    program = (
        "import sys, sbc_runtime.helper, sbc_runtime.api\n"
        "print([m for m in ('typing', 'dataclasses', 'inspect', 'hashlib') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(RUNTIME.parent)},
    )
    assert done.stdout.strip() == "[]"


LONG = {"sbc.syntax.tree": "the list of every node of the tree, a few lines each"}


def test_files_are_small() -> None:
    lengths = {module_name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in modules()}
    assert {name for name, lines in lengths.items() if lines > 400} == set(LONG), "split these, or say why not"
