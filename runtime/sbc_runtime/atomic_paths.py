"""Writes files, each whole or not at all, where a folder has no descriptor: on Windows.

As `atomic` does: a temporary file of a random name beside each target, all complete before the first is renamed.
"""

import contextlib
import os
from collections.abc import Mapping

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def write_by_paths(folder: str, files: Mapping[str, bytes], *, durable: bool) -> None:
    """Write a set of files into one folder, which must exist; `OSError` that names the folder or the file."""
    waiting: dict[str, str] = {}
    subject = folder
    try:
        for name, content in files.items():
            waiting[name] = os.path.join(folder, f".sbc-{os.urandom(12).hex()}.tmp")
            _write(waiting[name], content, durable=durable)
        for name in files:
            subject = os.path.join(folder, name)
            os.replace(waiting[name], subject)
            del waiting[name]
    except OSError as error:
        # The name of a temporary file would say nothing to anybody.
        raise OSError(error.errno, error.strerror, subject) from error
    finally:
        for temporary in waiting.values():
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def _write(path: str, content: bytes, *, durable: bool) -> None:
    descriptor = os.open(path, _FLAGS, 0o644)
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
