"""The command's environment: empty, then `keep`, then `drop`, then `set` (LANGUAGE: environment)."""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from sbc_runtime.errors import SetupFailed
from sbc_runtime.plan import Environment, ParamRef, System
from sbc_runtime.prepare.select import on_system

ADMIN_KEY = "SBC_ADMIN_KEY"
"""The variable with the key of attestations, which no command gets, whatever its profile keeps."""


def matches(pattern: str, name: str, *, fold: bool) -> bool:
    """Whether a pattern, in which `*` stands for any characters, covers a whole name. `fold`: case is ignored."""
    first, *rest = (_folded(pattern) if fold else pattern).split("*")
    name = _folded(name) if fold else name
    if not rest:
        return name == first
    *middle, last = rest
    if not name.startswith(first):
        return False
    at = len(first)
    for part in middle:
        at = name.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return name.endswith(last) and len(name) - len(last) >= at


@lru_cache(maxsize=1024)
def _folded(text: str) -> str:
    # upper() first: the dotless i and the long s have capitals that are I and S.
    return text.upper().casefold()


def build(
    plan: Environment, caller: Mapping[str, str], params: Mapping[str, str | int], system: System = "linux"
) -> tuple[tuple[str, str], ...]:
    """Give the variables, sorted by name; `SetupFailed` where a name or a value cannot be one."""
    patterns = on_system(plan.patterns, system)
    keep = [one.pattern for one in patterns if one.verb == "keep"]
    drop = [one.pattern for one in patterns if one.verb == "drop"]
    found = {
        name: value
        for name, value in caller.items()
        if name.upper() != ADMIN_KEY and _any(keep, name, fold=False) and not _any(drop, name, fold=True)
    }
    for one in on_system(plan.variables, system):
        value = one.value
        if isinstance(value, ParamRef):
            value = str(params.get(value.param, ""))
        found[one.name] = value
    for name, value in found.items():
        if not name or "=" in name or "\0" in name + value:
            raise SetupFailed("environment", f"{name!r} cannot be the name of a variable, or holds a NUL")
    return tuple(sorted(found.items()))


def _any(patterns: Iterable[str], name: str, *, fold: bool) -> bool:
    return any(matches(pattern, name, fold=fold) for pattern in patterns)
