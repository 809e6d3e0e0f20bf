"""Every target by name: one line each. A target's module is imported when it is first asked for."""

from collections.abc import Iterable
from importlib import import_module
from typing import cast

from sbc.backends.target import Target
from sbc.diagnostics.catalogue.targets import UnavailableTarget, UnknownTarget
from sbc.diagnostics.diagnostic import Diagnostic, Failed
from sbc.diagnostics.suggest import closest
from sbc.record import Record


class Entry(Record):
    """A target: its name, and the module and class that emit the policy.

    `module` is None for what is made from the other targets' output (`docs`, `bundle`). `available`: whether it can be
    asked for.
    """

    name: str
    module: str | None = None
    kind: str = ""
    available: bool = True


_ENTRIES = (
    Entry("bpf", "sbc.backends.bpf.target", "BpfTarget"),
    Entry("sbpl", "sbc.backends.seatbelt.target", "SeatbeltTarget"),
    Entry("bwrap", "sbc.backends.bwrap.target", "BwrapTarget"),
    Entry("oci", available=False),
    Entry("docs"),
    Entry("bundle"),
)

TARGETS = {entry.name: entry for entry in _ENTRIES}
"""Every target, in the order in which they are made and listed."""

DEFAULT = tuple(entry.name for entry in _ENTRIES if entry.available)
"""What is made where nobody names targets."""


def load(name: str) -> Target:
    """Give the target that emits a policy; `KeyError` for a name that none has, or that is made from other targets."""
    entry = TARGETS[name]
    if entry.module is None:
        raise KeyError(name)
    return cast("Target", getattr(import_module(entry.module), entry.kind)())


def chosen(names: Iterable[str] | None) -> tuple[str, ...]:
    """Give the targets that were asked for, in the registry's order, each once; None: the default ones.

    `Failed` for a name that no target has, or whose target is not there yet; blanks around a name do not count.
    """
    if names is None:
        return DEFAULT
    asked = [name.strip() for name in names]
    errors: list[Diagnostic] = []
    for name in dict.fromkeys(asked):
        entry = TARGETS.get(name)
        if entry is None:
            errors.append(UnknownTarget(None, name, closest(name, TARGETS), DEFAULT))
        elif not entry.available:
            errors.append(UnavailableTarget(None, name))
    if errors:
        raise Failed(tuple(errors))
    return tuple(name for name in TARGETS if name in asked)
