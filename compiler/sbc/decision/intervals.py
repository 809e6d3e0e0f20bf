"""Sorted intervals of a number, and the tree over its bits that leads to each interval's diagram."""

from bisect import bisect_right
from collections.abc import Iterable

from sbc.decision.table import Table

Interval = tuple[int, int, int]
"""First value, last value, diagram."""


def overlaid(backdrop: Iterable[Interval], above: Iterable[Interval]) -> list[Interval]:
    """Lay sorted intervals over sorted intervals without gaps, none of them across two of the backdrop's."""
    made: list[Interval] = []
    waiting = iter(above)
    cut = next(waiting, None)
    for low, high, diagram in backdrop:
        start = low
        while cut is not None and cut[0] <= high:
            if start < cut[0]:
                made.append((start, cut[0] - 1, diagram))
            made.append(cut)
            start = cut[1] + 1
            cut = next(waiting, None)
        if start <= high:
            made.append((start, high, diagram))
    return made


def tree(table: Table, variable: int, bits: int, intervals: list[Interval]) -> int:
    """Give the tree over `bits` variables from `variable` on: sorted intervals without gaps, from 0 to 2^bits - 1."""
    merged: list[Interval] = []
    for low, high, diagram in intervals:
        if merged and merged[-1][2] == diagram:
            merged[-1] = (merged[-1][0], high, diagram)
        else:
            merged.append((low, high, diagram))
    starts = [interval[0] for interval in merged]
    after = variable + bits

    def below(asked: int, low: int, first: int, last: int) -> int:
        """Give the tree from the variable `asked` on, for values from `low` on: `merged[first..last]` meet them."""
        if first == last:
            return merged[first][2]
        middle = low + (1 << after - 1 - asked)
        split = bisect_right(starts, middle, first, last + 1) - 1
        left_last = split - 1 if starts[split] == middle else split
        return table.node(asked, below(asked + 1, low, first, left_last), below(asked + 1, middle, split, last))

    return below(variable, 0, 0, len(merged) - 1)
