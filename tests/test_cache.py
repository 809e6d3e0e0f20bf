"""The cache: nothing is read that somebody else could have written."""

import os
from pathlib import Path

import pytest

from sbc import cache


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    cache.write("name", b"content")
    return tmp_path / "cache" / "sbc"


def test_what_is_written_is_read(folder: Path) -> None:
    assert cache.read("name") == b"content"
    assert (folder / "name").stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in folder.iterdir()] == ["name"]
    assert cache.read("other") is None


@pytest.mark.parametrize("which", ["file", "folder", "above"])
def test_what_others_may_write_is_not_read(folder: Path, which: str) -> None:
    path = {"file": folder / "name", "folder": folder, "above": folder.parent}[which]
    path.chmod(0o777)
    assert cache.read("name") is None


@pytest.mark.parametrize("which", ["file", "folder", "above"])
def test_what_belongs_to_others_is_not_read(folder: Path, which: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    path = {"file": folder / "name", "folder": folder, "above": folder.parent}[which]
    os.chown(path, 1000, 1000)
    assert cache.read("name") is None


def test_root_leaves_nothing_in_the_home_of_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    os.chown(tmp_path, 1000, 1000)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    cache.write("name", b"content")
    assert not (tmp_path / "cache").exists()


def test_links_and_pipes_are_not_read(folder: Path) -> None:
    (folder / "link").symlink_to("name")
    os.mkfifo(folder / "pipe", 0o600)
    assert cache.read("link") is None
    assert cache.read("pipe") is None


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    cache.write("name", b"content")
    assert cache.read("name") is None
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache.read("name") is None
