"""The file system of a sandbox, built by its init in a mount namespace of its own.

A staging tmpfs becomes the root first, the host's tree below it at `old`; the sandbox's root is built at `new`; then
that becomes the root, and everything else is detached. What does not depend on the paths that are shown (`Frame`) is
made before these are known. Every object is mounted by descriptor (open_tree(2),
mount_setattr(2), move_mount(2)), so that no link is followed while mounting, and options are set on the detached tree,
with all mounts below it, before anybody can see it.
"""

import contextlib
import errno
import os
from collections.abc import Callable

from sbc_runtime import libc
from sbc_runtime.errors import SetupFailed
from sbc_runtime.mount_options import ALL, BASE, Options, attributes
from sbc_runtime.mount_sources import Sources, clone, root_of
from sbc_runtime.prepare.above import parents
from sbc_runtime.prepared import LimitValue, Mask, Mount, Prepared, has_terminals
from sbc_runtime.records import NamedTuple
from sbc_runtime.words import TypeVar

STAGES = ("/tmp", "/mnt", "/var", "/usr")  # noqa: S108 (mounted over in a namespace of our own)
"""Folders of which one exists on every host: the staging file system is put on the first."""

DEVICES = ("null", "zero", "full", "random", "urandom")
_LINKS = (
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
)
SHM_SIZE = 64 << 20
"""The most that /dev/shm holds, in bytes."""

_SEARCH = "let the command's host id search the folders above, or use `root private` and `as`"
_DEV_SIZE = 64 << 10
_DEVICE = libc.ATTR_NOSUID | libc.ATTR_NOEXEC
_PLACES = 1 << 16
"""Inodes for what is mounted on, in a file system that the command cannot write to."""

_BYTES_PER_INODE = 2048
_T = TypeVar("_T")


def rehearse(prepared: Prepared) -> None:
    """Call what a builder calls, with what cannot be meant: nothing changes but this process's memory."""
    Builder(frame_of(prepared)).take(prepared, Sources({}, {}))
    nowhere = "/proc/self/no/such"
    for act in (
        lambda: libc.mount("tmpfs", nowhere, "tmpfs", 0, "mode=755"),
        lambda: libc.pivot_root(nowhere, nowhere),
        lambda: libc.umount(nowhere),
        lambda: libc.open_tree(-1, "no"),
        lambda: libc.openat2(-1, "no", os.O_PATH, libc.RESOLVE_BENEATH),
        lambda: libc.mount_setattr(-1, ALL),
        lambda: libc.move_mount(-1, -1),
    ):
        with contextlib.suppress(OSError):
            act()


def budget(size: int, inodes: int) -> str:
    """Give the options of a tmpfs (tmpfs(5)) that the command can fill: `size` bytes and `inodes` at most; 0: not said.

    An inode takes a kibibyte of the kernel's memory that no size counts, so that there is always an end to them: with a
    size alone one for every 2 KiB of it, half a page, so that small files reach the size first. With neither the
    kernel's own hold, half of the machine's memory.
    """
    if size and not inodes:
        inodes = max(size // _BYTES_PER_INODE, 1)
    return (f",size={size}" if size else "") + (f",nr_inodes={inodes}" if inodes else "")


class Frame(NamedTuple):
    """What of a root does not depend on the paths that are shown. `private`: it is a file system of its own, so that
    all of this can be made first. `shm`: bytes of /dev/shm.
    """

    private: bool
    devices: str
    terminals: bool
    shm: int
    masks: tuple[Mask, ...]


def frame_of(prepared: Prepared) -> Frame:
    """Give the frame of a run's root."""
    private = not prepared.host_root and root_of(prepared) is None
    return Frame(private, prepared.devices, has_terminals(prepared), shm_size(prepared.limits), prepared.masks)


def shm_size(limits: LimitValue) -> int:
    """Give the bytes of /dev/shm: never more than all memory of the run."""
    return min(SHM_SIZE, limits.memory or SHM_SIZE)


class Builder:
    """Builds the root of one sandbox: `begin`, and once its plan is there, `build`."""

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._seal: list[tuple[str, int]] = []
        # Mounts in which folders can be made: those of our own, by place.
        self._own = {"/"} if frame.private else set[str]()
        self._targets: dict[str, int] = {}
        self._binds: set[str] = set()
        self._above: set[str] = set()
        self._ready = frozenset[str]()

    def begin(self) -> None:
        """Make what can be made before the plan is known; `SetupFailed` with the step that failed."""
        _step("mount namespace", lambda: libc.mount(None, "/", None, libc.MS_REC | libc.MS_PRIVATE))
        _step("staging", self._stage)
        if self._frame.private:
            _step("root", self._private_root)
            self._inside()

    def take(self, prepared: Prepared, sources: Sources) -> None:
        """Take the plan."""
        self.prepared = prepared
        self.trees = sources.trees
        self._targets = sources.targets
        self._ready = frozenset(sources.trees)
        self._own |= {mount.place for mount in prepared.mounts if mount.kind in {"tmpfs", "hide"}}
        self._shown = root_of(prepared)
        self._above = {above for mount in prepared.mounts for above in parents(mount.place)}
        self._binds = {mount.place for mount in prepared.mounts if mount.kind == "bind"}

    def build(self) -> None:
        """Do the rest; `SetupFailed` with the step that failed."""
        if not self._frame.private:
            _step("root", self._shown_root)
            self._inside()
        for mount in self.prepared.mounts:
            if mount is self._shown:
                continue
            _step(f"mount {mount.place}", lambda mount=mount: self._mount(mount), mount.where, _SEARCH)
        for place, target in self.prepared.links:
            _step(f"link {place}", lambda place=place, target=target: self._link(place, target))
        _step("read-only", self._finish)

    def _inside(self) -> None:
        if self._frame.devices != "none":
            _step("devices", self._devices)
        _step("/proc", self._proc)

    def _stage(self) -> None:
        stage = next((one for one in STAGES if os.path.isdir(one)), "/")
        libc.mount("tmpfs", stage, "tmpfs", libc.MS_NOSUID | libc.MS_NODEV, "mode=755,size=64k,nr_inodes=64")
        os.chdir(stage)
        for name in ("new", "old", "void"):
            os.mkdir(name, 0o755 if name != "void" else 0o555)
        os.close(os.open("empty", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o444))
        libc.pivot_root(".", "old")
        os.chdir("/")
        self.stage = os.open("/", os.O_PATH | os.O_CLOEXEC)
        self.old = os.open("/old", os.O_PATH | os.O_CLOEXEC)
        self._options = Options(self.stage)

    def _shown_root(self) -> None:
        wanted = BASE | libc.ATTR_RDONLY if self._shown is None else attributes(self._shown)
        tree = self.trees.pop("/", -1)
        if tree < 0:
            tree = libc.open_tree(self.old) if self._shown is None else clone(self.old, self._shown)
        self._attach(tree, os.open("/new", os.O_PATH | os.O_CLOEXEC), "/", wanted)
        self.new = os.open("/new", os.O_PATH | os.O_CLOEXEC)

    def _private_root(self) -> None:
        data = f"mode=755,size=1m,nr_inodes={_PLACES}"
        libc.mount("tmpfs", "/new", "tmpfs", libc.MS_NOSUID | libc.MS_NODEV, data)
        self.new = os.open("/new", os.O_PATH | os.O_CLOEXEC)
        os.mkdir("proc", 0o755, dir_fd=self.new)

    def _devices(self) -> None:
        if self._frame.devices == "host":
            tree = libc.open_tree(self.old, "dev")
            self._attach(tree, self._target("/dev", True), "/dev", _DEVICE | libc.ATTR_RDONLY)
        else:
            self._tmpfs("/dev", libc.MS_NOSUID | libc.MS_NOEXEC, f"mode=755,size={_DEV_SIZE},nr_inodes={_PLACES}")
            # It belongs to the command's own id, which could fill it with files.
            self._seal.append(("/dev", _DEVICE | libc.ATTR_RDONLY))
            self._own.add("/dev")
            device = self._target("/dev", True)
            names = (*DEVICES, "tty") if self._frame.devices == "standard" else DEVICES
            for name in names:
                tree = libc.open_tree(self.old, f"dev/{name}", recursive=False)
                os.close(os.open(name, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644, dir_fd=device))
                target = libc.openat2(device, name, os.O_PATH, libc.RESOLVE_NO_SYMLINKS)
                self._attach(tree, target, f"/dev/{name}", _DEVICE, recursive=False)
            for name, target in _LINKS:
                os.symlink(target, name, dir_fd=device)
            os.mkdir("shm", 0o755, dir_fd=device)
            if self._frame.devices == "standard":
                os.mkdir("pts", 0o755, dir_fd=device)
                os.symlink("pts/ptmx", "ptmx", dir_fd=device)
            os.close(device)
        if self._frame.terminals:
            self._pts()
        flags = libc.MS_NOSUID | libc.MS_NODEV | libc.MS_NOEXEC
        self._tmpfs("/dev/shm", flags, "mode=1777" + budget(self._frame.shm, 0))  # noqa: S108 (the sandbox's own)

    def _pts(self) -> None:
        target = self._target("/dev/pts", True)
        os.fchdir(target)
        libc.mount("devpts", ".", "devpts", libc.MS_NOSUID | libc.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620")
        os.close(target)

    def _mount(self, mount: Mount) -> None:
        if mount.kind == "bind":
            tree = self.trees.pop(mount.place, -1)
            if tree < 0:
                tree = clone(self.old, mount)
            target = self._target(mount.place, mount.directory)
            self._attach(tree, target, mount.place, attributes(mount))
        elif mount.kind == "tmpfs":
            flags = libc.MS_NOSUID | libc.MS_NODEV | (libc.MS_NOEXEC if mount.noexec else 0)
            self._tmpfs(mount.place, flags, "mode=1777" + budget(mount.size, mount.inodes))
        elif mount.directory and mount.place in self._above:
            flags = libc.MS_NOSUID | libc.MS_NODEV | libc.MS_NOEXEC
            self._tmpfs(mount.place, flags, f"mode=555,size=64k,nr_inodes={_PLACES}")
            self._seal.append((mount.place, ALL | libc.ATTR_RDONLY))
        elif mount.may_vanish:
            with contextlib.suppress(FileNotFoundError):
                target = self._targets.pop(mount.place, -1)
                self._cover(target if target >= 0 else self._found(mount.place), mount.place, mount.directory)
        else:
            self._cover(self._target(mount.place, mount.directory), mount.place, mount.directory)

    def _cover(self, target: int, place: str, directory: bool) -> None:
        tree = libc.open_tree(self.stage, "void" if directory else "empty", recursive=False)
        self._attach(tree, target, place, ALL | libc.ATTR_RDONLY, recursive=False)

    def _proc(self) -> None:
        target = self._target("/proc", True)
        os.fchdir(target)
        libc.mount("proc", ".", "proc", libc.MS_NOSUID | libc.MS_NODEV | libc.MS_NOEXEC)
        os.close(target)
        top = self._target("/proc", True)
        for mask in self._frame.masks:
            _step(f"/proc/{mask.entry}", lambda mask=mask: self._mask(top, mask), mask.where)
        os.close(top)

    def _mask(self, top: int, mask: Mask) -> None:
        try:
            target = libc.openat2(top, mask.entry, os.O_PATH, libc.RESOLVE_NO_SYMLINKS | libc.RESOLVE_BENEATH)
        except FileNotFoundError:
            return  # this kernel does not have it
        if mask.hide:
            self._cover(target, f"/proc/{mask.entry}", _is_folder(target))
            return
        self._attach(libc.open_tree(target), target, f"/proc/{mask.entry}", ALL | libc.ATTR_RDONLY)

    def _finish(self) -> None:
        for place, wanted in reversed(self._seal):
            target = self._target(place, True)
            self._options.change(target, place, wanted, recursive=False)
            os.close(target)
        if self._shown is None:
            self._options.change(self.new, "/", BASE | libc.ATTR_RDONLY, recursive=False)
        self._options.close()
        os.fchdir(self.new)
        libc.pivot_root(".", ".")
        libc.umount(".")
        os.chdir("/")
        for descriptor in (self.new, self.old, self.stage):
            os.close(descriptor)

    def _tmpfs(self, place: str, flags: int, data: str) -> None:
        target = self._target(place, True)
        os.fchdir(target)
        libc.mount("tmpfs", ".", "tmpfs", flags, data)
        os.close(target)

    def _attach(self, tree: int, target: int, place: str, wanted: int, *, recursive: bool = True) -> None:
        """Mount a tree with options, which it has before anybody can see it; not in vain where it has them already."""
        try:
            if self._options.can and place not in self._ready:
                libc.mount_setattr(tree, wanted, recursive)
            libc.move_mount(tree, target)
            if not self._options.can:
                self._options.change(-1, place, wanted, recursive=recursive)
        finally:
            os.close(target)
            os.close(tree)

    def _target(self, place: str, directory: bool) -> int:
        """Open the object to mount on; where it lies in a file system of ours, it is made."""
        if place in self._targets:
            return self._targets.pop(place)
        try:
            return self._found(place)
        except FileNotFoundError:
            parent, name = self._made_folder(place)
        if directory:
            os.mkdir(name, 0o755, dir_fd=parent)
        else:
            os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o444, dir_fd=parent))
        os.close(parent)
        return self._found(place)

    def _found(self, place: str) -> int:
        rule = libc.RESOLVE_BENEATH | libc.RESOLVE_NO_SYMLINKS
        return libc.openat2(self.new, place.lstrip("/") or ".", os.O_PATH, rule)

    def _made_folder(self, place: str) -> tuple[int, str]:
        """Give a descriptor of the folder above a place, made where needed and ours, and the place's name."""
        folder, _, name = place.rpartition("/")
        nearest = folder
        while nearest not in self._own and nearest not in self._binds and nearest:
            nearest = nearest.rpartition("/")[0]
        if (nearest or "/") not in self._own:
            raise SetupFailed("mounts", f"there is no `{place}`, and nothing is created on the host", errno=2)
        rule = libc.RESOLVE_BENEATH | libc.RESOLVE_NO_SYMLINKS
        here = libc.openat2(self.new, nearest.lstrip("/") or ".", os.O_PATH | os.O_DIRECTORY, rule)
        for part in folder[len(nearest) :].split("/"):
            if not part:
                continue
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, 0o755, dir_fd=here)
            below = libc.openat2(here, part, os.O_PATH | os.O_DIRECTORY, rule)
            os.close(here)
            here = below
        return here, name

    def _link(self, place: str, target: str) -> None:
        parent, name = self._made_folder(place)
        with contextlib.suppress(FileExistsError):  # a mount made the folder
            os.symlink(target, name, dir_fd=parent)
        os.close(parent)


def _is_folder(descriptor: int) -> bool:
    return os.fstat(descriptor).st_mode & 0o170000 == 0o040000


def _step(name: str, act: Callable[[], _T], where: str = "", closed: str = "") -> _T:
    """Do a step; `closed`: the remedy where a folder may not be searched."""
    try:
        return act()
    except OSError as error:
        remedy = closed if error.errno == errno.EACCES else ""
        raise SetupFailed(name, str(error.strerror or error), remedy, error.errno or 0, where) from None
