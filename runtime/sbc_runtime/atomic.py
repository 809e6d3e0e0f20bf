"""Writes files, each whole or not at all.

Each file is written to a temporary file of a random name beside its target, and renamed over it when it is complete
and on disk. Everything goes through one descriptor of the folder, so that a folder that is moved or replaced meanwhile
does not divert anything. A target that is a symbolic link is replaced, never followed.

A set of files is renamed one by one: a writer that is killed between two renames leaves new files beside old ones, each
whole. A temporary file is locked while its writer lives; what a killed one left is removed by the next that writes
into the folder.
"""

import errno
import os
import re
import sys
from collections.abc import Mapping
from stat import S_IFREG, S_ISDIR, S_ISLNK, S_ISREG

from sbc_runtime.records import NamedTuple

_MODE = 0o644
"""The mode of new files, less the caller's umask, which open(2) takes away."""

_SAFE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFE
_TEMPORARY = re.compile(r"\.sbc-[0-9a-f]{24}\.tmp")
_TRIES = 8


class _Waiting(NamedTuple):
    """A complete temporary file: its name, and the descriptor that holds its lock."""

    name: str
    descriptor: int


def write_file(path: str | os.PathLike[str], content: bytes, *, durable: bool = True, mode: int | None = None) -> None:
    """Write one file; its folder must exist. See `write_files`."""
    whole: str = os.fspath(path)
    folder, name = os.path.split(whole)
    write_files(folder or ".", {name: content}, durable=durable, mode=mode)


def write_files(
    folder: str | os.PathLike[str], files: Mapping[str, bytes], *, durable: bool = True, mode: int | None = None
) -> None:
    """Write a set of files into one folder, which must exist.

    All are complete before the first is renamed, and they are renamed in the order given: put the one that readers
    look for last. Where anything fails before that, `OSError` that names the folder or the file, and nothing has
    changed. `durable`: on disk before they are renamed, so that a crash of the machine leaves no empty file. `mode`:
    exactly these permissions, whatever the umask (None: those of any new file).

    On Windows, where a folder cannot be opened and a file's permissions are its folder's, the way is by paths.
    """
    for name in files:
        _check_name(name)
    if sys.platform == "win32":
        from sbc_runtime.atomic_paths import write_by_paths  # noqa: PLC0415 - only there

        write_by_paths(os.fspath(folder), files, durable=durable)
        return
    directory = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0))
    waiting: dict[str, _Waiting] = {}
    try:
        subject = os.fspath(folder)
        try:
            _remove_stale(directory)
            for name in files:
                _refuse_special(directory, name)
            for name, content in files.items():
                waiting[name] = _write_temporary(directory, content, durable=durable, mode=mode)
            for name in files:
                subject = os.path.join(folder, name)
                os.replace(waiting[name].name, name, src_dir_fd=directory, dst_dir_fd=directory)
                os.close(waiting.pop(name).descriptor)
            if durable:
                os.fsync(directory)
        except OSError as error:
            # The name of a temporary file would say nothing to anybody.
            named = os.path.join(folder, error.filename) if error.filename in files else subject
            raise OSError(error.errno, error.strerror, named) from error
    finally:
        for temporary in waiting.values():
            _remove(directory, temporary.name)
            os.close(temporary.descriptor)
        os.close(directory)


def _check_name(name: str) -> None:
    if name in {"", ".", ".."} or "/" in name or "\0" in name:
        raise ValueError(f"{name!r} is not the name of a file in a folder")


def _refuse_special(directory: int, name: str) -> None:
    """Find before the first rename what would make a later one fail, or take a device, pipe or socket away.

    A link to one is such a name too (/dev/stdout), as is any link into /proc.
    """
    try:
        mode = os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return
    if S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    if S_ISLNK(mode):
        into_proc = os.readlink(name, dir_fd=directory).startswith("/proc/")
        try:
            mode = os.stat(name, dir_fd=directory).st_mode
        except OSError:
            mode = S_IFREG
        special = into_proc or not (S_ISREG(mode) or S_ISDIR(mode))
    else:
        special = not S_ISREG(mode)
    if special:
        raise OSError(errno.EINVAL, "there is a device, a pipe or a socket, which no file replaces", name)


def _write_temporary(directory: int, content: bytes, *, durable: bool, mode: int | None) -> _Waiting:
    made = _new_temporary(directory, mode)
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(made.descriptor, rest) :]
        if mode is not None:
            os.fchmod(made.descriptor, mode)
        if durable:
            os.fsync(made.descriptor)
    except BaseException:
        _remove(directory, made.name)
        os.close(made.descriptor)
        raise
    return made


def _new_temporary(directory: int, mode: int | None) -> _Waiting:
    for _ in range(_TRIES):
        # The target's name is left out: with it the temporary one could be longer than a name may be.
        name = f".sbc-{os.urandom(12).hex()}.tmp"
        descriptor = os.open(name, _FLAGS, _MODE if mode is None else 0o600, dir_fd=directory)
        if _locked(descriptor) is not False and os.fstat(descriptor).st_nlink:
            return _Waiting(name, descriptor)
        # Another writer took it for one left behind, before it was locked.
        _remove(directory, name)
        os.close(descriptor)
    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))


def _locked(descriptor: int) -> bool | None:
    """Take the lock of a file: whether that was possible, or None where the file system has no locks."""
    import fcntl  # noqa: PLC0415 - not on Windows, where this module is imported too

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _remove_stale(directory: int) -> None:
    """Remove the temporary files of ours whose writers are dead: those that nobody has locked."""
    try:
        names = [name for name in os.listdir(directory) if _TEMPORARY.fullmatch(name)]
    except OSError:
        return  # a folder that may be written and not read
    for name in names:
        try:
            descriptor = os.open(name, os.O_WRONLY | os.O_NONBLOCK | _SAFE, dir_fd=directory)
        except OSError:
            continue
        try:
            status = os.fstat(descriptor)
            if S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and _locked(descriptor):
                _remove(directory, name)
        finally:
            os.close(descriptor)


def _remove(directory: int, name: str) -> None:
    try:
        os.unlink(name, dir_fd=directory)
    except OSError:
        return  # the folder itself is gone; what was to be written is not there either


class Reserved:
    """A file that is to be written later: room for it is there, and its name is one that can be written.

    `write` or `drop` ends it.
    """

    def __init__(self, folder: str | os.PathLike[str], name: str, room: int) -> None:
        """`room`: bytes that will certainly fit. `OSError` where the file could not be written now."""
        _check_name(name)
        self._name = name
        self._directory = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0))
        self._waiting: _Waiting | None = None
        try:
            _remove_stale(self._directory)
            _refuse_special(self._directory, name)
            self._waiting = _new_temporary(self._directory, None)
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(self._waiting.descriptor, 0, room)
            else:  # macOS has none
                os.pwrite(self._waiting.descriptor, bytes(room), 0)
        except BaseException:
            self.drop()
            raise

    def write(self, content: bytes) -> None:
        """Write the file, whole or not at all; `OSError`. May be called once."""
        if self._waiting is None:
            raise ValueError("this file has been written or dropped")
        try:
            _refuse_special(self._directory, self._name)
            rest = memoryview(content)
            while rest:
                rest = rest[os.write(self._waiting.descriptor, rest) :]
            os.ftruncate(self._waiting.descriptor, len(content))
            os.fsync(self._waiting.descriptor)
            os.replace(self._waiting.name, self._name, src_dir_fd=self._directory, dst_dir_fd=self._directory)
            os.fsync(self._directory)
            os.close(self._waiting.descriptor)
            self._waiting = None
        finally:
            self.drop()

    def drop(self) -> None:
        """Leave nothing behind. May be called again."""
        if self._waiting is not None:
            _remove(self._directory, self._waiting.name)
            os.close(self._waiting.descriptor)
            self._waiting = None
        if self._directory >= 0:
            os.close(self._directory)
            self._directory = -1
