"""What a plan must obey as a whole: parameters exist and fit, no two entries contradict each other, and none shows or
replaces what is reserved: /proc, /dev, and a writable /sys.
"""

import re
from collections.abc import Iterable, Iterator

from sbc_runtime.canonical import BundleError
from sbc_runtime.contents import Param
from sbc_runtime.plan import ParamRef, Path, Plan, Statement, System, Tmp
from sbc_runtime.plan_codec import path_fault

BUILT_IN = ("home", "tmpdir", "cwd")
"""Parameters that every profile has; the loader fills them in."""

_PROCESS = re.compile(r"(?:[0-9]+|self|thread-self)(?:/|$)")
"""Entries of /proc that belong to one process (proc(5)), never to the sandbox."""

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


def check(plan: Plan, params: tuple[Param, ...]) -> None:
    """Raise `BundleError` where the plan does not hold together; `params` are the declared parameters."""
    types: dict[str, str] = {param.name: param.type for param in params}
    for path, statement in _paths(plan):
        if path.base is not None and path.base not in BUILT_IN and types.get(path.base) not in _PATH_TYPES:
            raise _wrong(statement, f"`{path.base}` is no parameter for paths")
        if wrong := spelled_fault(path):
            raise _wrong(statement, f"the path {wrong}")
    for value, kind, statement in _values(plan):
        if isinstance(value, ParamRef) and types.get(value.param) != kind:
            raise _wrong(statement, f"`{value.param}` is no parameter of type {kind}")
    _check_values(plan, {param.name for param in params if param.default == 0})
    _check_reserved(plan)
    _check_once(plan)


def spelled_fault(path: Path) -> str | None:
    """Say what is wrong with a path as the profile spells it: its form, or a newline, which no target can say."""
    return path_fault(path) or ("holds a newline" if "\n" in path.rest else None)


def statements(plan: Plan) -> Iterator[Statement]:
    """Give the statement of every entry."""
    for entries in (plan.roots, plan.rules, plan.tmps, plan.devices, plan.start_in, plan.proc):
        for entry in entries:
            yield entry.statement
    yield plan.network.statement
    for entries in (plan.network.allowances, plan.environment.patterns, plan.environment.variables):
        for entry in entries:
            yield entry.statement
    for entries in (plan.identity, plan.limits, plan.containment):
        for entry in entries:
            yield entry.statement


def _check_values(plan: Plan, zero: set[str]) -> None:
    """Hold limits to what they mean, and entries of /proc to what is there in every sandbox."""
    for limit in plan.limits:
        if limit.key != "core-size" and isinstance(limit.value, ParamRef) and limit.value.param in zero:
            raise _wrong(limit.statement, f"the default of `{limit.value.param}` is zero")
    for entry in plan.proc:
        if _PROCESS.match(entry.entry):
            raise _wrong(entry.statement, f"/proc/{entry.entry} is a process's, which comes and goes")
    if plan.network.allowances and not plan.network.listed:
        raise _wrong(plan.network.statement, "it has no list, and entries of one")


def _check_once(plan: Plan) -> None:
    """Find two entries that say different things of one subject, and subjects of which nothing is said."""
    seen: dict[tuple[object, ...], str] = {}
    for subject, says, on, statement in _subjects(plan):
        # What is written for both systems meets what is written for one.
        for system in ("linux", "macos") if on is None else (on,):
            if seen.setdefault((system, *subject), says) != says:
                raise _wrong(statement, "another statement says something else of the same")
    for system in ("linux", "macos"):
        for subject in ("root", "devices", "start-in"):
            if (system, subject) not in seen:
                raise BundleError(f"the plan says nothing of `{subject}` on {system}")


def _wrong(statement: Statement, what: str) -> BundleError:
    return BundleError(f"`{statement.text}` ({statement.where()}) cannot hold: {what}")


def _check_reserved(plan: Plan) -> None:
    """Hold the spelled paths for Linux to what the compiler lets pass; those of parameters are known at a run alone."""
    open_root: Statement | None = None
    sysfs_closed = False
    for rule in plan.rules:
        path, hidden = rule.path, rule.access == "hide"
        if hidden and _is_below("/", path, exact=True):
            raise _wrong(rule.statement, "`/` cannot be hidden")
        if rule.on == "macos":
            continue
        place = rule.place or path
        if _is_below("/proc", path) or _is_below("/proc", place):
            raise _wrong(rule.statement, "the sandbox has a /proc of its own")
        if any(_is_below("/dev", one) and (not hidden or one.rest == "/dev") for one in (path, place)):
            raise _wrong(rule.statement, "the sandbox has a /dev of its own")
        if _is_below("/sys", path):
            if rule.access == "write":
                raise _wrong(rule.statement, "/sys is the whole machine's")
            sysfs_closed = sysfs_closed or path.rest == "/sys"
        if _is_below("/", path, exact=True):
            if place != path:
                raise _wrong(rule.statement, "the host's /proc and /dev would be seen below it")
            open_root = rule.statement if rule.access == "write" else open_root
    if open_root is not None and not sysfs_closed:
        raise _wrong(open_root, "/sys would be writable")
    for entry in (*plan.tmps, *plan.network.allowances):
        if entry.on != "macos" and entry.path is not None:
            if _is_below("/proc", entry.path):
                raise _wrong(entry.statement, "the sandbox has a /proc of its own")
            if isinstance(entry, Tmp) and _is_below("/dev", entry.path):
                raise _wrong(entry.statement, "the sandbox has a /dev of its own")


def _is_below(folder: str, path: Path, *, exact: bool = False) -> bool:
    """Tell whether a spelled path is a folder, or (unless `exact`) below it."""
    if path.base is not None:
        return False
    return path.rest == folder or (not exact and path.rest.startswith(f"{folder}/"))


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
        said = (rule.access, rule.place, rule.optional, rule.noexec, rule.identity)
        yield ("path", *rule.path), repr(said), rule.on, rule.statement
        yield ("place", *(rule.place or rule.path)), repr(rule.path), rule.on, rule.statement
    for tmp in plan.tmps:
        yield ("place", *tmp.path), repr((tmp.size, tmp.inodes, tmp.noexec)), tmp.on, tmp.statement
    for entry in plan.proc:
        yield ("proc", entry.entry), entry.access, entry.on, entry.statement
    for variable in plan.environment.variables:
        yield ("variable", variable.name), repr(variable.value), variable.on, variable.statement
    for identity in plan.identity:
        yield ("identity", identity.key), repr(identity.value), identity.on, identity.statement
    for limit in plan.limits:
        yield ("limit", limit.key), repr(limit.value), limit.on, limit.statement
