"""From a file to a checked bundle for this machine."""

import os
import sys
from stat import S_ISREG
from typing import NamedTuple

from sbc_runtime.arch import Arch, native_arch
from sbc_runtime.bundle import decode
from sbc_runtime.canonical import MAX_BYTES, BundleError
from sbc_runtime.contents import Bundle, Filter
from sbc_runtime.digest import enforcement_digest, filter_for

_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_NONBLOCK", 0)


class Loaded(NamedTuple):
    """A bundle, and what of it is for this machine.

    On Linux `arch` is the native ABI and `filter` the filter that serves it, None only where the profile says
    `syscalls none`. On macOS both are None. `enforcement` is the enforcement digest.
    """

    bundle: Bundle
    system: str
    arch: Arch | None
    filter: Filter | None
    enforcement: str


def load(path: str | os.PathLike[str]) -> Loaded:
    """Read a bundle and pick what is for this machine; `BundleError` where it cannot be used here."""
    return for_machine(read(path), sys.platform, os.uname().machine, sys.byteorder)


def read(path: str | os.PathLike[str]) -> Bundle:
    """Read a bundle from a regular file; `BundleError`, with the file's name, where it cannot be used anywhere."""
    try:
        return decode(_content(path))
    except OSError as error:
        why = error.strerror or str(error)
        raise BundleError(f"{os.fspath(path)}: cannot be read: {why}", "name a bundle that you may read") from None
    except BundleError as error:
        raise BundleError(f"{os.fspath(path)}: {error.what}", error.remedy) from None


def for_machine(bundle: Bundle, platform: str, machine: str, byte_order: str) -> Loaded:
    """Pick what is for a machine: `sys.platform`, uname's `machine`, `sys.byteorder`."""
    if platform == "darwin":
        return Loaded(bundle, "macos", None, None, enforcement_digest(bundle, None, "macos"))
    if platform != "linux":
        raise BundleError(f"no sandbox is known for {platform}", "run it on Linux or macOS")
    arch = native_arch(machine)
    if arch is None or arch.byte_order != byte_order:
        raise BundleError(f"the ABI of this machine ({machine}, {byte_order}-endian) is not supported", "use another")
    found = filter_for(bundle, arch.name)
    if bundle.filters is not None and found is None:
        have = ", ".join(name for one in bundle.filters for name in one.abis)
        raise BundleError(
            f"`{bundle.profile}` has no filter for {arch.name}, only for {have}",
            f"add {arch.name} to the `abi` statement of its `syscalls` block and compile it again",
        )
    return Loaded(bundle, "linux", arch, found, enforcement_digest(bundle, arch.name))


def _content(path: str | os.PathLike[str]) -> bytes:
    # O_NONBLOCK: opening a FIFO must not wait for a writer.
    descriptor = os.open(path, _FLAGS)
    try:
        if not S_ISREG(os.fstat(descriptor).st_mode):
            raise BundleError("this is not a regular file", "name a bundle that `sbc compile` wrote")
        parts: list[bytes] = []
        left = MAX_BYTES + 1
        while left and (part := os.read(descriptor, left)):
            parts.append(part)
            left -= len(part)
        return b"".join(parts)
    finally:
        os.close(descriptor)
