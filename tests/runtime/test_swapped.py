"""Somebody swaps folders and links while a run is prepared: no mount ever shows what was not in the tree."""

import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from sbc_runtime import libc, loader, scheduling
from sbc_runtime.errors import SetupFailed
from sbc_runtime.job import Caller as Calling
from sbc_runtime.job import Job, Options
from sbc_runtime.mount_sources import clone
from sbc_runtime.outcome import Absent, Replaced
from sbc_runtime.prepare.paths import AT_FDCWD, reopen
from sbc_runtime.prepare.run import prepare
from sbc_runtime.prepared import Prepared
from sbc_runtime.protected import Protected
from tests.runtime.support import Caller
from tests.runtime.test_paths import profile

FILES = "write ${t} as /w; read { ${t}/a/b/f ${t}/link/.git } ; hide ${t}/a/b/c; start-in /w"


class Swap:
    """One of the names is made a link to the same name outside, just before the n-th lookup in the tree.

    `last`: for how many lookups; 0: from then on.
    """

    def __init__(self, inside: Path, outside: Path, name: str, at: int, last: int) -> None:
        self._inside = str(inside)
        self._place = inside / name if name else inside
        self._target = outside / name if name else outside
        self._aside = self._place.with_name("moved")
        self._at = at
        self._last = last
        self._seen = -1
        self._call = libc.openat2

    @property
    def came(self) -> bool:
        return self._seen >= self._at

    @property
    def stays(self) -> bool:
        return self.came and not self._last

    def __call__(self, directory: int, path: str, flags: int, resolve: int) -> int:
        if directory != AT_FDCWD or path.startswith(self._inside):
            self._seen += 1
            if self._seen == self._at:
                self._place.rename(self._aside)
                self._place.symlink_to(self._target)
            elif self._last and self._seen == self._at + self._last:
                self._place.unlink()
                self._aside.rename(self._place)
        return self._call(directory, path, flags, resolve)


def fill(folder: Path) -> Path:
    (folder / "a/b/c").mkdir(parents=True)
    (folder / "real/.git").mkdir(parents=True)
    (folder / "a/b/f").touch()
    (folder / "link").symlink_to("real")
    return folder


def prepared(tree: Path) -> Prepared:
    calling = Calling("/", "/", None, "/tmp", (), scheduling.own())
    job = Job("test", ("/bin/true",), {"t": str(tree)}, (), calling, Options())
    return prepare(loader.load(profile(FILES)).bundle, None, job)


def identities(folder: Path) -> set[tuple[int, int]]:
    found = [folder, *folder.rglob("*")]
    return {(seen.st_dev, seen.st_ino) for seen in map(os.lstat, found)}


def lookups(name: str, last: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Path, Swap]]:
    """Give a fresh tree for each lookup at which the swap can come, until there is none left."""
    for at in itertools.count():
        base = tmp_path / str(at)
        inside, outside = fill(base / "in"), fill(base / "out")
        for one in (inside, *inside.rglob("*")):
            os.chown(one, 65534 if os.geteuid() == 0 else -1, -1, follow_symlinks=False)
        swap = Swap(inside, outside, name, at, last)
        with monkeypatch.context() as patch:
            patch.setattr(libc, "openat2", swap)
            yield inside, outside, swap
        if not swap.came:
            return


class Seen(NamedTuple):
    """What one run would have shown, whether it was swapped before its end, and what was seen of it afterwards."""

    shown: set[tuple[int, int]]
    places: set[str]
    swapped: bool
    replaced: tuple[Replaced, ...]


def seen_by(one: Prepared, swap: Swap) -> Seen:
    """Open each source, as whoever mounts it does, and hold what is protected."""
    shown: set[tuple[int, int]] = set()
    for mount in one.mounts:
        if mount.kind == "bind":
            opened = reopen(AT_FDCWD, mount.source, mount.device, mount.inode)
            found = os.fstat(opened)
            shown.add((found.st_dev, found.st_ino))
            os.close(opened)
    held = Protected(one)
    swapped = swap.stays
    try:
        return Seen(shown, {mount.place for mount in one.mounts}, swapped, held.replaced())
    finally:
        held.close()


@pytest.mark.parametrize("last", [0, 1, 2])
@pytest.mark.parametrize("name", ["", "a", "a/b", "a/b/c", "link", "real/.git"])
def test_at_every_lookup(name: str, last: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 0
    for inside, outside, swap in lookups(name, last, tmp_path, monkeypatch):
        ours, others = identities(inside), identities(outside)
        count += 1
        try:
            seen = seen_by(prepared(inside), swap)
        except (SetupFailed, OSError):
            continue
        assert not seen.shown & others
        assert len(seen.shown & ours) == 6
        assert {"/w", "/w/a", "/w/a/b", "/w/a/b/f", "/w/a/b/c", "/w/real"} <= seen.places
        assert seen.replaced or not seen.swapped
    assert count > 10


def test_what_is_cloned() -> None:
    caller = Caller("root")  # only uid 0 clones before there are namespaces
    tree = fill(caller.tree())
    caller.own(*tree.rglob("*"))
    outside = fill(caller.tree())
    one = prepared(tree)
    pin = next(mount for mount in one.mounts if mount.pin and mount.place == "/w/a")
    (tree / "a").rename(tree / "moved")
    (tree / "a").symlink_to(outside / "a")
    root = os.open("/", os.O_PATH)
    with pytest.raises((SetupFailed, OSError)):
        clone(root, pin)
    os.close(root)


def test_a_path_that_was_made_meanwhile(tmp_path: Path) -> None:
    """What was absent when it was looked up, and is there when the run starts, counts as made."""
    tree = tmp_path / "in"
    tree.mkdir(mode=0o777)
    if os.geteuid() == 0:
        os.chown(tree, 65534, 65534)
    one = prepared(fill(tree))._replace(absent=(Absent("a:1", "read", str(tree / "new"), could_be_created=True),))
    (tree / "new").mkdir()
    held = Protected(one)
    assert [absent.created for absent in held.absent()] == [True]
    held.close()
