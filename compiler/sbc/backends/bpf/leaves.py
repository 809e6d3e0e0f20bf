"""Leaves: runs of neighbouring cells of a field that one short piece of code can tell apart.

A leaf of one cell needs no code. Others (cells A, B, C by what they lead to):

- *chain*: all but some single numbers lead to one place: `A 41:B A 56:C A` is `jeq 41, B; jeq 56, C, A`. A JEQ
  takes a number out and lets its neighbours join: one instruction where a tree of JGE would need two;
- *bits*: one JSET parts the cells, some single numbers again taken out before: `246:A 247:B 248:A 249:B` is
  `jset 1, B, A`; `0:A 1:B 8:A 9:B 0xffffffff:A` is `jeq 0xffffffff, A; jset 0xfffffff7, B, A`.

A tree over n leaves has n - 1 JGE whatever its shape, so size is decided by the leaves alone: a dynamic program
finds the cut of the least size, and, among those, of the shortest chains. A leaf that covers more for the same cost
is never worse, so from each first cell only the longest leaf of each cost is tried.
"""

from collections.abc import Iterator
from typing import NamedTuple

from sbc.backends.bpf.fields import FULL, Field, bits_of_range, next_in

MAX_CHAIN = 7
"""The longest chain of a leaf: what is saved by longer ones is small, and the path is long."""

MAX_TAKEN_OUT = 2
"""The single numbers that are taken out before a JSET."""

MAX_TARGETS = 3
"""The places that a run before a JSET is tried with."""

INSTRUCTION = 64
"""The cost of an instruction beside the square of a chain's length."""


class Cell(NamedTuple):
    """An interval of a field, from `start` to the next cell's: the code it leads to, and how much that is run."""

    start: int
    target: int
    weight: int = 1


class Leaf(NamedTuple):
    """A run of cells: `singles` (cells) are taken out; what is left leads to `rest`, or, with `bits`, by
    `jset bits, yes, rest`.
    """

    first: int
    last: int
    rest: int
    singles: tuple[int, ...] = ()
    bits: int = 0
    yes: int = 0


def cut_into_leaves(field: Field, cells: list[Cell]) -> list[Leaf]:
    """Cut the cells into leaves of the least cost."""
    count = len(cells)
    finder = _Finder(field, cells)
    cost = [0] + [1 << 60] * count
    how: list[Leaf] = [Leaf(0, 0, 0)] * (count + 1)
    for first in range(count):
        for leaf in finder.leaves(first):
            length = len(leaf.singles) + (leaf.bits != 0)
            total = cost[first] + INSTRUCTION * (length + 1) + length * length
            for after in range(leaf.last + 1, first, -1):
                if cost[after] <= total:
                    break
                cost[after] = total
                how[after] = leaf
    leaves: list[Leaf] = []
    while count:
        leaves.append(_shortened(how[count], count - 1))
        count = how[count].first
    return leaves[::-1]


def _shortened(leaf: Leaf, last: int) -> Leaf:
    """Give a leaf without the cells behind `last`."""
    if leaf.last == last:
        return leaf
    return leaf._replace(last=last, singles=tuple([single for single in leaf.singles if single <= last]))


class _Finder:
    """Finds the leaves of some cells."""

    def __init__(self, field: Field, cells: list[Cell]) -> None:
        self.mask = field.mask
        self.starts = [cell.start for cell in cells]
        self.targets = [cell.target for cell in cells]
        self.ends = [*self.starts[1:], field.mask + 1]
        self.single = [next_in(self.mask, start + 1) >= end for start, end in zip(self.starts, self.ends, strict=True)]
        self.used = [bits_of_range(start, end - 1) for start, end in zip(self.starts, self.ends, strict=True)]

    def leaves(self, first: int) -> Iterator[Leaf]:
        """Give the longest leaves that begin with the cell `first`, of each kind and cost."""
        targets = self.targets[first : first + MAX_TAKEN_OUT + 2]
        one, *others = dict.fromkeys(targets)
        if not others:
            yield Leaf(first, first, one)
            return
        two = others[0]
        yield from self._chains(first, one)
        pairs = [(one, two), (two, one)]
        if self.single[first]:
            yield from self._chains(first, two)
            if len(others) > 1:
                pairs += [(two, others[1]), (others[1], two)]
        if len(targets) > 2:
            for rest, yes in pairs:
                yield from self._bits(first, rest, yes)

    def _chains(self, first: int, rest: int) -> Iterator[Leaf]:
        """Give the runs of `rest` with more and more single numbers in between."""
        singles: tuple[int, ...] = ()
        last = first
        for last in range(first, len(self.targets)):
            if self.targets[last] != rest:
                if last > first:
                    yield Leaf(first, last - 1, rest, singles)
                if not self.single[last] or len(singles) == MAX_CHAIN:
                    return
                singles = (*singles, last)
        yield Leaf(first, last, rest, singles)

    def _bits(self, first: int, rest: int, yes: int) -> Iterator[Leaf]:
        """Give the runs that one JSET parts, with more and more single numbers taken out.

        No number that leads to `rest` has a bit of the mask, every one that leads to `yes` has one. The mask is the
        bits that no number of `rest` has; where it fails, it fails for longer runs too.
        """
        singles: tuple[int, ...] = ()
        free = self.mask
        others: list[int] = []  # the cells of `yes`
        useful = 0  # the bits that their numbers have
        last = first
        for last in range(first, len(self.targets)):
            target = self.targets[last]
            if target == rest:
                left = free & ~self.used[last]
                fits = left == free or all(self._all_hit(left, i) for i in others)
                if fits:
                    free = left
            else:
                fits = target == yes and self._all_hit(free, last)
                if fits:
                    others.append(last)
                    useful |= self.used[last]
            if fits:
                continue
            if others and last > first + 2:
                yield Leaf(first, last - 1, rest, singles, free & useful, yes)
            if not self.single[last] or len(singles) == MAX_TAKEN_OUT:
                return
            singles = (*singles, last)
        if others and last > first + 1:
            yield Leaf(first, last, rest, singles, free & useful, yes)

    def _all_hit(self, mask: int, cell: int) -> bool:
        """Tell whether each number of a cell has a bit of the mask."""
        start, end = self.starts[cell], self.ends[cell]
        if start & mask == 0:
            return False
        without = FULL & ~mask
        return end - start == 1 or start > without or next_in(without, start) >= end
