"""The proof: comparisons of an emitted profile with its policy under every choice of values."""

from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from sbc.backends.seatbelt.proof.comparison import Comparison
from sbc.backends.seatbelt.proof.differs import TooLarge, unreadable
from sbc.backends.seatbelt.proof.raw import IMPORTED
from sbc.backends.seatbelt.proof.values import choices
from sbc.backends.target import Loss
from sbc.diagnostics.diagnostic import Failed
from sbc.diagnostics.span import Source
from sbc.policy.policy import Policy
from sbc.policy.seatbelt import SbplImport
from sbc.seatbelt.decide import MAX_WORK
from sbc.seatbelt.load import prepared
from sbc.seatbelt.verdict import TooMuch


class Proven(NamedTuple):
    """How many answers were alike; `open` ones are not known of macOS, by rules of the `seatbelt` block."""

    compared: int
    open: int


CHOICES = 3
"""Choices of values that every compilation compares under; tests take them all."""


def prove(policy: Policy, text: str, losses: Iterable[Loss], most: int | None = CHOICES) -> Proven:
    """Compare a profile with its policy; `Differs` where they are not one, `TooLarge` where that cannot be told."""
    told = frozenset(loss.origin for loss in losses if loss.direction == "wider")
    imports = any(isinstance(one, SbplImport) for one in policy.seatbelt.statements)
    try:
        read = prepared(Source(f"{policy.name}.sb", text))
    except Failed as failed:
        raise unreadable(failed) from None
    compared = unknown = 0
    for number, values in enumerate(islice(choices(policy), most)):
        for imported in IMPORTED if imports else IMPORTED[:1]:
            one = Comparison(policy, read, told, values, imported)
            try:
                one.run(moved=number > 0)
            except TooMuch:
                raise TooLarge(f"more than {MAX_WORK:,} comparisons for one path") from None
            compared += one.compared
            unknown += one.open
    return Proven(compared, unknown)
