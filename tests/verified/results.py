"""The results of test runs, as `tests/conftest.py` writes them."""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

VARIABLE = "SBC_RESULTS"


class Result(NamedTuple):
    """One test, how it ended (`passed`, `failed` or `skipped`), and the kernel and the machine that ran it."""

    test: str
    ended: str
    kernel: str
    machine: str


def record(results: Iterable[tuple[str, str]], place: Path) -> None:
    """Add results (test, ending) of this machine to a file."""
    uname = os.uname()
    lines = [json.dumps([test, ended, uname.release, uname.machine]) for test, ended in results]
    with place.open("a", encoding="utf-8") as file:
        file.write("".join(f"{line}\n" for line in lines))


def read(places: Iterable[Path]) -> list[Result]:
    """Give the last result of each test on each kernel."""
    found: dict[tuple[str, str, str], Result] = {}
    for place in places:
        for line in place.read_text(encoding="utf-8").splitlines():
            one = Result(*json.loads(line))
            found[(one.test, one.kernel, one.machine)] = one
    return list(found.values())
