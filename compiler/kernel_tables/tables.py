"""Read a Linux tree's syscall.tbl files: which entry point each call of an ABI reaches."""

from pathlib import Path
from typing import NamedTuple

from abis import Abi


class Row(NamedTuple):
    """One call of an ABI: its number and the entry points for native and compat processes."""

    number: int
    native: str
    compat: str


def rows(tree: Path, abi: Abi) -> dict[str, Row]:
    """The rows that `abi` has in `tree`; a row of its own wins over one that it shares."""
    path = tree / abi.table
    if not path.exists():
        return {}
    found: dict[str, Row] = {}
    base = 5000 if abi.name == "mips64el" else 0
    for line in path.read_text().splitlines():
        words = line.split("#")[0].split()
        if len(words) >= 3 and words[1] in abi.rows:
            native = words[3] if len(words) > 3 and words[3] != "-" else "sys_ni_syscall"
            compat = words[4] if len(words) > 4 and words[4] != "-" else native
            found[words[2]] = Row(base + int(words[0]) | abi.bit, native, compat)
    return found
