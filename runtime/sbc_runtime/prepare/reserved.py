"""What no path may lead to once its links are resolved: /proc, /dev, a writable /sys, `/` under another name.

The compiler refuses these as they are spelled; a parameter or a link can lead to them all the same. File systems of the
kernel that are mounted elsewhere too (a folder to chroot into, say) are known by their device.
"""

import os
import stat

from sbc_runtime.errors import SetupFailed
from sbc_runtime.plan import PathRule
from sbc_runtime.prepare.host_mounts import HostMounts
from sbc_runtime.prepare.layout import Layout, bind, hide
from sbc_runtime.prepare.paths import Found, resolve
from sbc_runtime.records import NamedTuple

OWN = "kernel file systems"
"""Stands for the statement that a mount comes from, where it is added here."""


DEVICES = "devices none"
"""Stands for it where /dev is covered."""


class Kernel(NamedTuple):
    """Where the host has its /proc and /sys, and what else is one of them: places, and devices."""

    proc: dict[str, int]
    sysfs: dict[str, int]

    def is_proc(self, path: str, device: int) -> bool:
        """Whether a path without links is part of a /proc."""
        return is_below(path, "/proc") or device in self.proc.values()

    def is_sysfs(self, path: str, device: int) -> bool:
        """Whether a path without links is part of a /sys."""
        return is_below(path, "/sys") or device in self.sysfs.values()


def kernel_mounts(mounts: HostMounts) -> Kernel:
    """Give where they are mounted, also below other mounts."""
    found = Kernel({}, {})
    for one in mounts.kernel:
        major, _, minor = one.device.partition(":")
        (found.proc if one.kind == "proc" else found.sysfs)[one.place] = os.makedev(int(major), int(minor))
    return found


def is_below(path: str, folder: str) -> bool:
    """Whether a path is a folder, or below it."""
    return path == folder or path.startswith(f"{folder}/")


def refuse_source(rule: PathRule, found: Found, kernel: Kernel) -> None:
    """Refuse what a statement leads to."""
    hidden, real = rule.access == "hide", found.real
    if hidden and real == "/":
        raise _refused(rule, "`/` cannot be hidden")
    if is_below(real, "/proc") or (not hidden and kernel.is_proc(real, found.device)):
        raise _refused(rule, f"it leads to `{real}`, and the sandbox has a /proc of its own")
    if is_below(real, "/dev") and (not hidden or real == "/dev"):
        raise _refused(rule, f"it leads to `{real}`, and the sandbox has a /dev of its own")
    if not hidden and stat.S_IFMT(found.mode) in {stat.S_IFCHR, stat.S_IFBLK}:
        raise _refused(rule, f"`{real}` is a device, and none can be opened but those of `devices`")
    if rule.access == "write" and kernel.is_sysfs(real, found.device):
        raise _refused(rule, f"it leads to `{real}`, and /sys is the whole machine's")


def refuse_place(rule: PathRule, found: Found, place: str) -> None:
    """Refuse where a statement puts something."""
    if found.real == "/" and place != "/":
        raise _refused(rule, f"the host's /proc and /dev would be seen below `{place}`")
    refuse_name(place, rule.statement.where(), rule.statement.text)


def refuse_private(place: str, where: str, text: str) -> None:
    """Refuse where a private folder is put."""
    if place == "/":
        raise SetupFailed(
            "paths", f"`{text}`: its place is `/`, which is no folder in a root", "give another path", where=where
        )
    refuse_name(place, where, text)


def refuse_name(place: str, where: str, text: str) -> None:
    """Refuse a place inside the sandbox that is its own."""
    for folder in ("/proc", "/dev"):
        if is_below(place, folder):
            why = f"`{text}`: its place is `{place}`, and the sandbox has a {folder} of its own"
            raise SetupFailed("paths", why, "give another path", where=where)


def close(layout: Layout, kernel: Kernel, devices: str) -> tuple[str, ...]:
    """Cover each /proc of the host that a mount shows, make each /sys read-only; give what was covered.

    With `devices none` the host's /dev is covered too: its devices cannot be opened, but its shm and pts could be read.
    """
    covered: list[str] = []
    if devices == "none":
        for place in layout.seen_at("/dev"):
            layout.add(hide(place, True, DEVICES))
            covered.append(place)
    for real in kernel.proc:
        for place in layout.seen_at(real):
            # The sandbox's own lies over what is there.
            if layout.at(place) is None and not is_below(place, "/proc"):
                layout.add(hide(place, True, OWN))
                covered.append(place)
    for real in kernel.sysfs:
        if not layout.writable_through(real):
            continue
        for place in layout.seen_at(real):
            above = layout.covering(place)
            if layout.at(place) is None and above is not None and above.kind == "bind" and not above.read_only:
                found = resolve(real, OWN)
                if found is not None:
                    layout.add(bind(found, place, OWN, read_only=True))
    return tuple(covered)


def _refused(rule: PathRule, why: str) -> SetupFailed:
    where = rule.statement.where()
    return SetupFailed("paths", f"`{rule.statement.text}`: {why}", "give another path", where=where)
