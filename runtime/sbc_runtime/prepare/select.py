"""What of a plan is for one system (Linux, unless said), and its values with parameters filled in."""

from sbc_runtime.errors import SetupFailed
from sbc_runtime.plan import IdRange, Limit, ParamRef, Plan, Statement, System
from sbc_runtime.prepared import LimitValue, Mask
from sbc_runtime.words import Protocol, TypeVar


class _Entry(Protocol):
    @property
    def on(self) -> System | None: ...


_E = TypeVar("_E", bound=_Entry)


def on_system(entries: tuple[_E, ...], system: System) -> tuple[_E, ...]:
    """Leave out what is said of another system; what is said of this one alone comes last, and so decides."""
    held = [one for one in entries if one.on in {None, system}]
    return tuple(sorted(held, key=lambda one: one.on is not None))


def on_linux(entries: tuple[_E, ...]) -> tuple[_E, ...]:
    """Leave out what is said of macOS alone."""
    return on_system(entries, "linux")


def amount(value: int | ParamRef | None, params: dict[str, str | int], statement: Statement) -> int:
    """Give a number, or the parameter's; 0 for None."""
    if value is None:
        return 0
    if not isinstance(value, ParamRef):
        return value
    found = params.get(value.param)
    if not isinstance(found, int) or found < 1:
        raise SetupFailed("parameters", f"`{value.param}` has to be above zero", where=statement.where())
    return found


def words(value: str | ParamRef, params: dict[str, str | int], statement: Statement) -> str:
    """Give a text, or the parameter's."""
    if not isinstance(value, ParamRef):
        return value
    found = params.get(value.param)
    if not isinstance(found, str):
        raise SetupFailed("parameters", f"`{value.param}` has to be text", where=statement.where())
    return found


_FIELDS = {
    "wall": "wall",
    "cpu": "cpu",
    "memory": "memory",
    "processes": "processes",
    "open-files": "open_files",
    "file-size": "file_size",
    "output": "output",
    "core-size": "core_size",
}


def limits(
    entries: tuple[Limit, ...], params: dict[str, str | int], timeout: int | None, system: System = "linux"
) -> LimitValue:
    """Give the limits of a run; `timeout` (milliseconds) can only shorten `wall`. No block: no core dumps."""
    found: dict[str, int] = {}
    for one in on_system(entries, system):
        value = one.value if one.value == 0 else amount(one.value, params, one.statement)
        found[_FIELDS[one.key]] = value if isinstance(value, int) else 0
    if not found:
        found["core_size"] = 0
    if timeout is not None:
        found["wall"] = min(timeout, found.get("wall", timeout))
    return LimitValue(**found)


def setting(kinds: tuple[_E, ...]) -> _E | None:
    """Give the entry that decides, or None."""
    held = on_linux(kinds)
    return held[-1] if held else None


def identity(plan: Plan, params: dict[str, str | int]) -> dict[str, int | str | IdRange]:
    """Give what the profile says of ids and the host name, by keyword."""
    found: dict[str, int | str | IdRange] = {}
    for one in on_linux(plan.identity):
        value = one.value
        found[one.key] = words(value, params, one.statement) if isinstance(value, ParamRef) else value
    return found


def devices(plan: Plan) -> str:
    """Give the kind of devices."""
    stated = setting(plan.devices)
    return "none" if stated is None else stated.kind


def masks(plan: Plan) -> tuple[Mask, ...]:
    """Give the protected entries of /proc."""
    return tuple(Mask(one.entry, one.access == "hide", one.statement.where()) for one in on_linux(plan.proc))
