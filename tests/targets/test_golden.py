"""`NAME.sbx` beside what it compiles to. `SBC_GOLDEN=update` writes the outputs anew; read the difference."""

import os
from pathlib import Path

import pytest

from sbc.backends import registry
from sbc.backends.coverage import judged, refused
from sbc.backends.target import Unsayable
from sbc.diagnostics.diagnostic import Failed, Reporter, Severity
from sbc.diagnostics.render import render_all
from sbc.policy.policy import Policy
from sbc.resolve.lower import lower
from sbc.resolve.modules import load
from tests.shared_data import ROOT

GOLDEN = ROOT / "tests" / "golden"
FOLDERS = {"seatbelt": "sbpl", "bwrap": "bwrap"}
UPDATE = os.environ.get("SBC_GOLDEN") == "update"


def profile(path: Path) -> Policy:
    reporter = Reporter()
    try:
        return lower(load(path, reporter), None, reporter)
    except Failed as failed:
        pytest.fail("\n".join(f"{one.code}: {one.title()}" for one in failed.diagnostics))


def readable(name: str, content: bytes) -> str:
    """Give the output as the golden file holds it: a plan with one option a line."""
    if not name.endswith(".bwrap"):
        return content.decode()
    words = content.decode().removesuffix("\0").split("\0")
    return "".join(f"\n{word}" if word.startswith("--") else f" {word}" for word in words).lstrip() + "\n"


def losses(target: str, made: Policy) -> str:
    artifact = registry.load(target).emit(made)
    return "".join(f"{one.direction}: {one.origin.where()}: {one.origin.text}: {one.why}\n" for one in artifact.losses)


def refused_as(target: str, made: Policy) -> str | None:
    """Give the errors of a target that was asked for by name; None where it says the profile, losses accepted."""
    try:
        artifact = registry.load(target).emit(made)
    except Unsayable as error:
        return render_all([refused(error, named=True)])
    except Failed as failed:
        return render_all(list(failed.diagnostics))
    found = [one for one in judged(artifact.losses, allow_wider=False) if one.severity is Severity.ERROR]
    return render_all(found) if found else None


def check(output: Path, text: str) -> None:
    if UPDATE:
        output.write_text(text, encoding="utf-8")
    assert output.read_text(encoding="utf-8") == text


CASES = [(folder, path) for folder in FOLDERS for path in sorted((GOLDEN / folder).glob("*.sbx"))]


@pytest.mark.parametrize(("folder", "path"), CASES, ids=[f"{folder}/{path.stem}" for folder, path in CASES])
def test_golden(folder: str, path: Path) -> None:
    made = profile(path)
    if (refusal := refused_as(FOLDERS[folder], made)) is not None:
        check(path.with_suffix(".err"), refusal)
        return
    (file,) = registry.load(FOLDERS[folder]).emit(made).files
    outputs = {
        path.with_suffix(Path(file.name).suffix): readable(file.name, file.content),
        path.with_suffix(".losses"): losses(FOLDERS[folder], made),
    }
    for output, text in outputs.items():
        check(output, text)


def test_there_are_golden_files_for_each_target() -> None:
    assert {folder for folder, _ in CASES} == set(FOLDERS)


@pytest.mark.parametrize("path", sorted((ROOT / "profiles").glob("*.sbx")), ids=lambda path: path.stem)
def test_the_shipped_profiles_are_said_or_said_not_to_be(path: Path) -> None:
    made = profile(path)
    unsaid: list[tuple[str, str, str]] = []
    for target in ("sbpl", "bwrap"):
        try:
            artifact = registry.load(target).emit(made)
        except Unsayable as error:
            unsaid.append((path.stem, target, error.origin.text))
            continue
        assert not [one for one in artifact.losses if one.direction == "wider" and not one.deferred]
    assert unsaid in ([], [("agent-check", "sbpl", "write ${workdir} as /work")])
