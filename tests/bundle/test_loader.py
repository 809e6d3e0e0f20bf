"""From a file to what is for this machine."""

import os
import sys
from pathlib import Path

import pytest

from sbc_runtime.bundle import BundleError, encode
from sbc_runtime.canonical import MAX_BYTES
from sbc_runtime.loader import for_machine, load, read
from tests.bundle.samples import made


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sample.sbb"
    path.write_bytes(encode(made()))
    return path


@pytest.mark.parametrize(
    ("machine", "abis"), [("x86_64", ("x86_64", "i386")), ("i686", ("x86_64", "i386")), ("aarch64", ("aarch64",))]
)
def test_the_filter_of_the_machine_is_picked(file: Path, machine: str, abis: tuple[str, ...]) -> None:
    loaded = for_machine(read(file), "linux", machine, "little")
    assert loaded.filter is not None
    assert loaded.filter.abis == abis
    assert loaded.arch is not None


@pytest.mark.parametrize(
    ("platform", "machine", "order", "words"),
    [
        ("linux", "riscv64", "little", "no filter for riscv64, only for x86_64, i386, aarch64; add riscv64"),
        ("linux", "alpha", "little", "not supported"),
        ("linux", "mips64", "big", "not supported"),
        ("freebsd14", "amd64", "little", "no sandbox is known"),
    ],
)
def test_a_machine_without_a_filter_is_refused(file: Path, platform: str, machine: str, order: str, words: str) -> None:
    with pytest.raises(BundleError, match=words):
        for_machine(read(file), platform, machine, order)


def test_without_any_filter_every_machine_does() -> None:
    loaded = for_machine(made()._replace(filters=None), "linux", "riscv64", "little")
    assert loaded.filter is None


def test_macos_needs_no_filter() -> None:
    loaded = for_machine(made(), "darwin", "arm64", "little")
    assert (loaded.system, loaded.arch, loaded.filter) == ("macos", None, None)


def test_on_windows_there_is_nothing_to_load() -> None:
    loaded = for_machine(made(), "win32", "", "little")
    assert (loaded.system, loaded.arch, loaded.filter) == ("windows", None, None)
    assert loaded.enforcement != for_machine(made(), "darwin", "arm64", "little").enforcement


@pytest.mark.skipif(
    (sys.platform, os.uname().machine) not in {("linux", "x86_64"), ("linux", "aarch64")},
    reason="the sample has no filter for this machine",
)
def test_load_is_for_this_machine(file: Path) -> None:
    loaded = load(file)
    assert loaded.arch is not None
    assert os.uname().machine in loaded.arch.machines


def test_a_link_to_a_bundle_is_read(file: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(file)
    assert read(tmp_path / "link").profile == "sample"


def test_a_fifo_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(BundleError, match="not a regular file"):
        read(tmp_path / "fifo")


def test_other_files_are_refused_with_their_name(tmp_path: Path) -> None:
    large = tmp_path / "large"
    with large.open("wb") as out:
        out.truncate(MAX_BYTES + 1)
    for path, words in (
        (tmp_path, "not a regular file"),
        (tmp_path / "none", "No such file"),
        (tmp_path / "large", "larger than"),
        (Path("/dev/null"), "not a regular file"),
    ):
        with pytest.raises(BundleError, match=words) as caught:
            read(path)
        assert str(caught.value).startswith(str(path))
