"""What a ruleset of Landlock does not keep of a plan, each by its name; `wider` unless it only allows less.

The limits are the kernel's (`Documentation/userspace-api/landlock.rst`, "Current limitations" and the list of ABIs).
"""

from sbc_runtime.landlock import READ, WRITE, Fs, Grant
from sbc_runtime.landlock_plan import Area, areas, excess, rules, same_name
from sbc_runtime.outcome import RunLoss
from sbc_runtime.prepared import Prepared
from sbc_runtime.words import Literal

DEFAULT = "default"
"""Where a loss stands that comes from no statement of the profile."""

_SINCE: tuple[tuple[int, Literal["narrower", "wider"], str, str], ...] = (
    (2, "narrower", "files", "before Landlock ABI 2 nothing is renamed or linked from one folder into another"),
    (3, "wider", "files", "before Landlock ABI 3 truncate(2) empties every file that the user may write"),
    (5, "wider", "devices", "before Landlock ABI 5 ioctl(2) is free on every device that the user may open"),
    (6, "wider", "process", "before Landlock ABI 6 signals reach every process of the user"),
)
_ABSTRACT = "before Landlock ABI 6 every abstract Unix socket of the host can be connected to"

_ALWAYS = (
    ("files", "Landlock does not cover chmod, chown, utimes and setxattr: they work on every file of the user"),
    ("files", "Landlock does not cover stat(2): names that are known and metadata can be read everywhere"),
    ("process", "the host's /proc is visible, and with it every process's name and command line"),
)
_TAKEN = (
    "without Landlock the sockets of the user's other processes can be taken (ptrace(2), pidfd_getfd(2)), unless the "
    "profile's filter denies it"
)
_PATHNAME = "Landlock does not cover pathname Unix sockets: those of the host can be connected to"


def losses(prepared: Prepared, version: int) -> tuple[RunLoss, ...]:
    """Give the losses of a run's files, devices, sockets and signals under ABI `version`; 0: no Landlock at all."""
    found = _without(prepared) if version == 0 else _with(prepared, version)
    if prepared.network == "none":
        found.append(RunLoss("wider", DEFAULT, "network none", _PATHNAME))
        if version < 6:
            found.append(RunLoss("wider", DEFAULT, "network none", _ABSTRACT))
        if version == 0:
            found.append(RunLoss("wider", DEFAULT, "network none", _TAKEN))
    found += [RunLoss("wider", DEFAULT, text, why) for text, why in _ALWAYS]
    found += _names(prepared)
    return tuple(found)


def _without(prepared: Prepared) -> list[RunLoss]:
    why = "this kernel has no Landlock, or has it switched off: every file of the user can be read, changed and run"
    found = [RunLoss("wider", DEFAULT, "files", why)]
    found += [RunLoss("wider", area.mount.where, _said(area), "nothing enforces it") for area in areas(prepared)]
    found += [
        RunLoss(
            "wider", mask.where, f"{'hide' if mask.hide else 'read-only'} /proc/{mask.entry}", "nothing enforces it"
        )
        for mask in prepared.masks
    ]
    why = "signals reach every process of the user"
    return [*found, RunLoss("wider", DEFAULT, "process", why)]


def _with(prepared: Prepared, version: int) -> list[RunLoss]:
    grants = rules(prepared).grants
    found = [RunLoss(direction, DEFAULT, text, why) for since, direction, text, why in _SINCE if version < since]
    for area in areas(prepared):
        found += _of_area(area, grants)
    found += [
        RunLoss("wider", mask.where, f"hide /proc/{mask.entry}", "below /proc, which is readable")
        for mask in prepared.masks
        if mask.hide
    ]
    if excess("/proc", READ, grants):
        found += [
            RunLoss("wider", mask.where, f"read-only /proc/{mask.entry}", "/proc is below a writable path")
            for mask in prepared.masks
            if not mask.hide
        ]
    if prepared.host_root and prepared.devices != "host":
        why = "below `/`, which is readable: so are the host's devices that the user may read"
        found.append(RunLoss("wider", DEFAULT, f"devices {prepared.devices}", why))
    return found


def _of_area(area: Area, grants: tuple[Grant, ...]) -> list[RunLoss]:
    mount = area.mount
    found: list[RunLoss] = []
    more = excess(area.path, area.rights, grants)
    if more:
        # Rules only add up: the rights of a folder hold for everything below it.
        can = [
            word for right, word in ((Fs.READ_FILE, "read"), (WRITE, "changed"), (Fs.EXECUTE, "run")) if more & right
        ]
        why = f"Landlock takes no right away below a grant: {area.path} can be {' and '.join(can)}"
        found.append(RunLoss("wider", mount.where, _said(area), why))
    elif mount.noexec and mount.kind != "hide":
        why = (
            "Landlock stops execve(2) alone: a file can still be mapped and run by an interpreter or the dynamic loader"
        )
        found.append(RunLoss("wider", mount.where, _said(area), why))
    if mount.kind == "tmpfs":
        budgets = [word for word, value in (("size", mount.size), ("inodes", mount.inodes)) if value]
        limits = f", without its limit of {' and '.join(budgets)}" if budgets else ""
        why = f"not private: the host's own folder is written to, and stays written{limits}"
        found.append(RunLoss("wider", mount.where, _said(area), why))
    return found


def _names(prepared: Prepared) -> list[RunLoss]:
    """Say which paths keep their own names."""
    return [
        RunLoss("narrower", area.mount.where, _said(area), f"without mounts {area.path} keeps its own name")
        for area in areas(prepared)
        if not same_name(area.mount)
    ]


def _said(area: Area) -> str:
    """Give a mount as a statement; the profile's own text stands at its place in the file."""
    mount = area.mount
    verb = {"tmpfs": "tmp", "hide": "hide"}.get(mount.kind, "read" if mount.read_only else "write")
    noexec = " noexec" if mount.noexec and mount.kind != "hide" else ""
    return f"{verb} {mount.place}{noexec}"
