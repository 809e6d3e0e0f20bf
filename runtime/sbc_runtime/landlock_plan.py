"""A run's plan in Landlock's terms: rights on paths of the host, which keep their own names."""

import os

from sbc_runtime.landlock import READ, WRITE, Fs, Grant, Rules, Scope
from sbc_runtime.prepared import Mount, Prepared
from sbc_runtime.records import NamedTuple

_DEVICES = ("null", "zero", "full", "random", "urandom")
_DEVICE = Fs.READ_FILE | Fs.WRITE_FILE | Fs.TRUNCATE | Fs.IOCTL_DEV
_HOST_DEVICES = READ | WRITE | Fs.IOCTL_DEV

_EXPRESSIBLE = READ | WRITE | Fs.EXECUTE
"""Rights that plans speak of."""


class Area(NamedTuple):
    """A path of the host as the plan wants it: its mount, and exactly the rights that the command should have."""

    mount: Mount
    path: str
    rights: Fs


def wanted(mount: Mount) -> Fs:
    """Give the rights that a mount stands for: `read` includes execution, `noexec` takes it away."""
    if mount.kind == "hide":
        return Fs(0)
    return READ | (Fs(0) if mount.read_only else WRITE) | (Fs(0) if mount.noexec else Fs.EXECUTE)


def areas(prepared: Prepared) -> tuple[Area, ...]:
    """Give every mount that says something of its own; one that only pins a folder does not."""
    return tuple(Area(mount, host_path(prepared, mount), wanted(mount)) for mount in prepared.mounts if not mount.pin)


def host_path(prepared: Prepared, mount: Mount) -> str:
    """Give the path of the host that a mount is about: its source, else what its place shows there."""
    return mount.source or seen_as(prepared, mount.place, except_for=mount)


def seen_as(prepared: Prepared, place: str, except_for: Mount | None = None) -> str:
    """Give the path of the host that a path of the sandbox stands for."""
    for mount in sorted(prepared.mounts, key=lambda one: -one.depth):
        above = mount.place.rstrip("/")
        if mount is not except_for and mount.source and (place == mount.place or place.startswith(f"{above}/")):
            return mount.source.rstrip("/") + place.removeprefix(above) or "/"
    return place


def rules(prepared: Prepared) -> Rules:
    """Give what the command needs of the host, and no more than Landlock makes necessary.

    The host's own /proc stands for the sandbox's, read-only; the host's folder for each private one.
    """
    grants = [Grant("/", READ | Fs.EXECUTE)] if prepared.host_root else []
    for area in areas(prepared):
        if area.rights:
            mount = area.mount
            bound = mount.kind == "bind"
            known = (mount.device, mount.inode) if bound else (0, 0)
            grants.append(Grant(area.path, area.rights, *known, optional=not bound, where=mount.where))
    grants += devices(prepared)
    grants.append(Grant("/proc", READ, where="proc"))
    none = prepared.network == "none"
    scope = Scope.SIGNAL | (Scope.ABSTRACT_UNIX_SOCKET if none else Scope(0))
    return Rules(tuple(grants), () if none else None, scope)


def devices(prepared: Prepared) -> list[Grant]:
    """Give the grants for `devices`: never the host's shm and pts, except where all of /dev is wanted."""
    if prepared.devices == "none":
        return []
    if prepared.devices == "host":
        return [Grant("/dev", _HOST_DEVICES, optional=True, where="devices")]
    names = (*_DEVICES, "tty") if prepared.devices == "standard" else _DEVICES
    return [Grant(f"/dev/{name}", _DEVICE, optional=True, where="devices") for name in names]


def terminal(descriptor: int) -> Grant:
    """Give the grant for the command's own terminal, which it is handed in any case, under its name in /dev/pts."""
    seen = os.fstat(descriptor)
    return Grant(os.ttyname(descriptor), _DEVICE, seen.st_dev, seen.st_ino, where="terminal")


def excess(path: str, rights: Fs, grants: tuple[Grant, ...]) -> Fs:
    """Give what rules on a path or above it grant there beyond `rights`: no rule can take that away."""
    granted = Fs(0)
    for grant in grants:
        above = grant.path.rstrip("/")
        if path == grant.path or path.startswith(f"{above}/"):
            granted |= grant.rights
    return granted & _EXPRESSIBLE & ~rights


def same_name(mount: Mount) -> bool:
    """Whether the host shows a mount's source at its place anyway."""
    return not mount.source or os.path.realpath(mount.place) == mount.source
