"""What is prepared around bubblewrap, in a user and mount namespace that it is started in.

Uid 0: the user namespace is made while the euid is 0 and then mapped, so that no process outside that has the
command's host id may enter it or what bubblewrap makes in it (the owner of a namespace's parent may:
`cap_capable`, `security/commoncap.c`). `--userns FD` cannot serve: joining a namespace asks for a capability in it,
and bubblewrap refuses to start with capabilities under any uid but 0. Sources are cloned with open_tree(2) before the
id changes, so that the folders above them need not be searchable for the command's host id.

Everybody: the host's mounts are made private, which bubblewrap does not do: what the host mounts while the command runs
would appear in the sandbox, with the host's options. And what bubblewrap has no option for is made here and given to it
as a source: a tmpfs with a budget of inodes, a tree that nothing can be run from.
"""

import os

from sbc_runtime import kernel_view, libc
from sbc_runtime.bwrap_reasons import remedy
from sbc_runtime.errors import SetupFailed
from sbc_runtime.mount_options import ALL
from sbc_runtime.mount_sources import clone_sources, is_closed
from sbc_runtime.mounts import budget
from sbc_runtime.outcome import RunLoss
from sbc_runtime.prepare.above import parents
from sbc_runtime.prepare.paths import AT_FDCWD
from sbc_runtime.prepared import Ids, Mount, Prepared
from sbc_runtime.records import NamedTuple

FOLDERS = ("/mnt", "/media", "/srv", "/opt", "/tmp")  # noqa: S108 (mounted over in a namespace of our own)
"""Folders of which one exists on every host: what is prepared for a private root is put on the first."""

NAMESPACES = libc.CLONE_NEWUSER | libc.CLONE_NEWNS


def asked(mount: Mount) -> str | None:
    """Say what of a mount bubblewrap has no option for, or None."""
    if mount.kind == "tmpfs" and mount.inodes:
        return "bubblewrap has no inode budget"
    if mount.kind in {"tmpfs", "bind"} and mount.noexec:
        return "bubblewrap cannot forbid running what is there"
    return None


class Staged(NamedTuple):
    """A mount of the plan, and the path at which bubblewrap finds it."""

    mount: Mount
    path: str


class Stage(NamedTuple):
    """The mounts that are prepared. `folder`: that which they are put into, "" where each is put where it will be.

    `final`: those that bubblewrap, which could not get there, is told nothing of: it takes them over with the root.
    """

    ids: Ids
    mounts: tuple[Staged, ...]
    folder: str
    final: tuple[Mount, ...] = ()

    def source(self, mount: Mount) -> str | None:
        """Give the path that stands for a mount's source, or None where it is not staged."""
        return next((one.path for one in self.mounts if one.mount == mount), None)


def lost(prepared: Prepared) -> tuple[RunLoss, ...]:
    """Give what is lost where nothing can be prepared."""
    found = [RunLoss("wider", mount.where, mount.place, why) for mount in prepared.mounts if (why := asked(mount))]
    tied = [line for line in host_lines() if line.propagation]
    shown = [mount for mount in prepared.mounts if mount.kind == "bind"]
    if tied and (prepared.host_root or shown):
        where, text = (shown[0].where, shown[0].place) if shown else ("", "root host")
        found.append(
            RunLoss("wider", where, text, "what the host mounts while the command runs appears in the sandbox")
        )
    return tuple(found)


def host_lines() -> tuple[kernel_view.MountLine, ...]:
    """Give the mounts that this process sees."""
    process = kernel_view.folder(os.getpid())
    try:
        return kernel_view.mountinfo(process)
    finally:
        os.close(process)


def stage_of(prepared: Prepared, program: str) -> Stage:
    """Give what has to be prepared. `program`: bubblewrap's path."""
    chosen = [mount for mount in prepared.mounts if asked(mount)]
    if not chosen and not prepared.ids.mapped_by_root:
        return Stage(prepared.ids, (), "")
    if prepared.host_root:
        # Every folder of the host can be seen, so each mount is prepared where it will be, and with it what a prepared
        # one would cover.
        over = {mount.place for mount in chosen if mount.kind == "tmpfs"}
        final = _final(prepared)
        staged = [
            mount
            for mount in prepared.mounts
            if mount not in final and (mount in chosen or over.intersection(parents(mount.source)))
        ]
        return Stage(prepared.ids, tuple(Staged(one, one.source or one.place) for one in staged), "", final)
    free = (one for one in FOLDERS if one not in parents(program) and os.path.isdir(one) and not os.path.islink(one))
    folder = next(free, "/")
    chosen = [mount for mount in prepared.mounts if mount.kind == "bind" or asked(mount)]
    return Stage(prepared.ids, tuple(Staged(one, f"{folder}/{at}") for at, one in enumerate(chosen)), folder)


def _final(prepared: Prepared) -> tuple[Mount, ...]:
    """Give what is read-only, lies in the host's tree itself, and is below a folder that not everybody may search."""
    places = {mount.place for mount in prepared.mounts}
    known: dict[str, bool] = {}
    return tuple(
        mount
        for mount in prepared.mounts
        if prepared.ids.mapped_by_root
        and mount.read_only
        and places.isdisjoint(parents(mount.place))
        and is_closed("/", mount.place, known)
    )


def possible() -> bool:
    """Tell whether the namespaces for staging can be made: makes them once, for nothing."""
    try:
        pid = libc.clone(NAMESPACES)
    except OSError:
        return False
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return True


def map_ids(pid: int, stage: Stage) -> None:
    """Map the command's host ids to themselves, for a process; bubblewrap maps them again. `SetupFailed`."""
    ids = stage.ids
    process = kernel_view.folder(pid)
    try:
        if not ids.mapped_by_root:
            _write(process, "setgroups", "deny")
        _write(process, "uid_map", f"{ids.host_user} {ids.host_user} 1")
        _write(process, "gid_map", f"{ids.host_group} {ids.host_group} 1")
    except OSError as error:
        raise SetupFailed.of("id maps", error, remedy("setting up uid map")) from None
    finally:
        os.close(process)


def _write(process: int, name: str, content: str) -> None:
    descriptor = os.open(name, os.O_WRONLY | os.O_CLOEXEC, dir_fd=process)
    try:
        os.write(descriptor, content.encode())
    finally:
        os.close(descriptor)


def build(stage: Stage) -> None:
    """Make it all, in the new namespaces, once the ids are mapped; take the command's host ids. `OSError`."""
    ids = stage.ids
    libc.mount(None, "/", None, libc.MS_REC | libc.MS_PRIVATE)
    trees = clone_sources((*(one.mount for one in stage.mounts), *stage.final), host_root=False)
    targets = {mount.place: _opened(mount.place) for mount in stage.final}
    if ids.mapped_by_root:
        os.setgroups([])
    os.setresgid(ids.host_group, ids.host_group, ids.host_group)
    os.setresuid(ids.host_user, ids.host_user, ids.host_user)
    if stage.folder:
        libc.mount("tmpfs", stage.folder, "tmpfs", libc.MS_NOSUID | libc.MS_NODEV, "mode=755")
    _cover(stage.final, trees, targets)
    for mount, path in stage.mounts:
        if stage.folder:
            _make(path, mount.directory)
        if mount.kind == "tmpfs":
            _tmpfs(mount, path)
        else:
            _attach(trees.pop(mount.place), path)


def _cover(final: tuple[Mount, ...], trees: dict[str, int], targets: dict[str, int]) -> None:
    """Mount over what was opened while it could be: covers, and trees that have their options already."""
    covers = [mount for mount in final if mount.kind == "hide"]
    scratch = next((one for one in FOLDERS if os.path.isdir(one)), "/")
    if covers:
        libc.mount("tmpfs", scratch, "tmpfs", libc.MS_NOSUID | libc.MS_NODEV, "mode=755,size=64k")
        os.mkdir(f"{scratch}/folder", 0o555)
        os.close(os.open(f"{scratch}/file", os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o444))
    for mount in covers:
        here = _opened(f"{scratch}/{'folder' if mount.directory else 'file'}")
        trees[mount.place] = libc.open_tree(here, recursive=False)
        libc.mount_setattr(trees[mount.place], ALL | libc.ATTR_RDONLY, recursive=False)
        os.close(here)
    if covers:
        libc.umount(scratch)
    for mount in final:
        libc.move_mount(trees[mount.place], targets[mount.place])
        os.close(trees.pop(mount.place))
        os.close(targets[mount.place])


def _opened(path: str) -> int:
    return libc.openat2(AT_FDCWD, path, os.O_PATH | os.O_NOFOLLOW, libc.RESOLVE_NO_SYMLINKS)


def _make(path: str, directory: bool) -> None:
    """Make what is mounted on, in a file system of ours."""
    os.makedirs(path if directory else os.path.dirname(path), exist_ok=True)
    if not directory:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o400))


def _tmpfs(mount: Mount, path: str) -> None:
    flags = libc.MS_NOSUID | libc.MS_NODEV | (libc.MS_NOEXEC if mount.noexec else 0)
    libc.mount("tmpfs", path, "tmpfs", flags, "mode=1777" + budget(mount.size, mount.inodes))


def _attach(tree: int, path: str) -> None:
    target = _opened(path)
    try:
        libc.move_mount(tree, target)
    finally:
        os.close(target)
        os.close(tree)
