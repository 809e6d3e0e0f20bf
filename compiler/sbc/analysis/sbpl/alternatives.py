"""Filters of one rule that were meant to hold together."""

from collections.abc import Iterator

from sbc.analysis.sbpl.cover import shape
from sbc.analysis.sbpl.subject import Subject
from sbc.diagnostics.catalogue.sbpl_rules import SbplAlternatives
from sbc.seatbelt.filters import Combined, Comparison, Filter
from sbc.seatbelt.patterns import Number
from sbc.seatbelt.values import Name

_NARROWING = frozenset({"vnode-type", "file-mode", "socket-type", "socket-protocol"})
"""What nobody allows alone, whatever it is that has it."""

_ALONE = frozenset({"TTY", "FIFO", "SOCKET", "CHARACTER-DEVICE", "BLOCK-DEVICE"})
"""Kinds of files that may be meant wherever they are."""


def check(subject: Subject) -> Iterator[SbplAlternatives]:
    """Report allows with several filters of which one alone matches almost everything.

    Reference: "Which rule wins": several filters in one rule mean OR; `require-all` is AND.
    """
    for rule in subject.rules:
        if rule.action == "allow" and len(rule.filters) > 1:
            wide = next((one for one in rule.filters if _wide(one, rule.filters)), None)
            if wide is not None:
                yield SbplAlternatives(wide.at, wide.name, rule.at)


def _wide(one: Filter, filters: tuple[Filter, ...]) -> bool:
    if isinstance(one, Combined) and one.name == "require-not":
        # With its own opposite beside it the rule says "everything" in two parts, which nobody writes by mistake.
        return all(shape(other) != shape(one.parts[0]) for other in filters)
    if not isinstance(one, Comparison) or one.fact not in _NARROWING or all(_meant(p) for p in one.patterns):
        return False
    return any(not isinstance(other, Comparison) or other.fact != one.fact for other in filters)


def _meant(pattern: object) -> bool:
    return isinstance(pattern, Number) and isinstance(pattern.value, Name) and pattern.value.name in _ALONE
