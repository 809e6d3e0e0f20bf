"""Reads back a sandbox that bubblewrap made, and holds its mounts against the plan as bubblewrap can carry it out."""

import os

from sbc_runtime.bwrap_finish import INIT
from sbc_runtime.kernel_view import MountLine
from sbc_runtime.mount_check import not_mounted, visible
from sbc_runtime.outcome import State
from sbc_runtime.prepare.above import parents
from sbc_runtime.prepared import Prepared
from sbc_runtime.readback import Reader
from sbc_runtime.records import NamedTuple

_BASE = frozenset({"nosuid", "nodev"})
_DEVICE = frozenset({"nosuid", "noexec"})
_READ_ONLY = frozenset({"ro"})
_NOEXEC = frozenset({"noexec"})
_NONE: frozenset[str] = frozenset()


class Wanted(NamedTuple):
    """What a mount has to have, and all mounts below it that the plan does not name. `kinds`: None: any."""

    options: frozenset[str]
    kinds: frozenset[str] | None
    shows_others: bool


def wanted(prepared: Prepared) -> dict[str, Wanted]:
    """Give the plan as mountinfo has to show it, by place; entries of /proc left out."""
    tmpfs = frozenset({"tmpfs"})
    found = {
        "/": Wanted(_BASE | _READ_ONLY, None if prepared.host_root else tmpfs, prepared.host_root),
        "/proc": Wanted(_BASE | {"noexec"}, frozenset({"proc"}), False),
        INIT: Wanted(_BASE | _READ_ONLY, tmpfs, False),
    }
    if prepared.devices == "host":
        found["/dev"] = Wanted(_DEVICE, None, True)
        for place in ("/dev/pts", "/dev/shm"):  # noqa: S108 (compared, not used)
            if os.path.isdir(place):
                found[place] = Wanted(_BASE | _READ_ONLY, tmpfs, False)
    elif prepared.devices != "none":
        found["/dev"] = Wanted(_DEVICE | _READ_ONLY, tmpfs, True)
        found["/dev/shm"] = Wanted(_BASE | _NOEXEC, tmpfs, False)  # noqa: S108 (compared, not used)
        if prepared.devices == "standard":
            found["/dev/pts"] = Wanted(_DEVICE, frozenset({"devpts"}), False)
    for mount in prepared.mounts:
        if mount.kind == "hide" and mount.place.startswith("/dev/") and prepared.devices not in {"none", "host"}:
            continue
        if mount.kind == "hide" and not mount.directory:
            found[mount.place] = Wanted(_BASE | _READ_ONLY, tmpfs, False)
            continue
        options = _BASE | (_READ_ONLY if mount.read_only else _NONE)
        options |= _NOEXEC if mount.noexec and mount.kind != "hide" else _NONE
        shows = mount.kind == "bind"
        found[mount.place] = Wanted(options, None if shows else tmpfs, shows)
    return found


def compare(lines: tuple[MountLine, ...], prepared: Prepared) -> tuple[list[str], set[str]]:
    """Give what differs from the plan, one line each, and the entries of /proc that are masked as they should be."""
    plan = wanted(prepared)
    masks = {f"/proc/{mask.entry}": mask for mask in prepared.masks}
    wrong: list[str] = []
    seen: set[str] = set()
    masked: set[str] = set()
    for line in visible(lines):
        rule = plan.get(line.place)
        if rule is not None:
            seen.add(line.place)
        elif line.place in masks:
            mask = masks[line.place]
            masked.add(mask.entry)
            rule = Wanted(_BASE | _READ_ONLY, None, False)
            if mask.hide and line.kind != "tmpfs":
                wrong.append(f"{line.place} is {line.kind}, not tmpfs")
        else:
            nearest = next((one for one in parents(line.place) if one in plan), "/")
            rule = plan[nearest]
            if not rule.shows_others and not _bwrap_covers(line):
                wrong.append(f"{line.place} is mounted, and the plan does not say so")
            if nearest == "/dev":
                rule = rule._replace(options=_DEVICE)
        if rule.kinds is not None and line.place in plan and line.kind not in rule.kinds:
            wrong.append(f"{line.place} is {line.kind}, not {', '.join(sorted(rule.kinds))}")
        if missing := rule.options - line.options:
            wrong.append(f"{line.place} is not {', '.join(sorted(missing))}")
    wrong += [not_mounted(place) for place in plan if place not in seen]
    return wrong, masked


def _bwrap_covers(line: MountLine) -> bool:
    """Tell whether a mount is one that bubblewrap adds by itself: entries of /proc made read-only."""
    return line.kind == "proc" and line.place.startswith("/proc/") and "ro" in line.options


class BwrapReader(Reader):
    """Reads back one sandbox of bubblewrap's.

    `equal`: what the keeper, which traces, read of the filter's bytes. `private`: whether the host's mounts were made
    private before; if not, what is lost by that has been said.
    """

    equal: State = None
    private: bool = True

    def _compared(self, lines: tuple[MountLine, ...]) -> tuple[list[str], set[str]]:
        wrong, masked = compare(lines, self.prepared)
        tied = {"shared", "master"} if self.private else {"shared"}
        wrong += [f"{line.place} is not private" for line in lines if not line.propagation.isdisjoint(tied)]
        return wrong, masked

    def _stop(self, pid: int) -> None:
        pass  # what traces it has read them

    def _filter_bytes(self, pid: int) -> State:
        if self.equal is False:
            self.wrong.append("the loaded filters are not the bundle's and the runtime's own")
            self.found["seccomp"] = False
        return self.equal
