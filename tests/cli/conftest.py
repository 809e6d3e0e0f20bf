"""What the tests of commands share."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pytest

from sbc.cli.main import main

ROOT = Path(__file__).parent.parent.parent
PROFILES = ROOT / "profiles"


class Said(NamedTuple):
    """What a command did: its exit status and what it printed."""

    status: int
    out: str
    err: str

    def json(self) -> Any:  # noqa: ANN401 (any JSON value)
        return json.loads(self.out)


Sbc = Callable[..., Said]


class Profile(Protocol):
    """Writes a profile and gives its path."""

    def __call__(self, text: str, name: str = "p.sbx") -> Path: ...


@pytest.fixture
def sbc(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Sbc:
    """Run the command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Said:
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            status = stop.code if isinstance(stop.code, int) else 1
        said = capsys.readouterr()
        return Said(status, said.out, said.err)

    return run


@pytest.fixture
def profile(tmp_path: Path) -> Profile:
    """Write a profile and give its path."""

    def write(text: str, name: str = "p.sbx") -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return write
