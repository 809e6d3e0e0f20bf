"""The thin runtime of `sbc`: the kernel's vocabulary, the bundle, and what applies it. Standard library only.

import sbc_runtime

outcome = sbc_runtime.load("agent-check.sbb").run(["make", "test"], params={"workdir": "tree"})
"""

import os

TYPE_CHECKING = False  # `typing` is not imported for this: importing the package stays cheap

if TYPE_CHECKING:
    from sbc_runtime.api import Profile

__all__ = ["load"]


def load(path: str | bytes | os.PathLike[str]) -> "Profile":
    """Read a bundle that runs commands; `BundleError` (`sbc_runtime.canonical`) where it cannot be used here."""
    from sbc_runtime.api import load as load_profile  # noqa: PLC0415 - importing the package stays cheap

    return load_profile(path)
