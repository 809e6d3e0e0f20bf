"""Bundles that are kept for `sbc run FILE.sbx`: exactly what would be made again, or nothing."""

import os
from pathlib import Path

import pytest

from sbc.cli.cached import find, keep
from tests.cli.conftest import Profile


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "sbc"


def test_what_is_kept_is_found_until_a_source_changes(profile: Profile) -> None:
    path = profile("sbx 1\n")
    used = profile("sbx 1\n", "used.sbx")
    digests = dict.fromkeys((str(path), str(used)), "5fb1a0f1a87bbafbe75e9b6c1fbc7e9b9fbf5c10eb8f6ea5ee2bc3bb6a2fd0c1")
    keep(path, None, digests, b"bundle")
    assert find(path, None) is None, "the digests are of something else"
    from sbc_runtime.sha256 import sha256_hex

    digests = dict.fromkeys(digests, sha256_hex(b"sbx 1\n"))
    keep(path, None, digests, b"bundle")
    assert find(path, None) == b"bundle"
    assert find(path, "other") is None
    used.write_text("sbx 1 \n")
    assert find(path, None) is None


def test_what_was_kept_longest_ago_goes(profile: Profile, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sbc.cache.MOST_BUNDLES", 3)
    paths = [profile("sbx 1\n", f"{number}.sbx") for number in range(5)]
    for number, path in enumerate(paths):
        before = set(cache.iterdir()) if cache.exists() else set[Path]()
        keep(path, None, {}, b"bundle")
        (made,) = set(cache.iterdir()) - before
        os.utime(made, (number, number))  # a file system's clock may stand still meanwhile
    assert len(list(cache.iterdir())) == 3
    assert [find(path, None) is not None for path in paths] == [False, False, True, True, True]


def test_every_byte_of_what_is_kept_is_checked(profile: Profile, cache: Path) -> None:
    path = profile("sbx 1\n")
    keep(path, None, {}, b"bundle")
    (kept,) = cache.iterdir()
    data = kept.read_bytes()
    for at in range(0, len(data), 7):
        kept.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        assert find(path, None) is None
