"""The values of parameters: texts of the caller, checked against the types that the profile declares."""

import re
from collections.abc import Mapping

from sbc_runtime.calling import absolute
from sbc_runtime.contents import Param
from sbc_runtime.errors import SetupFailed
from sbc_runtime.texts import Text, carried

_AMOUNT = r"([0-9]+)([A-Za-z]*)"  # compiled when it is first needed, as few runs do
_UNITS: dict[str, dict[str, int]] = {
    "size": {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40},
    "duration": {"ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000},
    "integer": {"": 1},
}
_LARGEST = 2**63 - 1
_DIGITS = 20
_PATHS = frozenset({"dir", "file", "path"})


def fill(declared: tuple[Param, ...], given: Mapping[str, Text | int], cwd: str) -> dict[str, str | int]:
    """Give the value of every parameter: absolute paths, texts, bytes, milliseconds or counts.

    `cwd`: where relative paths begin. `SetupFailed` where a value cannot be one, `TypeError` where it is no value.
    """
    known = {one.name for one in declared}
    for name in given:
        if name not in known:
            raise SetupFailed("parameters", f"the profile has no parameter `{name}`", _listed(known))
    return {one.name: _value(one, given, cwd) for one in declared}


def _value(one: Param, given: Mapping[str, Text | int], cwd: str) -> str | int:
    value = given.get(one.name, one.default)
    if value is None:
        raise SetupFailed("parameters", f"`{one.name}` has no value", f"give `-D {one.name}=...` ({one.type})")
    if isinstance(value, int) and not isinstance(value, bool):
        if one.type not in _UNITS:
            raise SetupFailed("parameters", f"`{one.name}` is {one.type}, not a number")
        return _counted(value, one.name)
    try:
        text = carried(value, f"`{one.name}`")
    except ValueError as error:
        raise SetupFailed("parameters", str(error)) from None
    if one.type in _UNITS:
        return amount(text, one.type, one.name)
    if one.type in _PATHS:
        return _path(text, one.name, cwd)
    return text


def _path(text: str, name: str, cwd: str) -> str:
    if not text:
        raise SetupFailed("parameters", f"`{name}` is empty", "name a path")
    found = absolute(text, cwd)
    if found is None:
        why = f"`{name}`: `{text}` is relative, and the current folder is gone"
        raise SetupFailed("parameters", why, "give an absolute path", 2)
    return found


def _counted(value: int, name: str) -> int:
    if not 0 <= value <= _LARGEST:
        raise SetupFailed("parameters", f"`{name}` is outside 0..{_LARGEST}", "give a number that can be meant")
    return value


def amount(text: str, kind: str, name: str) -> int:
    """Read a size, a duration or an integer as the language writes them."""
    match = re.fullmatch(_AMOUNT, text.strip())
    unit = None if match is None else _UNITS[kind].get(match[2])
    if match is None or unit is None:
        units = " ".join(one or "(none)" for one in _UNITS[kind])
        raise SetupFailed("parameters", f"`{name}`: `{text}` is no {kind}", f"write a number and a unit: {units}")
    digits = match[1].lstrip("0") or "0"
    # Python reads no number of thousands of digits.
    return _counted(int(digits) * unit if len(digits) < _DIGITS else _LARGEST + 1, name)


def _listed(known: set[str]) -> str:
    return "it has none" if not known else f"it has: {', '.join(sorted(known))}"
