"""The values of parameters: texts of the caller, checked against the types that the profile declares."""

import os
import re
from collections.abc import Mapping

from sbc_runtime.contents import Param
from sbc_runtime.errors import SetupFailed

_AMOUNT = re.compile(r"([0-9]+)([A-Za-z]*)")
_UNITS: dict[str, dict[str, int]] = {
    "size": {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40},
    "duration": {"ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000},
    "integer": {"": 1},
}
_PATHS = frozenset({"dir", "file", "path"})


def fill(declared: tuple[Param, ...], given: Mapping[str, str | int | os.PathLike[str]]) -> dict[str, str | int]:
    """Give the value of every parameter: absolute paths, texts, bytes, milliseconds or counts. `SetupFailed`."""
    known = {one.name for one in declared}
    for name in given:
        if name not in known:
            raise SetupFailed("parameters", f"the profile has no parameter `{name}`", _listed(known))
    return {one.name: _value(one, given) for one in declared}


def _value(one: Param, given: Mapping[str, str | int | os.PathLike[str]]) -> str | int:
    value = given.get(one.name, one.default)
    if value is None:
        raise SetupFailed("parameters", f"`{one.name}` has no value", f"give `-D {one.name}=...` ({one.type})")
    if one.type in _UNITS:
        return value if isinstance(value, int) else amount(os.fspath(value), one.type, one.name)
    if isinstance(value, int):
        raise SetupFailed("parameters", f"`{one.name}` is {one.type}, not a number")
    text = os.fspath(value)
    if "\0" in text:
        raise SetupFailed("parameters", f"`{one.name}` holds a NUL")
    if one.type in _PATHS:
        if not text:
            raise SetupFailed("parameters", f"`{one.name}` is empty", "name a path")
        return os.path.abspath(text)
    return text


def amount(text: str, kind: str, name: str) -> int:
    """Read a size, a duration or an integer as the language writes them."""
    match = _AMOUNT.fullmatch(text.strip())
    unit = None if match is None else _UNITS[kind].get(match[2])
    if match is None or unit is None:
        units = " ".join(one or "(none)" for one in _UNITS[kind])
        raise SetupFailed("parameters", f"`{name}`: `{text}` is no {kind}", f"write a number and a unit: {units}")
    return int(match[1]) * unit


def _listed(known: set[str]) -> str:
    return "it has none" if not known else f"it has: {', '.join(sorted(known))}"
