"""The command's environment: empty, then `keep`, then `drop`, then `set` (LANGUAGE: environment)."""

import re
from collections.abc import Iterable, Mapping

from sbc_runtime.errors import SetupFailed
from sbc_runtime.plan import Environment, ParamRef
from sbc_runtime.prepare.select import on_linux


def matches(pattern: str, name: str, *, fold: bool) -> bool:
    """Whether a pattern, in which `*` stands for any characters, covers a whole name. `fold`: case is ignored."""
    expression = ".*".join(re.escape(part) for part in pattern.split("*"))
    return re.fullmatch(expression, name, re.DOTALL | (re.IGNORECASE if fold else 0)) is not None


def build(plan: Environment, caller: Mapping[str, str], params: Mapping[str, str | int]) -> tuple[tuple[str, str], ...]:
    """Give the variables, sorted by name; `SetupFailed` where a name or a value cannot be one."""
    patterns = on_linux(plan.patterns)
    keep = [one.pattern for one in patterns if one.verb == "keep"]
    drop = [one.pattern for one in patterns if one.verb == "drop"]
    found = {
        name: value
        for name, value in caller.items()
        if _any(keep, name, fold=False) and not _any(drop, name, fold=True)
    }
    for one in on_linux(plan.variables):
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
