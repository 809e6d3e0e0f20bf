"""The filters that the command gets, where it has an init of ours beside it."""

from sbc_runtime.arch import own_arch
from sbc_runtime.init_guard import init_guard
from sbc_runtime.prepared import Prepared


def command_filters(prepared: Prepared) -> tuple[bytes, ...]:
    """Give them in the order in which they are loaded. The profile's comes last: it may deny seccomp(2)."""
    return tuple(one for one in (init_guard(own_arch()), prepared.guard, prepared.program) if one is not None)
