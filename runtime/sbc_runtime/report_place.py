"""Where a report may be written: never where the command could replace it, or forge another one."""

import os

from sbc_runtime.errors import SetupFailed
from sbc_runtime.prepare.above import parents
from sbc_runtime.prepared import Prepared
from sbc_runtime.words import TYPE_CHECKING

if TYPE_CHECKING:
    from sbc_runtime.prepare.host_mounts import HostMounts


def writable(prepared: Prepared) -> tuple[str, ...]:
    """Give the folders and files of the host that the command of a run can write."""
    return tuple(one.source for one in prepared.mounts if one.kind == "bind" and not one.read_only)


def check_place(prepared: Prepared, path: str) -> str:
    """Give the path, without links in its folders, that a report may be written to.

    `SetupFailed` where the command could write there too, and so replace or forge it, or where there is no such folder.
    """
    from sbc_runtime.prepare import host_mounts  # noqa: PLC0415 - of Linux, and this module serves macOS too

    return place_outside(writable(prepared), path, host_mounts.read())


def place_outside(areas: tuple[str, ...], path: str, mounts: "HostMounts | None" = None) -> str:
    """Give the path, without links in its folders, where it is in none of these folders; `SetupFailed` where it is.

    Folders are compared by device and inode, so that another name of an area does not pass; nor does the other name
    that a mount gives to a folder in it.
    """
    folder, name = os.path.split(os.path.abspath(path))
    try:
        real = os.path.realpath(folder, strict=True)
        known = {_identity(area): area for area in areas if os.path.lexists(area)}
        names = (real,) if mounts is None else mounts.names(real)
        for here in dict.fromkeys(one for name in names for one in (name, *parents(name))):
            area = known.get(_identity(here)) if os.path.lexists(here) else None
            if area is not None:
                why = f"`{path}` is in `{area}`, which the command can write"
                raise SetupFailed("report", why, "write the report elsewhere")
        target = os.path.join(real, name)
        if os.path.lexists(target) and known.get(_identity(target)) is not None:
            raise SetupFailed("report", f"`{path}` can be written by the command", "write the report elsewhere")
    except OSError as error:
        raise SetupFailed.of("report", error, "name a file in a folder that is there") from None
    if not name or os.path.isdir(target):
        raise SetupFailed("report", f"`{path}` is a folder", "name a file")
    return target


def _identity(path: str) -> tuple[int, int]:
    seen = os.stat(path)
    return seen.st_dev, seen.st_ino
