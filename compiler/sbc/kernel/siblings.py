"""Calls that do by another door what a call does.

Source: the kernel's entry points; calls that share an implementation are siblings (`chmod`, `fchmodat`, `fchmodat2`).
"""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from sbc.kernel._data import load


class Sibling(NamedTuple):
    """A call that does the same, or a part of it, and the kernel that brought it (None: nobody wrote it down)."""

    call: str
    since: str | None


@cache
def siblings() -> Mapping[str, tuple[Sibling, ...]]:
    """The siblings of each call that has any."""
    versions: dict[str, str] = load("calls")["since"]
    return MappingProxyType(
        {
            call: tuple(Sibling(other, versions[other] or None) for other in others)
            for call, others in load("siblings").items()
        }
    )
