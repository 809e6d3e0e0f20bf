"""Whether the command, which has other host ids than uid 0, could write where it is meant to."""

import errno
import os
import pwd
import stat

from sbc_runtime.errors import SetupFailed
from sbc_runtime.prepare.above import parents
from sbc_runtime.prepare.paths import Found
from sbc_runtime.prepared import Ids

_SYSTEM = (
    *("bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "proc", "run", "sbin", "sys", "usr", "var"),
    *("nix", "gnu", "snap", "ostree", "sysroot", "efi", "lost+found"),
)
"""Names in `/` of what a system is made of."""


def check_owner(found: Found, ids: Ids, where: str) -> None:
    """Refuse what the command could not write to after all: `SetupFailed`, with what to do."""
    if not ids.mapped_by_root or found.mode & stat.S_IWOTH:
        return
    if found.owner == ids.host_user and found.mode & stat.S_IWUSR:
        return
    if found.group == ids.host_group and found.mode & stat.S_IWGRP:
        return
    if not _mapped(ids.host_user):  # no tree can belong to it: chown(2) says EINVAL
        raise SetupFailed.of("id maps", OSError(errno.EPERM, os.strerror(errno.EPERM)), where=where)
    why = f"`{found.real}` belongs to {found.owner}:{found.group}, the command runs as the host's {ids.host_user}"
    if found.owner == ids.host_user:
        raise SetupFailed("paths", why + ", who may not write it", "chmod it, or choose another tree", 13, where)
    remedy = f"choose a tree that belongs to {ids.host_user}:{ids.host_group}"
    if may_be_given(found.real):
        import shlex  # noqa: PLC0415 - for this alone

        remedy = f"chown -R {ids.host_user}:{ids.host_group} {shlex.quote(found.real)}"
    raise SetupFailed("paths", why, remedy, 13, where)


def _mapped(user: int) -> bool:
    """Tell whether the caller's user namespace has a user id (user_namespaces(7)); True where that cannot be read."""
    try:
        with open("/proc/self/uid_map", encoding="ascii") as file:
            ranges = [[int(one) for one in line.split()] for line in file]
    except OSError:
        return True
    return any(first <= user < first + count for first, _, count in ranges)


def may_be_given(real: str) -> bool:
    """Tell whether giving all of a folder away harms nobody else: it is no part of the system, and no home, nor is one
    below it.
    """
    names = real.split("/")[1:]
    if len(names) < 2 or (names[0] in _SYSTEM and (names[:2] != ["var", "tmp"] or len(names) < 3)):
        return False
    if names[0] == "home" and len(names) < 3:
        return False
    homes = {os.path.realpath(one.pw_dir) for one in pwd.getpwall()}
    return not any(real in {home, *parents(home)} for home in homes)
