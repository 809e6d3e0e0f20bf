"""Whether a filter matches: yes, no, or not known and why."""

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias


class Unknown(NamedTuple):
    """Neither yes nor no: a fact that the question does not say, or that nobody has observed."""

    why: str
    fact: str | None = None
    """The name under which the fact can be given; None where it is open on macOS itself."""


Verdict: TypeAlias = bool | Unknown


def any_of(verdicts: Iterable[Verdict]) -> Verdict:
    """One yes is enough; else what is not known stays so."""
    result: Verdict = False
    for verdict in verdicts:
        if verdict is True:
            return True
        if result is False:
            result = verdict
    return result


def all_of(verdicts: Iterable[Verdict]) -> Verdict:
    """One no is enough; else what is not known stays so."""
    result: Verdict = True
    for verdict in verdicts:
        if verdict is False:
            return False
        if result is True:
            result = verdict
    return result


def opposite(verdict: Verdict) -> Verdict:
    """Yes for no, no for yes."""
    return verdict if isinstance(verdict, Unknown) else not verdict


class Meter:
    """What one decision may cost; past the limit there is no answer rather than a late one."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.left = limit

    def take(self, count: int) -> None:
        """Count work; `TooMuch` past the limit."""
        self.left -= count
        if self.left < 0:
            raise TooMuch


class TooMuch(Exception):
    """The decision costs more than it may."""
