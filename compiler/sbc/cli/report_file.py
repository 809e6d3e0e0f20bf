"""Where `sbc run` writes its report: found, and room made for it, before the command starts."""

import errno
import os
import sys

from sbc_runtime.atomic import Reserved
from sbc_runtime.errors import OF_RESOURCES

_ROOM = 64 << 10
"""Bytes that are set aside: reports are smaller, but for thousands of variables or losses."""


class Place:
    """A file in a folder that is open before the command starts, whatever its path leads to later.

    macOS reaches nothing through an open folder: there its path is used, and the command can write nowhere on its way.
    """

    def __init__(self, report: str) -> None:
        """`OSError`, which names the report, where it could not be written now; `ValueError` where it has no name."""
        if not report:
            raise ValueError("--report: its path is empty; name a file in a folder that you may write to")
        self._folder = -1
        linux = sys.platform == "linux"
        try:
            # Without pathlib, which `sbc run` needs for nothing else.
            folder, name = os.path.split(os.path.join(os.getcwd(), report))  # noqa: PTH109, PTH118
            if not name:
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            self._folder = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            opened = f"/proc/self/fd/{self._folder}"
            found = os.readlink(opened) if linux else os.path.realpath(folder)  # noqa: PTH115
            self.path = os.path.join(found, name)  # noqa: PTH118
            self._file = Reserved(opened if linux else found, name, _ROOM)
        except OSError as error:
            if self._folder >= 0:
                os.close(self._folder)
            why = f"the report cannot be written: {error.strerror or error}"
            remedy = OF_RESOURCES.get(error.errno or 0, "name a file in a folder that you may write to")
            raise OSError(error.errno, f"{why}; {remedy}", report) from None

    def write(self, content: bytes) -> None:
        """Write it, whole or not at all; `OSError`."""
        self._file.write(content)

    def drop(self) -> None:
        """Leave nothing behind but what was written."""
        self._file.drop()
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1
