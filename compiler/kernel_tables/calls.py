"""Numbers and signatures of each ABI."""

from collections.abc import Sequence
from typing import Any

import abis
from abis import Abi
from assigned import numbers
from canonical import Signatures, canonical
from removed import removed
from signatures import Placed, Tree, place, signature


def calls(trees: Sequence[Tree]) -> dict[str, dict[str, dict[str, Any]]]:
    """Numbers and signatures by ABI; of two trees that know a call, the first decides."""
    known = {abi.name: numbers(abi, trees) for abi in abis.ALL}
    read: Signatures = {
        abi.name: {
            call: placed
            for call, number in known[abi.name].items()
            if (placed := _first(trees, abi, call, number)) is not None
        }
        for abi in abis.ALL
    }
    signatures = canonical(read)
    return {
        name: {
            "numbers": found,
            "signatures": {
                call: ";".join(argument.text(index) for index, argument in enumerate(placed))
                for call, placed in signatures[name].items()
            },
        }
        for name, found in known.items()
    }


def _first(trees: Sequence[Tree], abi: Abi, call: str, number: int) -> list[Placed] | None:
    """The signature that the first tree gives for the number; without one, what is known of the name."""
    found = [(tree, row) for tree in trees if (row := tree.by_number(abi).get(number)) is not None]
    for tree, row in found:
        if (placed := signature(tree, abi, call, row)) is not None:
            return placed
    if (written := removed(call, abi)) is not None:
        return written
    for tree in trees:
        if call != "umount" and (parameters := tree.parameters(f"sys_{call}", abi)) is not None:
            return place(parameters, parameters, abi)
    if all(row.native == f"sys_{call}" for _, row in found):
        for tree in trees:
            if (parameters := tree.anywhere(call)) is not None:
                return place(parameters, parameters, abi)
    return None
