"""What a host keeps for the Windows rule, in the user's configuration folder: its installation id, and used nonces.

Both are made once and never changed or removed. So a clock that is set back brings no nonce back; a folder that was
lost brings a new installation id, for which no attestation is valid. A command that runs without a sandbox, as the same
user, could remove either: what is kept here stops others, and mistakes, not that command.
"""

import errno
import hashlib
import os
import re
import stat
import sys
from contextlib import suppress

from sbc_runtime.attestation import Refused

_ID = "installation-id"
_NONCES = "used-nonces"
_FORM = re.compile(rb"[0-9a-f]{64}\n")
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_SAFE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_WAIT = getattr(os, "O_NONBLOCK", 0)


def installation_id(folder: str) -> str:
    """Give the id, 64 hexadecimal digits; made now where there is none. `Refused` where it cannot be trusted."""
    try:
        _make(folder)
        path = os.path.join(folder, _ID)
        if not os.path.lexists(path):
            _publish(folder, path, os.urandom(32).hex().encode() + b"\n")
        return _read(path)
    except OSError as error:
        raise Refused("installationId", f"cannot be kept in `{folder}`: {error.strerror or error}") from None


def use_nonce(folder: str, nonce: str, record: str) -> str:
    """Record, durably, that a nonce is used, and give its SHA-256; `Refused` where it was used before.

    Of two that record it at the same moment one is refused: the file that stands for it is made by both, exclusively.
    From then on it is used, whatever becomes of the run. `record`: kept for people who look.
    """
    name = nonce_hash(nonce)
    try:
        _make(folder)
        kept = os.path.join(folder, _NONCES)
        _make(kept)
        _write(os.path.join(kept, name), record.encode() + b"\n")
        _settle(kept)
    except FileExistsError:
        raise Refused("nonce", "was used before") from None
    except OSError as error:
        raise Refused("nonce", f"cannot be recorded in `{folder}`: {error.strerror or error}") from None
    return name


def nonce_hash(nonce: str) -> str:
    """Give what stands for a nonce in records and reports."""
    return hashlib.sha256(b"sbc bypass nonce 1\n" + nonce.encode()).hexdigest()


def _make(folder: str) -> None:
    """Have a folder of the user's own, in which nobody else can write."""
    if not os.path.isabs(folder):
        raise OSError(errno.EINVAL, "the folder has no absolute path")
    if not os.path.isdir(folder):
        above = os.path.dirname(folder)
        os.makedirs(above, mode=0o700, exist_ok=True)
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)
        _settle(above)
    seen = os.lstat(folder)
    if not stat.S_ISDIR(seen.st_mode) or not _private(seen, 0o022):
        raise OSError(errno.EPERM, "the folder is not the user's alone")


def _publish(folder: str, path: str, content: bytes) -> None:
    """Make a file with this content in one step, unless another process was quicker."""
    temporary = os.path.join(folder, f".{os.urandom(12).hex()}.tmp")
    _write(temporary, content)
    try:
        if sys.platform == "win32":
            os.rename(temporary, path)  # fails there where the target is present
        else:
            os.link(temporary, path)
    except FileExistsError:
        pass
    finally:
        with suppress(OSError):
            os.unlink(temporary)
    _settle(folder)


def _write(path: str, content: bytes) -> None:
    descriptor = os.open(path, _NEW | _SAFE, 0o600)
    try:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _settle(folder: str) -> None:
    """Have the names in a folder on disk. Windows opens no folders; NTFS keeps a journal of names by itself."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read(path: str) -> str:
    descriptor = os.open(path, os.O_RDONLY | _SAFE | _WAIT)
    try:
        seen = os.fstat(descriptor)
        content = os.read(descriptor, 128)
    finally:
        os.close(descriptor)
    if not stat.S_ISREG(seen.st_mode) or not _private(seen, 0o077):
        raise OSError(errno.EPERM, f"`{_ID}` is not the user's alone (mode 0600)")
    if not _FORM.fullmatch(content):
        raise OSError(errno.EINVAL, f"`{_ID}` is damaged")
    return content[:-1].decode()


def _private(seen: os.stat_result, others: int) -> bool:
    """Tell whether a file is ours, and not for others. On Windows the user's profile folder sees to that."""
    return sys.platform == "win32" or (seen.st_uid == os.geteuid() and not seen.st_mode & others)
