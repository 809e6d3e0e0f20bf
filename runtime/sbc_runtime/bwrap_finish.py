"""Finishes the compiled arguments for one run on this machine.

The compiler writes spelled paths, in an order by depth as far as it can be known. Here parameters have values, links
are resolved, and what is there is known: the mounts are the prepared plan's, those of /dev and /proc the compiled
ones, all are sorted once more by depth, and the words `--sbc-*` become bubblewrap's. The compiled statements are then
held against the result: each must still have its access, or nothing is started.

`--disable-userns` is not used: it writes to /proc/sys, and whether namespaces may be nested is for the filter to say.
"""

import os
from collections.abc import Callable

from sbc_runtime.bwrap_stage import Stage
from sbc_runtime.bwrap_words import AGAIN, Word, Words, filled, read
from sbc_runtime.errors import SetupFailed
from sbc_runtime.mounts import shm_size
from sbc_runtime.prepare.above import parents
from sbc_runtime.prepare.layout import below, joined
from sbc_runtime.prepared import Mount, Prepared
from sbc_runtime.records import NamedTuple

NAMESPACES = ("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup")
INIT = "/proc/1"
"""Bubblewrap's init can be looked into by a process with its ids, so its folder is covered."""

_COVER = ("--perms", "0555", "--tmpfs")
_EMPTY = "\0"
"""Stands for a descriptor in a step; no argument of a command can be this."""
_SHM = "/dev/shm"  # noqa: S108 (the sandbox's own)


class Step(NamedTuple):
    """Arguments for one place, and those that come when every mount is made."""

    place: str
    arguments: tuple[str, ...]
    last: tuple[str, ...] = ()
    rank: int = 1

    @property
    def order(self) -> tuple[int, int, str]:
        """By depth alone; of one depth ours first."""
        return (0 if self.place == "/" else self.place.count("/"), self.rank, self.place)


def finish(
    compiled: tuple[str, ...],
    prepared: Prepared,
    stage: Stage | None,
    seccomp: tuple[int, ...],
    empty: Callable[[], int],
) -> tuple[str, ...]:
    """Give bubblewrap's arguments.

    `seccomp`: the descriptors that filters are read from, in this order; `empty` gives, each time, another descriptor
    at whose end it stands already.
    """
    words = read(compiled)
    _check_frame(words, prepared)
    steps = [*_files(prepared, stage), *_devices(words, prepared), *_proc(words), *_links(prepared)]
    steps.sort(key=lambda step: step.order)
    steps = [
        step._replace(arguments=tuple(str(empty()) if one == _EMPTY else one for one in step.arguments))
        for step in steps
    ]
    check(words, prepared)
    ids = prepared.ids
    head = [*NAMESPACES, *(("--unshare-net",) if prepared.network == "none" else ())]
    # A session of its own would leave the terminal behind: with one, the session is made before bubblewrap starts.
    head += ["--die-with-parent", *(() if prepared.terminal else ("--new-session",)), "--cap-drop", "ALL"]
    head += ["--uid", str(ids.user), "--gid", str(ids.group), "--hostname", prepared.hostname]
    body = [argument for step in steps for argument in step.arguments]
    tail = [argument for step in reversed(steps) for argument in step.last]
    end = ["--chdir", prepared.cwd]
    for one in seccomp:
        end += ["--add-seccomp-fd", str(one)]
    return (*head, *body, *tail, *end)


def _check_frame(words: Words, prepared: Prepared) -> None:
    missing = [name for name in (*NAMESPACES, "--die-with-parent", "--new-session") if name not in words.others]
    if words.others.get("--cap-drop") != ("ALL",):
        missing.append("--cap-drop ALL")
    if (prepared.network == "none") != ("--unshare-net" in words.others):
        missing.append("the network that the plan names")
    if (prepared.program is not None) != ("--seccomp" in words.others):
        missing.append("the filter that the plan names")
    if missing:
        raise SetupFailed("bwrap", f"the bundle's arguments lack {', '.join(missing)}", AGAIN)


def _files(prepared: Prepared, stage: Stage | None) -> list[Step]:
    steps = [Step("/", ("--ro-bind", "/", "/"), rank=0)] if prepared.host_root else []
    own_root = not prepared.host_root
    for mount in prepared.mounts:
        # The sandbox has a /dev of its own, so what the host has below its /dev cannot be seen.
        if mount.kind == "hide" and mount.place.startswith("/dev/") and prepared.devices not in {"none", "host"}:
            continue
        if stage is not None and mount in stage.final:
            continue
        own_root &= mount.place != "/"
        if mount.place == "/dev":
            continue  # the compiled words make it
        if mount.may_vanish and not os.path.lexists(shown_at(mount.place, prepared)):
            continue
        steps.append(_file(mount, None if stage is None else stage.source(mount)))
    if own_root:
        steps.append(Step("/", (), ("--remount-ro", "/"), rank=0))
        steps += _folders(prepared)
    return steps


def _folders(prepared: Prepared) -> list[Step]:
    """Make the folders of a root of its own: bubblewrap would give those above a mount another mode (0700)."""
    mounted = {mount.place for mount in prepared.mounts}
    places = [*mounted, *(place for place, _ in prepared.links)]
    made = {above for place in places for above in parents(place)} - {"/", "/dev", "/proc"}
    own = [folder for folder in made if mounted.isdisjoint((folder, *parents(folder)))]
    return [Step(folder, ("--perms", "0755", "--dir", folder), rank=0) for folder in own]


def _file(mount: Mount, staged: str | None) -> Step:
    place = mount.place
    if mount.kind == "hide":
        return _cover(place, mount.directory)
    if mount.kind == "tmpfs" and staged is None:
        size = ("--size", str(mount.size)) if mount.size else ()
        return Step(place, ("--perms", "1777", *size, "--tmpfs", place))
    option = "--ro-bind" if mount.read_only else "--bind"
    return Step(place, (option, staged or mount.source, place))


def shown_at(place: str, prepared: Prepared) -> str:
    """Give the path of the host that is seen at a place, if nothing covers it."""
    above = _deciding(os.path.dirname(place), {mount.place: mount for mount in prepared.mounts if not mount.may_vanish})
    return place if above is None else joined(above.source, below(place, above.place))


def _cover(place: str, directory: bool, rank: int = 1) -> Step:
    if directory:
        return Step(place, (*_COVER, place), ("--remount-ro", place), rank)
    # An empty file of bubblewrap's own. The device /dev/null would be another cover that reads as empty, but writing to
    # it succeeds on a read-only mount, too.
    return Step(place, ("--perms", "0444", "--ro-bind-data", _EMPTY, place), rank=rank)


def is_device(word: Word) -> bool:
    """Tell whether a compiled word is one of /dev itself, which no statement on files made."""
    place = word.place
    if place != "/dev" and not place.startswith("/dev/"):
        return False
    if word.name in {"--tmpfs", "--dev", "--symlink", "--remount-ro"}:
        return place in {"/dev", _SHM} or word.name == "--symlink"
    if word.name == "--dev-bind":
        return True
    return word.name in {"--sbc-hide-try", "--sbc-seal"} and place in {"/dev/pts", _SHM}


def _devices(words: Words, prepared: Prepared) -> list[Step]:
    made: list[str] = []
    last: list[str] = []
    covers: list[Step] = []
    for word in words.placed:
        if not is_device(word) or word.name == "--sbc-seal":
            continue
        if word.name == "--sbc-hide-try":
            if os.path.isdir(word.place):
                covers.append(_cover(word.place, True, rank=0))
        elif word.name == "--remount-ro":
            last += word.arguments
        elif word.place == _SHM:
            size = shm_size(prepared.limits)
            made += ["--perms", "1777", "--size", str(size), "--tmpfs", _SHM]
        else:
            made += word.arguments
    return ([Step("/dev", tuple(made), tuple(last), rank=0)] if made or last else []) + covers


def _proc(words: Words) -> list[Step]:
    steps = [Step("/proc", ("--proc", "/proc"), rank=0), _cover(INIT, True, rank=0)]
    for word in words.placed:
        place = word.place
        if not place.startswith("/proc/") or not os.path.lexists(place):
            continue
        if word.name == "--sbc-hide-try":
            steps.append(_cover(place, os.path.isdir(place), rank=0))
        elif word.name == "--ro-bind-try":
            steps.append(Step(place, ("--ro-bind", place, place), rank=0))
    return steps


def _links(prepared: Prepared) -> list[Step]:
    # After all mounts of their depth: a mount point is never made by way of a link.
    return [Step(place, ("--symlink", target, place), rank=2) for place, target in prepared.links]


def check(words: Words, prepared: Prepared) -> None:
    """Refuse a run whose mounts do not give every compiled statement its access: `SetupFailed` names the path."""
    mounts = {mount.place: mount for mount in prepared.mounts}
    params = dict(prepared.params)
    for word in words.placed:
        wanted = word.name.removesuffix("-try")
        if wanted not in {"--bind", "--ro-bind", "--sbc-hide"} or is_device(word):
            continue
        if "${:HOME}" in word.values[0] or word.place.startswith("/proc/"):
            continue  # the mounts of both homes are one statement's; /proc is the compiled words' alone
        source, place = (filled(value, params) for value in word.values)
        real = os.path.realpath(source)
        if not os.path.lexists(real):
            continue  # prepared as absent, or refused
        if not any(_has(_deciding(one, mounts), wanted, prepared.host_root) for one in (place, *_seen(real, prepared))):
            raise SetupFailed("bwrap", f"the plan's mounts do not say `{wanted[2:]}` of `{source}`", AGAIN)


def _seen(real: str, prepared: Prepared) -> list[str]:
    """Give the places where mounts show a path of the host."""
    above = {real, *parents(real)}
    shown = [mount for mount in prepared.mounts if mount.kind == "bind" and mount.source in above]
    return [real, *(joined(mount.place, below(real, mount.source)) for mount in shown)]


def _deciding(place: str, mounts: dict[str, Mount]) -> Mount | None:
    return next((mounts[one] for one in (place, *parents(place)) if one in mounts), None)


def _has(mount: Mount | None, wanted: str, host_root: bool) -> bool:
    if mount is None:
        return host_root and wanted == "--ro-bind"
    if wanted == "--sbc-hide":
        return mount.kind == "hide"
    if mount.kind == "hide":
        return True  # narrower: a socket, or a hidden folder above
    # A pin is a writable mount point over a folder that a statement may also name; instead of one something may narrow.
    return mount.narrows or mount.read_only == (wanted == "--ro-bind")
