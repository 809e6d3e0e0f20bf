"""What else the arguments of a call are called, and which constants are sensible values of them.

Source: the man pages, where their names differ from the kernel's, and the constants that the kernel compares each
argument with.
"""

from sbc.kernel._data import load

_Known = tuple[dict[str, str], dict[str, list[str]]]


def argument_alias(call: str, name: str) -> str | None:
    """The kernel's name for the argument that the man pages call `name`; None where it is no such name."""
    return _known(call)[0].get(name)


def argument_aliases(call: str) -> dict[str, str]:
    """All the other names of a call's arguments, with the kernel's name for each."""
    return dict(_known(call)[0])


def argument_families(call: str, name: str) -> tuple[str, ...] | None:
    """The families of constants that the argument with the kernel's name `name` takes; None: any number."""
    taken = _known(call)[1].get(name)
    return None if taken is None else tuple(taken)


def _known(call: str) -> _Known:
    """The aliases and the families of the arguments of `call`."""
    return load("arguments").get(call, ({}, {}))
