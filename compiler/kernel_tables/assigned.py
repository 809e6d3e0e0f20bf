"""The numbers of each ABI's calls.

The package `system-calls` lists what a kernel of today knows. The tables of older kernels also hold numbers that were
assigned and are empty now; they stay reserved for good, so they are named here too.
"""

import importlib
from collections.abc import Mapping, Sequence
from typing import cast

from abis import Abi
from signatures import Tree

# Placeholders of mips64el: no call was ever meant.
NOT_CALLS = ("reserved177", "reserved193")
# Numbers that the tables no longer show.
LOST = {"arm": {"_sysctl": 149, "uselib": 86, "bdflush": 134, "nfsservctl": 169, "vserver": 313}}


def packaged(abi: Abi) -> dict[str, int]:
    """The numbers of the package `system-calls`."""
    module = importlib.import_module(f"system_calls.tables.{abi.package}")
    return dict(cast("Mapping[str, int]", getattr(module, f"syscalls_{abi.package}")))


def numbers(abi: Abi, trees: Sequence[Tree]) -> dict[str, int]:
    """All numbers of `abi`, by name."""
    found = packaged(abi)
    taken = set(found.values())
    for tree in trees:
        for call, row in tree.rows(abi).items():
            if row.number not in taken and call not in NOT_CALLS:
                found.setdefault(call, row.number)
    found.update(LOST.get(abi.name, {}))
    return dict(sorted(found.items(), key=lambda item: (item[1], item[0])))
