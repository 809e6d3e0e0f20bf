"""Every recorded verdict; those that are marked as quirks or disputed are computed and shown, and decide nothing."""

import json
from typing import Any

import pytest

from sbc.diagnostics.diagnostic import Failed
from sbc.diagnostics.span import Source
from sbc.seatbelt.decide import decide
from sbc.seatbelt.load import load
from tests.shared_data import shared, shared_folder

_Row = dict[str, Any]


def _rows() -> list[_Row]:
    folder = shared_folder()
    path = folder / "cases" / "sbpl-verdicts.jsonl" if folder else None
    if path is None or not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]


def _apart(row: _Row) -> bool:
    return bool(row.get("quirk") or row.get("disputed"))


def _verdict(row: _Row) -> str:
    try:
        profile = load(Source(row["id"], row["profile"]), row["params"])
        return decide(profile, row["op"], row["target"], row.get("attrs")).decision
    except Failed:
        return "error"


def test_there_are_rows() -> None:
    shared("cases", "sbpl-verdicts.jsonl")
    assert len(_rows()) > 80


@pytest.mark.parametrize("row", [row for row in _rows() if not _apart(row)], ids=lambda row: row["id"])
def test_the_verdict_is_the_recorded_one(row: _Row) -> None:
    assert _verdict(row) == row["expect"], row["why"]


@pytest.mark.parametrize("row", [row for row in _rows() if _apart(row)], ids=lambda row: row["id"])
def test_what_is_apart_is_computed(row: _Row) -> None:
    got = _verdict(row)
    print(f"{row['id']}: {got}, recorded {row['expect']}: {row.get('quirk') or row.get('disputed')}")  # noqa: T201
    assert got in ("allow", "deny", "error")
