"""The files of a cgroup v2 folder, read and written (`Documentation/admin-guide/cgroup-v2.rst`)."""

import os
from errno import EACCES, EBUSY, EINVAL, ENOENT, EPERM, EROFS

from sbc_runtime.errors import SetupFailed

STEP = "cgroup"
"""The name of every failure of this part."""

REMEDY = "give a folder of cgroup v2 that is yours, without processes of its own, by `--cgroup-base` or SBC_CGROUP_BASE"

_WHY = {
    EBUSY: "it has processes of its own, and then it can give its children no controllers",
    ENOENT: "a controller in it is not available here",
    EINVAL: "the kernel does not take the value",
    EROFS: "it is mounted read-only",
}


def read(path: str) -> str | None:
    """Give a file's text without the last newline; None where it is absent or cannot be read."""
    try:
        with open(path, "rb") as file:
            return os.fsdecode(file.read()).rstrip("\n")
    except OSError:
        return None


def words(path: str) -> frozenset[str]:
    """Give the words of a file; none where it cannot be read."""
    return frozenset((read(path) or "").split())


def keyed(path: str) -> dict[str, int]:
    """Give a flat keyed file (`key number` on each line); empty where it cannot be read."""
    pairs = (line.split() for line in (read(path) or "").splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdecimal()}


def put(path: str, text: str) -> None:
    """Write a file in one write(2), without making it; `OSError` that names it."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None


def write(path: str, text: str) -> None:
    """Write a file; `SetupFailed` that names the file and says what the refusal means."""
    try:
        put(path, text)
    except OSError as error:
        raise refused(path, text, error) from None


def refused(path: str, text: str, error: OSError) -> SetupFailed:
    """Give the failure of writing `text` to `path`."""
    number = error.errno or 0
    said = os.strerror(number)
    if number in (EACCES, EPERM):
        return SetupFailed(STEP, f"{path} may not be written by uid {os.geteuid()}: {said}", REMEDY, number)
    meaning = f": {_WHY[number]}" if number in _WHY else ""
    return SetupFailed(STEP, f"{path} does not take `{text}`: {said}{meaning}", REMEDY, number)
