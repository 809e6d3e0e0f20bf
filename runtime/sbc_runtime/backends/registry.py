"""The backends by name. Each is imported only where it is asked for."""

import sys

from sbc_runtime.backends.interface import Backend
from sbc_runtime.contents import Bundle
from sbc_runtime.errors import SetupFailed
from sbc_runtime.job import Job

_MODULES = {
    "namespace": "sbc_runtime.backends.namespace",
    "bwrap": "sbc_runtime.backends.bwrap",
    "process": "sbc_runtime.backends.process",
    "oci": "sbc_runtime.backends.oci",
}
"""Each module has `backend(job) -> Backend`, or, where it is named below, `backend(job, bundle) -> Backend`."""

_COMPILED = frozenset({"bwrap"})
"""Those that need more of the bundle than the plan: what a target of the compiler made."""

AUTO = ("namespace", "bwrap")
"""What `auto` tries, in this order. Never one that does not isolate."""


def known() -> tuple[str, ...]:
    """Give the names of the backends that this version has."""
    return tuple(name for name in _MODULES if _is_there(name))


def backend(name: str, job: Job, bundle: Bundle) -> Backend:
    """Give a backend by its name; `SetupFailed` where there is none."""
    if name == "seatbelt":
        raise SetupFailed("backend", "`seatbelt` is there on macOS alone", f"choose one of: {', '.join(known())}")
    if not _is_there(name):
        raise SetupFailed("backend", f"there is no backend `{name}`", f"choose one of: {', '.join(known())}")
    given = (job, bundle) if name in _COMPILED else (job,)
    module = _MODULES[name]
    __import__(module)
    made: Backend = sys.modules[module].backend(*given)
    return made


def _is_there(name: str) -> bool:
    module = _MODULES.get(name)
    if module is None or module in sys.modules:
        return module is not None
    from importlib.util import find_spec  # noqa: PLC0415 - most runs need no other than is imported

    return find_spec(module) is not None
