"""File -> source text: opened so that nothing hangs, and refused where it is no text."""

import errno
import os
import stat
from pathlib import Path

from sbc.diagnostics.catalogue.reading import (
    ByteOrderMark,
    Empty,
    LinkLoop,
    NotAFile,
    NotUtf8,
    OtherKind,
    TooLarge,
    Unreadable,
    ZeroByte,
)
from sbc.diagnostics.diagnostic import Reporter
from sbc.diagnostics.looks import looks_like
from sbc.diagnostics.span import Source
from sbc_runtime.open_flags import READ
from sbc_runtime.sha256 import sha256_hex

MAX_BYTES = 1 << 20
_BOM = b"\xef\xbb\xbf"
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def read_source(path: Path | str, name: str, reporter: Reporter) -> Source | None:
    """Give the text of a file under the name that outputs give it; None, with a diagnostic, where there is none."""
    data = _read(path, name, reporter)
    return None if data is None else decode_source(data, name, reporter)


def decode_source(data: bytes, name: str, reporter: Reporter) -> Source | None:
    """Give the source that some bytes are; None, with a diagnostic, where they are no text of a profile."""
    kind = looks_like(data)
    if kind is not None and kind != "profile":
        reporter.add(OtherKind(None, name, kind, "profile"))
    elif len(data) > MAX_BYTES:
        reporter.add(TooLarge(None, name, MAX_BYTES))
    elif data.startswith(_BOM):
        reporter.add(ByteOrderMark(None, name))
    elif (zero := data.find(0)) >= 0:
        reporter.add(ZeroByte(None, name, zero, _line(data, zero)))
    elif not data.strip():
        reporter.add(Empty(None, name))
    else:
        try:
            return Source(name, data.decode())
        except UnicodeDecodeError as error:
            reporter.add(NotUtf8(None, name, error.start, _line(data, error.start)))
    return None


def source_digest(source: Source) -> str:
    """Give the SHA-256 of the bytes that the source was read from, in hexadecimal."""
    return sha256_hex(source.text.encode())


def _line(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1


def _read(path: Path | str, name: str, reporter: Reporter) -> bytes | None:
    try:
        # Asked first, since opening a device may already do something; again below, since the file may have changed.
        if not _regular(os.stat(path), name, reporter):  # noqa: PTH116 - the path may be text that no Path can hold
            return None
        handle = os.open(path, READ)
        with os.fdopen(handle, "rb") as file:
            return file.read(MAX_BYTES + 1) if _regular(os.fstat(handle), name, reporter) else None
    except OSError as error:
        if error.errno == errno.ELOOP:
            reporter.add(LinkLoop(None, name))
        else:
            reporter.add(Unreadable(None, name, os.strerror(error.errno or errno.EIO)))
    except ValueError:  # a NUL in the path, or a character that the file system's encoding lacks
        reporter.add(Unreadable(None, name, "no file can have this name"))
    return None


def _regular(status: os.stat_result, name: str, reporter: Reporter) -> bool:
    if stat.S_ISREG(status.st_mode):
        return True
    reporter.add(NotAFile(None, name, _KINDS.get(stat.S_IFMT(status.st_mode), "not a regular file")))
    return False
