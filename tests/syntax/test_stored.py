"""Stored trees and tables: exact, and never trusted where they should not be."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings

from sbc.cache import sealed
from sbc.diagnostics.diagnostic import Reporter
from sbc.diagnostics.span import Source
from sbc.syntax import made, parser, stored, tables
from sbc.syntax.tree import SourceTree
from tests.syntax.derive import SLOW, texts
from tests.syntax.helpers import shipped


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "sbc"


def _parsed(text: str, name: str = "<x>") -> SourceTree:
    tree = parser.parse(Source(name, text), Reporter())
    assert tree is not None
    return tree


@settings(max_examples=150, suppress_health_check=SLOW)
@given(texts())
def test_a_tree_comes_back_exactly(text: str) -> None:
    tree = _parsed(text)
    assert stored.decode(stored.encode(tree), Source("<x>", text)) == tree


@pytest.mark.parametrize("path", shipped(), ids=lambda path: path.name)
def test_shipped_trees_come_back_exactly(path: Path) -> None:
    text = path.read_text("utf-8")
    tree = _parsed(text)
    data = stored.encode(tree)
    assert stored.decode(data, Source("<x>", text)) == tree
    assert stored.encode(_parsed(text)) == data


@pytest.mark.parametrize("data", [b"", b"[]", b"\xff", b"null", b"{}", b"\n", b"[" * 100_000])
def test_damaged_trees_count_as_nothing(data: bytes) -> None:
    text = "sbx 1\ngroup @a { b }\n"
    assert stored.decode(data, Source("<x>", text)) is None
    assert stored.decode(stored.encode(_parsed(text))[:-5], Source("<x>", text)) is None


@pytest.mark.parametrize("body", [b"[" * 100_000, b"[]", b"[[]]", b"null", b"[99999, 0, 0]", b'[0, "a"]', b"{}"])
def test_a_sealed_body_of_another_shape_counts_as_nothing(body: bytes) -> None:
    text = "sbx 1\ngroup @a { b }\n"
    key = stored.encode(_parsed(text)).partition(b" ")[0].decode()
    assert stored.decode(sealed(key, body), Source("<x>", text)) is None
    grammar = tables.grammar_text()
    assert tables.decode(sealed(tables.key(grammar), body), grammar) is None


def test_every_byte_of_a_tree_is_checked() -> None:
    text = "sbx 1\ngroup @a { b }\n"
    data = stored.encode(_parsed(text))
    for at in range(len(data)):
        changed = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        assert stored.decode(changed, Source("<x>", text)) is None


def test_a_changed_word_is_found(cache: Path) -> None:
    """A damaged tree would be another policy."""
    (path,) = [path for path in shipped() if path.name == "stock.sbx"]
    text = path.read_text("utf-8")
    tree = _parsed(text, "<stock>")
    (kept,) = cache.iterdir()
    kept.write_bytes(kept.read_bytes().replace(b'"ptrace"', b'"getpid"'))
    assert stored.load(Source("<stock>", text)) is None
    assert _parsed(text, "<stock>") == tree
    assert stored.load(Source("<stock>", text)) == tree, "it was made again"


def test_a_damaged_tree_of_the_package_is_made_up_for(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored, "folder", lambda: tmp_path)
    text = "sbx 1\ngroup @a { b }\n"
    (tmp_path / "x.tree.json").write_bytes(b"damaged")
    tree = _parsed(text)
    assert [path.name for path in cache.iterdir()] == ["x.tree.json"]
    assert stored.load(Source("<x>", text)) == tree


def test_trees_of_another_source_count_as_nothing() -> None:
    data = stored.encode(_parsed("sbx 1\ngroup @a { b }\n"))
    assert stored.decode(data, Source("<x>", "sbx 1\ngroup @a { c }\n")) is None


def test_only_stock_files_have_stored_trees(cache: Path) -> None:
    text = "sbx 1\ngroup @a { b }\n"
    tree = _parsed(text)
    assert [path.name for path in cache.iterdir()] == ["x.tree.json"]
    assert stored.load(Source("<x>", text)) == tree
    for name in ("x", "x.sbx", "<y>", "<../x>", "<x", "x>", "<a\0b>"):
        assert stored.load(Source(name, text)) is None
        _parsed(text, name)
    assert sorted(path.name for path in cache.iterdir()) == ["x.tree.json", "y.tree.json"]


def test_trees_of_the_package_come_first(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "folder", lambda: tmp_path)
    text = "sbx 1\ngroup @a { b }\n"
    (tmp_path / "x.tree.json").write_bytes(stored.encode(_parsed(text)))
    (cache / "x.tree.json").unlink()
    assert stored.load(Source("<x>", text)) == _parsed(text, "<x>")
    assert list(cache.iterdir()) == []


def test_what_a_wheel_carries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made.write(tmp_path)
    monkeypatch.setattr(stored, "folder", lambda: tmp_path / stored.FOLDER)
    grammar = tables.grammar_text()
    assert tables.decode((tmp_path / tables.NAME).read_bytes(), grammar) is not None
    for path in shipped():
        if path.parent.name == "lib":
            text = path.read_text("utf-8")
            assert stored.load(Source(f"<{path.stem}>", text)) is not None


# ---- tables ---------------------------------------------------------------------------------------------------------


def _save(cache: Path) -> tuple[str, Path]:
    grammar = tables.grammar_text()
    tables.save(parser.build_tables(grammar), grammar)
    (file,) = cache.iterdir()
    return grammar, file


def test_tables_are_kept_for_the_user_alone(cache: Path) -> None:
    grammar, file = _save(cache)
    assert cache.stat().st_mode & 0o777 == 0o700
    assert file.stat().st_mode & 0o777 == 0o600
    found = tables.cached(grammar)
    assert found is not None
    assert tables.encode(found, grammar) == file.read_bytes()


def test_tables_of_another_grammar_count_as_nothing(cache: Path) -> None:
    grammar, _ = _save(cache)
    assert tables.cached(grammar + "\n") is None


def test_a_folder_or_file_that_others_can_write_is_not_trusted(cache: Path) -> None:
    grammar, file = _save(cache)
    cache.chmod(0o777)
    assert tables.cached(grammar) is None
    cache.chmod(0o700)
    file.chmod(0o666)
    assert tables.cached(grammar) is None


def test_links_are_not_followed(cache: Path, tmp_path: Path) -> None:
    grammar, file = _save(cache)
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert tables.cached(grammar) is None
    file.unlink()
    (tmp_path / "elsewhere").rename(file)
    cache.rename(tmp_path / "moved")
    cache.symlink_to(tmp_path / "moved")
    assert tables.cached(grammar) is None


def test_every_part_of_tables_is_checked(cache: Path) -> None:
    grammar, file = _save(cache)
    data = file.read_bytes()
    for at in range(0, len(data), 97):
        file.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        assert tables.cached(grammar) is None


def test_damaged_tables_of_the_package_are_made_up_for(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grammar, _ = _save(cache)
    (tmp_path / tables.NAME).write_bytes(b"damaged")
    (tmp_path / "sbx.lark").write_text(grammar, encoding="utf-8")
    monkeypatch.setattr(tables, "grammar_folder", lambda: tmp_path)
    assert tables.packaged(grammar) is None
    parser.tables.cache_clear()
    assert len(parser.tables().states) > 100


@pytest.mark.parametrize("data", [b"", b"{", b"null", b"[]", b"{}", b"\xff" * 9, b"\n{}"])
def test_damaged_tables_count_as_nothing(cache: Path, data: bytes) -> None:
    grammar, file = _save(cache)
    file.write_bytes(data)
    assert tables.cached(grammar) is None


def test_a_cache_that_cannot_be_written_does_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    grammar = tables.grammar_text()
    tables.save(parser.tables(), grammar)
    assert tables.cached(grammar) is None


def test_tables_are_the_same_each_time() -> None:
    code = (
        "import hashlib; from sbc.syntax import parser, tables; g = tables.grammar_text();"
        "print(hashlib.sha256(tables.encode(parser.build_tables(g), g)).hexdigest())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(found) == 1
