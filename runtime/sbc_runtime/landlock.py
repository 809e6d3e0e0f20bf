"""Landlock: rights on files, TCP ports, abstract sockets and signals that a process gives up for good (landlock(7)).

A ruleset names what it handles: all of that is denied but what its rules grant. What an older kernel cannot handle
stays allowed there; `landlock_losses` says so for each run.
"""

import os
import stat

from sbc_runtime.errors import SetupFailed
from sbc_runtime.landlock_calls import (
    FILE_RIGHTS,
    NEWEST,
    Fs,
    Log,
    Net,
    Scope,
    abi,
    add_path,
    add_port,
    create,
    restrict,
)
from sbc_runtime.records import NamedTuple

__all__ = ["NEWEST", "Fs", "Grant", "Log", "Net", "Rules", "Scope", "abi", "apply", "handled_fs", "prepare"]

READ = Fs.READ_FILE | Fs.READ_DIR
"""`noexec` reading; with `Fs.EXECUTE` what `read` means."""

WRITE = (
    Fs.WRITE_FILE | Fs.REMOVE_DIR | Fs.REMOVE_FILE | Fs.MAKE_DIR | Fs.MAKE_REG | Fs.MAKE_SOCK | Fs.MAKE_FIFO
    | Fs.MAKE_SYM | Fs.REFER | Fs.TRUNCATE
)  # fmt: skip
"""What `write` adds: no device nodes, and no ioctl(2) on those that are there."""

_SINCE = {1: Fs(0x1FFF), 2: Fs.REFER, 3: Fs.TRUNCATE, 5: Fs.IOCTL_DEV}
_TCP_SINCE, _SCOPE_SINCE, _LOG_SINCE = 4, 6, 7


class Grant(NamedTuple):
    """Rights on a path of the host and on all below it; (`device`, `inode`) must still be there (0, 0: whatever is)."""

    path: str
    rights: Fs
    device: int = 0
    inode: int = 0
    optional: bool = False
    where: str = ""


class Rules(NamedTuple):
    """What stays allowed. `tcp`: rights by port; None: TCP is left alone. `scope`: what is kept inside."""

    grants: tuple[Grant, ...]
    tcp: tuple[tuple[int, Net], ...] | None
    scope: Scope


def handled_fs(version: int) -> Fs:
    """Give every right on files that an ABI knows: all are handled, so that what no rule grants is denied."""
    found = Fs(0)
    for since, rights in _SINCE.items():
        if since <= version:
            found |= rights
    return found


def prepare(rules: Rules, version: int) -> int:
    """Make the ruleset for ABI `version` (1 to `NEWEST`); gives its descriptor, close-on-exec.

    Paths are opened here, with the rights of the caller. `SetupFailed`: one cannot be, or is another object by now.
    """
    fs = handled_fs(version)
    net = Net.BIND | Net.CONNECT if rules.tcp is not None and version >= _TCP_SINCE else Net(0)
    try:
        ruleset = create(version, fs, net, rules.scope if version >= _SCOPE_SINCE else Scope(0))
    except OSError as error:
        raise SetupFailed.of("landlock", error) from None
    try:
        for grant in rules.grants:
            _add(ruleset, grant, fs)
        for port, rights in (rules.tcp or ()) if net else ():
            add_port(ruleset, port, rights)
    except BaseException as error:
        os.close(ruleset)
        if isinstance(error, OSError):
            raise SetupFailed.of("landlock", error) from None
        raise
    return ruleset


def _add(ruleset: int, grant: Grant, handled: Fs) -> None:
    try:
        descriptor = os.open(grant.path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        if grant.optional:
            return
        raise SetupFailed.of("landlock", error, where=grant.where) from None
    try:
        seen = os.fstat(descriptor)
        if (grant.device, grant.inode) not in {(0, 0), (seen.st_dev, seen.st_ino)}:
            raise SetupFailed("landlock", f"{grant.path} was replaced during the set-up", where=grant.where)
        rights = grant.rights & handled & (Fs(0xFFFF) if stat.S_ISDIR(seen.st_mode) else FILE_RIGHTS)
        if rights:
            add_path(ruleset, descriptor, rights)
    finally:
        os.close(descriptor)


def apply(ruleset: int, version: int) -> None:
    """Restrict the calling process, which has one thread and no_new_privs; `SetupFailed` where the kernel refuses.

    Denials of the command are not logged, nor those of domains that it makes (ABI 7): it could flood the audit log.
    """
    try:
        restrict(ruleset, Log.SUBDOMAINS_OFF if version >= _LOG_SINCE else Log(0))
    except OSError as error:
        raise SetupFailed.of("landlock", error) from None
