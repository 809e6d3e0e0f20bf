"""What runs the command: this package, its virtual environment, and what the caller says it relies on.

A command that could change it would decide about the next run, or about the end of this one: what is imported late, by
the caller's process, runs outside of every sandbox. So it is read-only wherever the command would see it writable.
"""

import os
import sys

from sbc_runtime.errors import SetupFailed
from sbc_runtime.prepare.layout import Layout
from sbc_runtime.prepare.paths import Found
from sbc_runtime.prepare.reserved import is_below

OWN = "own program"
"""Stands for the statement that such a mount comes from."""

_ENVIRONMENT = ("bin", "lib", "lib64", "pyvenv.cfg")
"""What of a virtual environment is no place for a user's own files (the `venv` module)."""


def places(relied_on: tuple[str, ...]) -> tuple[str, ...]:
    """Give the paths, absolute, whether they are there or not."""
    environment = os.path.dirname(os.path.dirname(os.path.abspath(sys.executable)))
    is_one = os.path.isfile(f"{environment}/pyvenv.cfg")
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return (package, *(f"{environment}/{name}" for name in _ENVIRONMENT if is_one), *relied_on)


def refuse_inside(layout: Layout, found: Found) -> None:
    """Refuse a statement that makes a part of it writable by name; `SetupFailed`."""
    for mount in layout.mounts():
        if mount.kind == "bind" and not mount.read_only and not mount.pin and is_below(mount.source, found.real):
            why = f"`{mount.source}` is part of what runs the command (`{found.real}`)"
            raise SetupFailed("paths", why, "name another folder, or use an `sbc` from elsewhere", where=mount.where)
