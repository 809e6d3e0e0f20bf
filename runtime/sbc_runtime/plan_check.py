"""What a plan must obey as a whole: parameters exist and fit, and no two entries contradict each other."""

from collections.abc import Iterable, Iterator

from sbc_runtime.canonical import BundleError
from sbc_runtime.plan import ParamRef, Path, Plan, Statement, System

BUILT_IN = ("home", "tmpdir", "cwd")
"""Parameters that every profile has; the loader fills them in."""

_PATH_TYPES = frozenset({"dir", "file", "path"})
_LIMIT_TYPES = {
    "wall": "duration",
    "cpu": "duration",
    "memory": "size",
    "processes": "integer",
    "open-files": "integer",
    "file-size": "size",
    "output": "size",
    "core-size": "size",
}


def check(plan: Plan, params: dict[str, str]) -> None:
    """Raise `BundleError` where the plan does not hold together; `params` gives the type of each parameter."""
    for path, statement in _paths(plan):
        if path.base is not None and path.base not in BUILT_IN and params.get(path.base) not in _PATH_TYPES:
            raise _wrong(statement, f"`{path.base}` is no parameter for paths")
    for value, kind, statement in _values(plan):
        if isinstance(value, ParamRef) and params.get(value.param) != kind:
            raise _wrong(statement, f"`{value.param}` is no parameter of type {kind}")
    seen: dict[tuple[object, ...], str] = {}
    for subject, says, on, statement in _subjects(plan):
        # What is written for both systems meets what is written for one.
        for system in ("linux", "macos") if on is None else (on,):
            if seen.setdefault((system, *subject), says) != says:
                raise _wrong(statement, "another statement says something else of the same")


def _wrong(statement: Statement, what: str) -> BundleError:
    return BundleError(f"`{statement.text}` ({statement.where()}) cannot hold: {what}")


def _paths(plan: Plan) -> Iterator[tuple[Path, Statement]]:
    for rule in plan.rules:
        yield rule.path, rule.statement
        if rule.place is not None:
            yield rule.place, rule.statement
    for entry in (*plan.tmps, *plan.start_in, *plan.network.allowances):
        if entry.path is not None:
            yield entry.path, entry.statement


def _values(plan: Plan) -> Iterator[tuple[object, str, Statement]]:
    for tmp in plan.tmps:
        yield tmp.size, "size", tmp.statement
        yield tmp.inodes, "integer", tmp.statement
    for limit in plan.limits:
        yield limit.value, _LIMIT_TYPES[limit.key], limit.statement
    for entry in (*plan.environment.variables, *plan.identity):
        yield entry.value, "text", entry.statement


def _subjects(plan: Plan) -> Iterable[tuple[tuple[object, ...], str, System | None, Statement]]:
    """Give what must be said once: the subject, what is said of it, on which system, and by which statement."""
    for root in plan.roots:
        yield ("root",), root.kind, root.on, root.statement
    for devices in plan.devices:
        yield ("devices",), devices.kind, devices.on, devices.statement
    for start in plan.start_in:
        yield ("start-in",), str(start.path), start.on, start.statement
    for rule in plan.rules:
        yield ("path", *rule.path), rule.access, rule.on, rule.statement
    for entry in plan.proc:
        yield ("proc", entry.entry), entry.access, entry.on, entry.statement
    for variable in plan.environment.variables:
        yield ("variable", variable.name), repr(variable.value), variable.on, variable.statement
    for identity in plan.identity:
        yield ("identity", identity.key), repr(identity.value), identity.on, identity.statement
    for limit in plan.limits:
        yield ("limit", limit.key), repr(limit.value), limit.on, limit.statement
