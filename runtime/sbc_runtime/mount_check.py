"""Compares what is mounted, line by line of mountinfo, with the plan."""

from sbc_runtime.kernel_view import MountLine
from sbc_runtime.prepare.above import parents
from sbc_runtime.prepared import Prepared, has_terminals
from sbc_runtime.records import NamedTuple

_ALL = frozenset({"nosuid", "nodev", "noexec"})


class Wanted(NamedTuple):
    """What a mount has to have, and all mounts below it that the plan does not name."""

    options: frozenset[str]
    kind: str | None
    shows_others: bool


def wanted(prepared: Prepared) -> dict[str, Wanted]:
    """Give the plan as mountinfo has to show it, by place; entries of /proc left out."""
    found = {
        "/": Wanted(frozenset({"ro", "nosuid", "nodev"}), None if prepared.host_root else "tmpfs", prepared.host_root),
        "/proc": Wanted(_ALL, "proc", False),
    }
    if prepared.devices != "none":
        host = prepared.devices == "host"
        device = frozenset({"nosuid", "noexec"})
        found["/dev"] = Wanted(device | {"ro"}, None if host else "tmpfs", True)
        found["/dev/shm"] = Wanted(_ALL, "tmpfs", False)  # noqa: S108 (the sandbox's own)
        if has_terminals(prepared):
            found["/dev/pts"] = Wanted(device, "devpts", False)
    for mount in prepared.mounts:
        options = ["nosuid", "nodev"] + ["ro"] * mount.read_only + ["noexec"] * mount.noexec
        shows = mount.kind == "bind"
        found[mount.place] = Wanted(frozenset(options), None if shows else "tmpfs", shows)
    return found


def compare(
    lines: tuple[MountLine, ...], prepared: Prepared, plan: dict[str, Wanted] | None = None
) -> tuple[list[str], set[str]]:
    """Give what differs from the plan, one line each, and the entries of /proc that are masked as they should be.

    `plan`: what `wanted` has given already.
    """
    plan = wanted(prepared) if plan is None else plan
    masks = {f"/proc/{mask.entry}": mask for mask in prepared.masks}
    wrong: list[str] = []
    seen: set[str] = set()
    masked: set[str] = set()
    for line in visible(lines):
        exact = plan.get(line.place)
        if exact is not None:
            seen.add(line.place)
            rule = exact
            if exact.kind is not None and line.kind != exact.kind:
                wrong.append(f"{line.place} is {line.kind}, not {exact.kind}")
        elif line.place in masks:
            rule = Wanted(_ALL | {"ro"}, "tmpfs" if masks[line.place].hide else None, False)
            if rule.kind is not None and line.kind != rule.kind:
                wrong.append(f"{line.place} is {line.kind}, not {rule.kind}")
            masked.add(masks[line.place].entry)
        else:
            nearest = next((above for above in parents(line.place) if above in plan), "/")
            rule = plan[nearest]
            if nearest == "/dev":
                # Devices are mounted one by one, and written to.
                rule = rule._replace(options=rule.options - {"ro"})
            if not rule.shows_others:
                wrong.append(f"{line.place} is mounted, and the plan does not say so")
        if missing := rule.options - line.options:
            wrong.append(f"{line.place} is not {', '.join(sorted(missing))}")
        if not line.propagation.isdisjoint({"shared", "master"}):
            wrong.append(f"{line.place} is not private")
    wrong += [not_mounted(place) for place in plan if place not in seen]
    return wrong, masked


def not_mounted(place: str) -> str:
    """Give what is said of a mount that is missing."""
    return f"{place} is not mounted"


def visible(lines: tuple[MountLine, ...]) -> list[MountLine]:
    """Leave out mounts that no path leads to: another one lies over them, or over a folder above them."""
    by_number = {line.number: line for line in lines}
    over = {(line.parent, line.place) for line in lines}
    buried: dict[int, bool] = {}

    def is_buried(line: MountLine) -> bool:
        known = buried.get(line.number)
        if known is None:
            below = by_number.get(line.parent)
            known = (
                below is not None and below.number != line.number and (_between(line, below, over) or is_buried(below))
            )
            buried[line.number] = known
        return known

    return [line for line in lines if (line.number, line.place) not in over and not is_buried(line)]


def _between(line: MountLine, below: MountLine, over: set[tuple[int, str]]) -> bool:
    """Whether something lies over a folder above `line`, in the mount `below` that it is mounted in."""
    if line.place == below.place:
        return False
    for above in parents(line.place):
        if (below.number, above) in over:
            return True
        if above == below.place:
            break
    return False
