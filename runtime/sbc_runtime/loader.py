"""From a file to a checked bundle for this machine."""

import os
import sys
from stat import S_ISREG

from sbc_runtime.arch import native_arch
from sbc_runtime.bundle import decode
from sbc_runtime.canonical import MAX_BYTES, BundleError
from sbc_runtime.contents import Bundle
from sbc_runtime.digest import enforcement_digest, filter_for
from sbc_runtime.loaded import Loaded
from sbc_runtime.open_flags import READ


def load(path: str | bytes | os.PathLike[str]) -> Loaded:
    """Read a bundle and pick what is for this machine; `BundleError` where it cannot be used here."""
    return for_this_machine(read(path))


def for_this_machine(bundle: Bundle) -> Loaded:
    """Pick what is for this machine; `BundleError` where the bundle cannot be used here."""
    return for_machine(bundle, sys.platform, machine_name(), sys.byteorder)


def machine_name() -> str:
    """Give what uname(2) calls the machine; on Windows, whose ABI nothing here depends on, nothing."""
    return "" if sys.platform == "win32" else os.uname().machine


def read(path: str | bytes | os.PathLike[str]) -> Bundle:
    """Read a bundle from a regular file; `BundleError`, with the file's name, where it cannot be used anywhere."""
    try:
        return decode(_content(path))
    except BundleError as error:
        raise BundleError(f"{os.fsdecode(path)}: {error.what}", error.remedy) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise BundleError(f"{os.fsdecode(path)}: cannot be read: {why}", "name a bundle that you may read") from None


def for_machine(bundle: Bundle, platform: str, machine: str, byte_order: str) -> Loaded:
    """Pick what is for a machine: `sys.platform`, uname's `machine`, `sys.byteorder`."""
    if platform == "darwin":
        return Loaded(bundle, "macos", None, None, enforcement_digest(bundle, None, "macos"))
    if platform == "win32":
        return Loaded(bundle, "windows", None, None, enforcement_digest(bundle, None, "windows"))
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


def _content(path: str | bytes | os.PathLike[str]) -> bytes:
    descriptor = os.open(path, READ)
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
