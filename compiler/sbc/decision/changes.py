"""What two diagrams decide differently: by architecture, by number, by the bits of the arguments.

Both diagrams are of one table, whichever way they were made; so filters, policies and imported filters can be compared
with each other.
"""

from collections.abc import Iterator
from typing import NamedTuple

from sbc.decision.queries import branches, intervals
from sbc.decision.table import FALSE, TRUE, Table
from sbc.decision.words import ARCH, BITS, NR, VARIABLES, MaskedWord
from sbc_runtime.action import Verdict


class Region(NamedTuple):
    """Calls, both ends in, for which one pair of argument diagrams, `left` and `right`, says what is decided."""

    first_audit: int
    last_audit: int
    first_number: int
    last_number: int
    left: int
    right: int


class Cube(NamedTuple):
    """Inputs that are decided differently, `old` and `new`: those on which every `word & mask == value`.

    `tests` are the masked words, in order, each with its value.
    """

    tests: tuple[tuple[MaskedWord, int], ...]
    old: Verdict
    new: Verdict


def changed_regions(table: Table, left: int, right: int) -> Iterator[Region]:
    """Give the numbers that are not decided alike, neighbours with the same change as one region."""
    for first_audit, last_audit, of_left, of_right in _paired(table, left, right, ARCH):
        for first, last, old, new in _paired(table, of_left, of_right, NR):
            yield Region(first_audit, last_audit, first, last, old, new)


def _paired(table: Table, left: int, right: int, word: int) -> Iterator[tuple[int, int, int, int]]:
    """Give the intervals of a word on which two diagrams differ, with what remains of each."""
    if left == right:
        return
    of_left, of_right = intervals(table, left, word), intervals(table, right, word)
    here = there = 0
    start = 0
    while here < len(of_left):
        end = min(of_left[here][1], of_right[there][1])
        old, new = of_left[here][2], of_right[there][2]
        if old != new:
            yield start, end, old, new
        here += of_left[here][1] == end
        there += of_right[there][1] == end
        start = end + 1


def cubes(table: Table, left: int, right: int) -> Iterator[Cube]:
    """Give the differences of two diagrams one after the other, disjoint, ordered by the bits of the words.

    There can be very many: take as many as there is use for.
    """
    waiting: list[tuple[int, int, tuple[tuple[int, int], ...]]] = [(left, right, ())]
    while waiting:
        old, new, path = waiting.pop()
        if old == new:
            continue
        variable = min(table.variable[old], table.variable[new])
        if variable == VARIABLES:
            yield Cube(_tests(path), table.verdicts[old], table.verdicts[new])
            continue
        old_low, old_high = branches(table, old, variable)
        new_low, new_high = branches(table, new, variable)
        waiting.append((old_high, new_high, (*path, (variable, 1))))
        waiting.append((old_low, new_low, (*path, (variable, 0))))


def _tests(path: tuple[tuple[int, int], ...]) -> tuple[tuple[MaskedWord, int], ...]:
    """Give the bits of a path as masked words."""
    masks: dict[int, int] = {}
    values: dict[int, int] = {}
    for variable, taken in path:
        word, place = divmod(variable, BITS)
        masks[word] = masks.get(word, 0) | 1 << BITS - 1 - place
        values[word] = values.get(word, 0) | taken << BITS - 1 - place
    return tuple((MaskedWord(word, mask), values[word]) for word, mask in masks.items())


def changed_verdicts(table: Table, left: int, right: int) -> dict[tuple[Verdict, Verdict], int]:
    """Give each change of verdict that occurs between two diagrams, with the set of inputs on which it does."""
    known: dict[tuple[int, int], dict[tuple[Verdict, Verdict], int]] = {}

    def between(old: int, new: int) -> dict[tuple[Verdict, Verdict], int]:
        if old == new:
            return {}
        found = known.get((old, new))
        if found is not None:
            return found
        variable = min(table.variable[old], table.variable[new])
        if variable == VARIABLES:
            made = {(table.verdicts[old], table.verdicts[new]): TRUE}
        else:
            old_low, old_high = branches(table, old, variable)
            new_low, new_high = branches(table, new, variable)
            lows, highs = between(old_low, new_low), between(old_high, new_high)
            made = {
                change: table.node(variable, lows.get(change, FALSE), highs.get(change, FALSE))
                for change in {**lows, **highs}
            }
        known[old, new] = made
        return made

    return between(left, right)
