"""Files appear whole or not at all."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sbc_runtime import atomic
from sbc_runtime.atomic import write_file, write_files
from tests.shared_data import ROOT

RUNTIME = ROOT / "runtime"


def test_a_set_is_written(tmp_path: Path) -> None:
    write_files(tmp_path, {"a": b"1", "b": b"", "c": b"x" * 1_000_000})
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {"a": b"1", "b": b"", "c": b"x" * 1_000_000}


def test_one_file_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_file(tmp_path / "a", b"old")
    with (tmp_path / "a").open("rb") as reader:
        write_file(tmp_path / "a", b"new")
        assert reader.read() == b"old"
    assert (tmp_path / "a").read_bytes() == b"new"
    monkeypatch.chdir(tmp_path)
    write_file("b", b"here", durable=False)
    assert (tmp_path / "b").read_bytes() == b"here"


def test_the_mode_follows_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_file(tmp_path / "a", b"")
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"precious")
    (tmp_path / "a").symlink_to(other)
    write_file(tmp_path / "a", b"new")
    assert other.read_bytes() == b"precious"
    assert not (tmp_path / "a").is_symlink()


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/a", "a\0b"])
def test_names_are_names(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="not the name of a file"):
        write_files(tmp_path, {"fine": b"", name: b""})
    assert not list(tmp_path.iterdir())


def test_a_folder_in_the_way_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "b").mkdir()
    with pytest.raises(IsADirectoryError) as caught:
        write_files(tmp_path, {"a": b"new", "b": b"new"})
    assert caught.value.filename == str(tmp_path / "b")
    assert caught.value.strerror == "Is a directory"
    assert (tmp_path / "a").read_bytes() == b"old"
    assert {p.name for p in tmp_path.iterdir()} == {"a", "b"}


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_file(tmp_path / "none" / "a", b"")


@pytest.mark.parametrize("fails_at", [1, 2, 3])
def test_a_failed_write_leaves_the_old_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int) -> None:
    """The disk is full at the n-th file."""
    names = ("a", "b", "c")
    write_files(tmp_path, dict.fromkeys(names, b"old"))
    calls = 0

    def full(descriptor: int) -> None:
        nonlocal calls
        calls += 1
        if calls == fails_at:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_files(tmp_path, dict.fromkeys(names, b"new"))
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == dict.fromkeys(names, b"old")


def test_a_failed_rename_leaves_no_temporary_file_and_none_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = os.replace

    def broken(source: str, target: str, *, src_dir_fd: int, dst_dir_fd: int) -> None:
        if target == "b":
            raise OSError(5, "Input/output error")
        replace(source, target, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

    monkeypatch.setattr(atomic.os, "replace", broken)
    with pytest.raises(OSError, match="Input/output"):
        write_files(tmp_path, {"a": b"new", "b": b"new", "c": b"new"})
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {"a": b"new"}


def test_writes_go_on_after_short_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write

    def short(descriptor: int, data: memoryview) -> int:
        return write(descriptor, data[:3])

    monkeypatch.setattr(atomic.os, "write", short)
    write_file(tmp_path / "a", b"0123456789")
    assert (tmp_path / "a").read_bytes() == b"0123456789"


def test_a_mode_that_is_given_is_exact(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        write_file(tmp_path / "a", b"", mode=0o664)
    finally:
        os.umask(before)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o664


def test_an_error_names_the_folder_and_no_temporary_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(name: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if dir_fd is None:
            return opened(name, flags, mode)
        raise PermissionError(13, "Permission denied", name)

    opened = os.open
    monkeypatch.setattr(atomic.os, "open", denied)
    with pytest.raises(PermissionError) as caught:
        write_file(tmp_path / "a", b"")
    assert caught.value.filename == str(tmp_path)


# ---- writers that were killed ----------------------------------------------------------------------------------------

_KILLED = """\
import os, signal, sys
from sbc_runtime import atomic
renamed = 0
replace = os.replace
def killed(*names, **folders):
    global renamed
    if renamed == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    renamed += 1
    replace(*names, **folders)
atomic.os.replace = killed
atomic.write_files(sys.argv[1], {"a": b"new", "b": b"new", "c": b"new"})
"""


@pytest.mark.parametrize("renames", [0, 1, 2])
def test_what_a_killed_writer_left_is_removed_by_the_next(tmp_path: Path, renames: int) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    write_files(folder, dict.fromkeys("abc", b"old"))
    ended = subprocess.run(
        [sys.executable, "-c", _KILLED, str(folder), str(renames)], env={"PYTHONPATH": str(RUNTIME)}, check=False
    )
    assert ended.returncode == -9
    # Each file is whole, though they are of two sets.
    assert [(folder / name).read_bytes() for name in "abc"] == [b"new"] * renames + [b"old"] * (3 - renames)
    assert len(list(folder.iterdir())) == 6 - renames
    write_file(folder / "a", b"newer")
    assert {path.name for path in folder.iterdir()} == {"a", "b", "c"}


def test_what_a_living_writer_waits_with_stays(tmp_path: Path) -> None:
    name = ".sbc-0123456789abcdef01234567.tmp"
    with (tmp_path / name).open("wb") as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)
        write_file(tmp_path / "a", b"")
        assert (tmp_path / name).exists()
    write_file(tmp_path / "a", b"")
    assert not (tmp_path / name).exists()


def test_only_own_temporary_files_are_removed(tmp_path: Path) -> None:
    kept = [".sbc-mine.tmp", ".sbc-0123456789abcdef01234567.tmp.txt", "x.sbc-0123456789abcdef01234567.tmp"]
    for name in kept:
        (tmp_path / name).write_bytes(b"")
    folder, link = ".sbc-0123456789abcdef0123456a.tmp", ".sbc-0123456789abcdef0123456b.tmp"
    (tmp_path / folder).mkdir()
    (tmp_path / link).symlink_to(kept[0])
    os.mkfifo(tmp_path / ".sbc-0123456789abcdef0123456c.tmp")
    write_file(tmp_path / "a", b"")
    assert {path.name for path in tmp_path.iterdir()} == {
        *kept, folder, link, ".sbc-0123456789abcdef0123456c.tmp", "a",
    }  # fmt: skip


def test_those_of_others_are_not_removed(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    name = ".sbc-0123456789abcdef01234567.tmp"
    (tmp_path / name).write_bytes(b"")
    os.chown(tmp_path / name, 1000, 1000)
    write_file(tmp_path / "a", b"")
    assert (tmp_path / name).exists()


def test_writers_at_the_same_time_do_not_take_each_others_files(tmp_path: Path) -> None:
    code = "import sys; from sbc_runtime.atomic import write_files\n" + (
        "for n in range(150): write_files(sys.argv[1], {'a': b'x' * 1000, sys.argv[2]: b'y'}, durable=False)"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    running = [subprocess.Popen([*command, str(n)], env={"PYTHONPATH": str(RUNTIME)}) for n in range(3)]
    assert [one.wait() for one in running] == [0, 0, 0]
    assert {path.name for path in tmp_path.iterdir()} == {"a", "0", "1", "2"}


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="descriptors cannot be counted here")
def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    before = len(list(Path("/proc/self/fd").iterdir()))
    write_file(tmp_path / "a", b"")
    with pytest.raises(IsADirectoryError):
        write_file(tmp_path / "b", b"")
    assert len(list(Path("/proc/self/fd").iterdir())) <= before
