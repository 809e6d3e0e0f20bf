"""A bundle that was read for this machine, and how a host process gives it to its helper."""

from sbc_runtime import arch, contents, plan
from sbc_runtime.arch import Arch
from sbc_runtime.carrier import Carrier
from sbc_runtime.contents import Bundle, Coverage, Filter, Sbpl
from sbc_runtime.records import NamedTuple


class Loaded(NamedTuple):
    """A bundle, and what of it is for this machine.

    On Linux `arch` is the native ABI and `filter` the filter that serves it, None only where the profile says
    `syscalls none`. On macOS and Windows both are None. `enforcement` is the enforcement digest; on Windows, which has
    no sandbox, it is the digest of what was asked for.
    """

    bundle: Bundle
    system: str
    arch: Arch | None
    filter: Filter | None
    enforcement: str


_CARRIER = Carrier(arch, contents, plan)


def pack(loaded: Loaded) -> bytes:
    """Give it as bytes, without what only readers of the bundle want: it has been checked, and is not checked again."""
    bundle = loaded.bundle._replace(
        compiler="", sources=(), filters=None, sbpl=Sbpl(None, None), coverage=Coverage((), ()), docs="", notes=()
    )
    return _CARRIER.pack(tuple(loaded._replace(bundle=bundle)))


def unpack(data: bytes) -> Loaded:
    """Read what `pack` gave."""
    return Loaded(*_CARRIER.unpack(data))
