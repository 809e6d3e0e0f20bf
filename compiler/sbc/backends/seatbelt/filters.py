"""The filters of SBPL: which there are, what they look at, and which operations have that.

The tables are `sbc.macos.filters`; here is what the `seatbelt` block may say of them.
"""

from typing import Literal

from sbc.backends.seatbelt.operations import below
from sbc.backends.seatbelt.sexpr import List, Node, Word
from sbc.macos.filters import EVERYWHERE, FACTS, OPERATION_CATEGORIES, SPELLINGS
from sbc.macos.operations import NEWER

Kind = Literal["path", "string", "address", "word"]
"""What a filter's argument is: a path, a string, an address of `remote` and `local`, or a word or number."""

PATH_FILTERS = ("literal", "subpath", "path", "path-literal", "path-subpath", "path-ancestors")
"""Filters whose string is one whole path."""

_KINDS: dict[str, Kind] = {
    "paths": "string",
    "pattern": "string",
    "string": "string",
    "number": "word",
    "bits": "word",
    "truth": "word",
    "address": "address",
}
"""The kind of an argument here, by the shared table's."""


def _filters() -> dict[str, tuple[str, Kind]]:
    found: dict[str, tuple[str, Kind]] = {
        name: (FACTS[fact].category, _KINDS[FACTS[fact].kind])
        for name, (fact, _) in SPELLINGS.items()
        if not name.startswith("%")
    }
    found["require-entitlement"] = ("process", "string")
    for name in PATH_FILTERS:
        found[name] = ("path", "path")
    return found


FILTERS = _filters()
"""Each filter's category and the kind of its argument."""

NESTING = ("require-all", "require-any", "require-not", "remote", "local")
"""Filters in which other filters may stand."""

COMBINING = ("require-all", "require-any", "require-not")
"""Filters of filters; the last takes exactly one."""


def takes(operation: str, name: str) -> bool:
    """Tell whether an operation takes a filter; one that stands for several takes what any of them does."""
    category = FILTERS[name][0]
    names = (operation, *below(operation)) if operation.endswith("*") or operation == "default" else (operation,)
    return operation in NEWER or category in EVERYWHERE or any(category in _categories(one) for one in names)


def fits(operation: str, filter_: Node) -> bool:
    """Tell whether an operation takes a filter and all within it; macOS refuses a profile where one does not fit."""
    match filter_:
        case List(items=(Word(text=name), *rest)) if name in COMBINING or name in FILTERS:
            inner = [one for one in rest if isinstance(one, List)] if name in NESTING else []
            return (name in COMBINING or takes(operation, name)) and all(fits(operation, one) for one in inner)
        case _:
            return True


def _categories(operation: str) -> tuple[str, ...]:
    for prefix, categories in OPERATION_CATEGORIES:
        if operation.startswith(prefix):
            return categories
    return ()
