"""Which ids the command has, inside and as the host sees it."""

import fcntl
import os
from collections.abc import Callable, Iterable
from itertools import chain

from sbc_runtime.errors import SetupFailed
from sbc_runtime.plan import IdRange
from sbc_runtime.prepared import Ids

NOBODY = 65534
"""The host's ids for the command where uid 0 calls and the profile names none."""

LOCKS = "/run/sbc-host-ids"
"""Where uid 0 holds one locked file for each host id of a range that is in use."""


_HELD: list[int] = []
"""The locks of this process, which carries out one run."""


def ids(
    stated: dict[str, int | str | IdRange], owners: Callable[[], Iterable[int]] = tuple
) -> tuple[Ids, tuple[str, ...]]:
    """Give the ids of a run and notes. An id taken from a range is held by a lock until `release`.

    `owners`: to whom the trees belong that the command is to write to; of a range, such an id is taken first.
    """
    notes: list[str] = []
    root = os.geteuid() == 0
    if root:
        host_user, host_group = _host(stated, "host-user", owners), _host(stated, "host-group", owners)
        if host_user == NOBODY:
            notes.append("host_id_shared: the host's id 65534 is also that of other sandboxes and services")
    else:
        host_user, host_group = os.geteuid(), os.getegid()
        if "host-user" in stated or "host-group" in stated:
            notes.append("`host-user` and `host-group` were not applied: only uid 0 may choose them")
    user, group = stated.get("user", host_user), stated.get("group", host_group)
    if not isinstance(user, int) or not isinstance(group, int):
        raise SetupFailed("identity", "`user` and `group` have to be one id each")
    return Ids(user, group, host_user, host_group, root), tuple(notes)


def release() -> None:
    """Let the next run have the id: everything that had it is gone, while this process may still be ending."""
    while _HELD:
        fcntl.flock(_HELD[-1], fcntl.LOCK_UN)
        os.close(_HELD.pop())


def _host(stated: dict[str, int | str | IdRange], key: str, owners: Callable[[], Iterable[int]]) -> int:
    value = stated.get(key, NOBODY)
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        raise SetupFailed("identity", f"`{key}` has to be an id or a range")
    return _free_of(value, key, owners())


def _free_of(span: IdRange, key: str, owners: Iterable[int]) -> int:
    os.makedirs(LOCKS, mode=0o700, exist_ok=True)
    seen = os.lstat(LOCKS)
    if seen.st_uid != 0 or seen.st_mode & 0o077:
        raise SetupFailed("identity", f"`{LOCKS}` is not only root's", f"remove `{LOCKS}`")
    everybody = range(span.first, span.last + 1)
    for number in chain((one for one in owners if one in everybody), everybody):
        name = f"{LOCKS}/{key}.{number}"
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            continue
        _HELD.append(descriptor)
        return number
    why = f"every id of {span.first}..{span.last} is in use by another run"
    raise SetupFailed("identity", why, f"give `{key}` a wider range")
