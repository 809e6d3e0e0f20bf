"""The evaluator that the tests use is itself held to the published verdicts, as far as it reads their profiles."""

import json

import pytest

from tests.shared_data import shared
from tests.targets.sbpl import Evaluator, Query


def query(operation: str, target: str | None) -> Query:
    if target is None or target in ("self", "others", "same-sandbox"):
        return Query(operation, target=target)
    kind, _, rest = target.partition(" ")
    match kind:
        case "unix":
            return Query(operation, rest)
        case "remote":
            return Query(operation, remote=rest.partition(" ")[2])
        case "local":
            return Query(operation, local=rest.partition(" ")[2])
        case _:
            return Query(operation, target) if target.startswith("/") else Query(operation, name=target)


def test_published_verdicts() -> None:
    held = 0
    for line in shared("cases", "sbpl-verdicts.jsonl").read_text().splitlines():
        case = json.loads(line)
        if case["expect"] == "error" or case.get("attrs") or case.get("quirk") or case.get("disputed"):
            continue
        try:
            run = Evaluator(case["profile"], case["params"])
            got = run.decide(query(case["op"], case["target"]))
        except AssertionError:
            continue  # a form that is never emitted
        assert got == case["expect"], case
        held += 1
    if held < 50:
        pytest.fail(f"only {held} verdicts could be read")
