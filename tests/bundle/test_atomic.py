"""Files appear whole or not at all."""

import os
from pathlib import Path

import pytest

from sbc_runtime import atomic
from sbc_runtime.atomic import write_file, write_files


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
    with pytest.raises(IsADirectoryError):
        write_files(tmp_path, {"a": b"new", "b": b"new"})
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


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="descriptors cannot be counted here")
def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    before = len(list(Path("/proc/self/fd").iterdir()))
    write_file(tmp_path / "a", b"")
    with pytest.raises(IsADirectoryError):
        write_file(tmp_path / "b", b"")
    assert len(list(Path("/proc/self/fd").iterdir())) == before
