"""The initramfs format (`Documentation/driver-api/early-userspace/buffer-format.rst`): cpio, `newc`."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path


def entries_of(folder: Path, prefix: str = "") -> Iterable[tuple[str, int, bytes]]:
    """Give (name, mode, content) of everything below a folder, sorted; links keep their targets."""
    for path in sorted(folder.rglob("*")):
        name = prefix + str(path.relative_to(folder))
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            yield name, mode, os.fsencode(path.readlink())
        elif stat.S_ISDIR(mode):
            yield name, mode, b""
        elif stat.S_ISREG(mode):
            yield name, mode, path.read_bytes()


def pack(entries: Iterable[tuple[str, int, bytes]]) -> bytes:
    """Give an archive; everything in it belongs to root. Archives may be joined end to end."""
    out: list[bytes] = []
    for inode, (name, mode, content) in enumerate((*entries, ("TRAILER!!!", 0, b"")), start=1):
        named = os.fsencode(name) + b"\0"
        numbers = (inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(named), 0)
        header = b"070701" + b"".join(b"%08X" % number for number in numbers) + named
        out += [header, b"\0" * (-len(header) % 4), content, b"\0" * (-len(content) % 4)]
    return b"".join(out) + b"\0" * (-sum(map(len, out)) % 512)
