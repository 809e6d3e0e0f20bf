"""The table: a row for each claim, with the systems on which its tests passed."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from tests.verified.results import Result

CLAIMS = Path(__file__).parent / "claims.toml"
BEGIN = "<!-- verified:begin -->"
END = "<!-- verified:end -->"
_GUEST = re.compile(r"\b(amd64|arm64|s390x|riscv64)-(bookworm|trixie|sid)\b")
_KERNELS = {"bookworm": "6.1", "trixie": "6.12"}
_BY_USERS = "tests/runtime/"
"""Whose tests say in their names who calls."""

_USERS = re.compile(r"[\[-](root|user)[\]-]")


class Claim(NamedTuple):
    """What is claimed, and the tests (patterns on their names) that hold it; none: `untried` says why."""

    says: str
    tests: tuple[str, ...]
    untried: str


class Unheld(Exception):
    """A claim has no test that passed, or one that failed."""


def claims() -> list[Claim]:
    """Read the claims, in the order of the table."""
    listed = tomllib.loads(CLAIMS.read_text(encoding="utf-8"))["claim"]
    return [Claim(one["says"], tuple(one.get("tests", ())), one.get("untried", "")) for one in listed]


def lines(results: Iterable[Result]) -> Iterator[str]:
    """Give the table, Markdown; `Unheld` where a claim is not held by what was run."""
    found = list(results)
    yield "| what | verified on | tests |"
    yield "| --- | --- | --- |"
    for claim in claims():
        if claim.untried:
            yield f"| {claim.says} | **not tried**: {claim.untried} | 0 |"
            continue
        matching = [one for one in found if any(fnmatchcase(one.test, pattern) for pattern in claim.tests)]
        failed = [one.test for one in matching if one.ended == "failed"]
        passed = [one for one in matching if one.ended == "passed"]
        if failed or not passed:
            raise Unheld(f"{claim.says!r}: " + (f"failed: {failed[:3]}" if failed else "no test of it has passed"))
        places = Counter(place(one) for one in passed)
        yield f"| {claim.says} | {'; '.join(sorted(places))} | {len(passed)} |"


def place(one: Result) -> str:
    """Say where a test ran: a guest's kernel where it boots one, else this machine's, and as whom."""
    guest = _GUEST.search(one.test)
    if guest is not None:
        return f"Linux {_KERNELS.get(guest[2], guest[2])} {guest[1]} (QEMU)"
    kernel = ".".join(re.findall(r"[0-9]+", one.kernel)[:2])
    user = _USERS.search(one.test) if one.test.startswith(_BY_USERS) else None
    return f"Linux {kernel} {one.machine}" + (
        "" if user is None else {"root": ", as root", "user": ", as a user"}[user[1]]
    )


def replaced(document: str, table: Iterable[str]) -> str:
    """Put a table between the marks of a document; `ValueError` where it has none."""
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the document has no {BEGIN} ... {END}")
    return f"{before}{BEGIN}\n\n" + "".join(f"{line}\n" for line in table) + f"\n{END}{after}"


def stated(document: str) -> list[str]:
    """Give the claims that a document's table states."""
    region = document.partition(BEGIN)[2].partition(END)[0]
    rows = [line for line in region.splitlines() if line.startswith("| ")]
    return [row.split(" | ")[0].removeprefix("| ") for row in rows[2:]]
