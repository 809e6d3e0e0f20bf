"""Files that are no profiles are refused, with a reason, and never waited for."""

import hashlib
import os
import socket
from pathlib import Path

import pytest

from sbc.diagnostics.diagnostic import Reporter
from sbc.syntax.reading import MAX_BYTES, decode_source, read_source, source_digest


def _refused(path: Path) -> str:
    reporter = Reporter()
    assert read_source(path, "p.sbx", reporter) is None
    (diagnostic,) = reporter.diagnostics
    return f"{diagnostic.code} {diagnostic.title()}"


def test_a_file_is_read_as_it_is(tmp_path: Path) -> None:
    data = "sbx 1\r\n# é".encode()
    (tmp_path / "p").write_bytes(data)
    reporter = Reporter()
    source = read_source(tmp_path / "p", "p.sbx", reporter)
    assert source is not None
    assert (source.name, source.text.encode(), reporter.diagnostics) == ("p.sbx", data, ())
    assert source_digest(source) == hashlib.sha256(data).hexdigest()


def test_missing(tmp_path: Path) -> None:
    assert _refused(tmp_path / "none") == "SBX001 cannot read `p.sbx`: no such file or directory"
    assert _refused(tmp_path / "no\0ne") == "SBX001 cannot read `p.sbx`: no file can have this name"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable(tmp_path: Path) -> None:
    (tmp_path / "p").write_text("sbx 1")
    (tmp_path / "p").chmod(0)
    assert _refused(tmp_path / "p") == "SBX001 cannot read `p.sbx`: permission denied"


def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    assert _refused(tmp_path) == "SBX002 cannot read `p.sbx`: it is a folder"
    assert _refused(tmp_path / "fifo") == "SBX002 cannot read `p.sbx`: it is a pipe"
    assert _refused(Path("/dev/zero")) == "SBX002 cannot read `p.sbx`: it is a device"


def test_a_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        assert _refused(tmp_path / "socket") == "SBX002 cannot read `p.sbx`: it is a socket"


def test_a_loop_of_links(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert _refused(tmp_path / "a").startswith("SBX003")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"#" * (MAX_BYTES + 1), "SBX004"),
        (b"sbx 1\n\xff", "SBX005"),
        (b"sbx 1\n\xed\xa0\x80", "SBX005"),
        (b"\xff\xfes\0b\0x\0", "SBX007"),
        (b"\xef\xbb\xbfsbx 1\n", "SBX006"),
        (b"sbx 1\n\0", "SBX007"),
        (b"", "SBX008"),
        (b" \n\t\r\n", "SBX008"),
    ],
)
def test_bytes_that_are_no_text(tmp_path: Path, data: bytes, code: str) -> None:
    (tmp_path / "p").write_bytes(data)
    assert _refused(tmp_path / "p").startswith(code)


def test_the_place_of_a_wrong_byte() -> None:
    reporter = Reporter()
    assert decode_source(b"sbx 1\n\n# \xc3(", "p.sbx", reporter) is None
    assert "byte 9 (line 3)" in reporter.diagnostics[0].title()


def test_the_largest_file(tmp_path: Path) -> None:
    (tmp_path / "p").write_bytes(b"#" * MAX_BYTES)
    assert read_source(tmp_path / "p", "p.sbx", Reporter()) is not None
