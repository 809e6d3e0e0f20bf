"""Writes files whole or not at all.

Each file is written to a temporary file of a random name beside its target, and renamed over it when it is complete
and on disk. Everything goes through one descriptor of the folder, so that a folder that is moved or replaced meanwhile
does not divert anything. A target that is a symbolic link is replaced, never followed.
"""

import os
from collections.abc import Mapping
from stat import S_ISDIR

_MODE = 0o644
"""Less the caller's umask, which open(2) takes away."""

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


def write_file(path: str | os.PathLike[str], content: bytes, *, durable: bool = True) -> None:
    """Write one file; its folder must exist. See `write_files`."""
    whole: str = os.fspath(path)
    folder, name = os.path.split(whole)
    write_files(folder or ".", {name: content}, durable=durable)


def write_files(folder: str | os.PathLike[str], files: Mapping[str, bytes], *, durable: bool = True) -> None:
    """Write a set of files into one folder, which must exist.

    All are complete before the first is renamed, and they are renamed in the order given: put the one that readers
    look for last. Where anything fails before that, `OSError`, and nothing has changed. `durable`: on disk before they
    are renamed, so that a crash of the machine leaves no empty file.
    """
    for name in files:
        _check_name(name)
    directory = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0))
    waiting: dict[str, str] = {}
    try:
        for name in files:
            _refuse_folder(directory, name)
        for name, content in files.items():
            waiting[name] = _write_temporary(directory, content, durable=durable)
        for name in files:
            os.replace(waiting[name], name, src_dir_fd=directory, dst_dir_fd=directory)
            del waiting[name]
        if durable:
            os.fsync(directory)
    finally:
        for temporary in waiting.values():
            _remove(directory, temporary)
        os.close(directory)


def _check_name(name: str) -> None:
    if name in {"", ".", ".."} or "/" in name or "\0" in name:
        raise ValueError(f"{name!r} is not the name of a file in a folder")


def _refuse_folder(directory: int, name: str) -> None:
    """Find before the first rename what would make a later one fail."""
    try:
        mode = os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode
    except OSError:
        return  # not there
    if S_ISDIR(mode):
        raise IsADirectoryError(f"{name!r} is a folder")


def _write_temporary(directory: int, content: bytes, *, durable: bool) -> str:
    # The target's name is left out: with it the temporary one could be longer than a name may be.
    name = f".sbc-{os.urandom(12).hex()}.tmp"
    descriptor = os.open(name, _FLAGS, _MODE, dir_fd=directory)
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        if durable:
            os.fsync(descriptor)
    except BaseException:
        _remove(directory, name)
        raise
    finally:
        os.close(descriptor)
    return name


def _remove(directory: int, name: str) -> None:
    try:
        os.unlink(name, dir_fd=directory)
    except OSError:
        return  # the folder itself is gone; what was to be written is not there either
