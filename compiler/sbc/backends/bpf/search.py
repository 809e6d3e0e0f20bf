"""Search: a value is in one of many intervals; find out which with few instructions, the heavy ones soon.

`leaves` cuts the cells into leaves so that the code is smallest; here a tree of JGE over them is made so that the
path to each cell, weighted by how much it is run, is shortest.
"""

from bisect import bisect_left

from sbc.backends.bpf.code import Code
from sbc.backends.bpf.fields import FULL, Field, next_in
from sbc.backends.bpf.leaves import Cell, Leaf, cut_into_leaves
from sbc_runtime.instruction import JEQ, JGE, JSET

SMALL_TREE = 48
"""Leaves up to which the best tree is found; above, weights are halved, which costs less time."""


def search(code: Code, field: Field, cells: list[Cell]) -> int:
    """Give the code that finds the field's cell. The first cell starts at 0, the last ends at the mask."""
    cells = merged(cells)
    if len(cells) == 1:
        return cells[0].target
    if len(cells) == 2 and cells[1].start & (cells[1].start - 1) == 0 and field.mask != FULL:
        # x & m >= 2^n where a bit of m from n up is set: no AND, and the accumulator keeps the word
        return code.test(field, JSET, field.mask & -cells[1].start, cells[1].target, cells[0].target)
    if len(cells) == 2:
        return code.test(field, JGE, cells[1].start, cells[1].target, cells[0].target)
    if len(cells) == 3 and cells[0].target == cells[2].target:
        one = cells[1].start
        if next_in(field.mask, one + 1) >= cells[2].start:
            return code.test(field, JEQ, one, cells[1].target, cells[0].target)
    return _Tree(code, field, cells).build()


def merged(cells: list[Cell]) -> list[Cell]:
    """Join neighbours that lead to one place."""
    joined: list[Cell] = []
    for cell in cells:
        if joined and joined[-1].target == cell.target:
            joined[-1] = Cell(joined[-1].start, cell.target, joined[-1].weight + cell.weight)
        else:
            joined.append(cell)
    return joined


class _Tree:
    """The tree over the leaves of some cells."""

    def __init__(self, code: Code, field: Field, cells: list[Cell]) -> None:
        self.code = code
        self.field = field
        self.cells = cells
        self.leaves = cut_into_leaves(field, cells)
        self.sums = [0]  # the weight of all leaves before each
        for leaf in self.leaves:
            weight = sum(cell.weight for cell in cells[leaf.first : leaf.last + 1])
            self.sums.append(self.sums[-1] + weight + 1)
        self.cuts: dict[tuple[int, int], int] = {}

    def build(self) -> int:
        """Give the code that finds the cell."""
        return self._build(0, len(self.leaves))

    def _build(self, low: int, high: int) -> int:
        """Give the code for the leaves low..high-1."""
        if high - low == 1:
            return self._leaf(self.leaves[low])
        if high - low > SMALL_TREE:
            cut = self._middle(low, high)
        else:
            if (low, high) not in self.cuts:
                self._find_cuts(low, high)
            cut = self.cuts[low, high]
        start = self.cells[self.leaves[cut].first].start
        below = self._build(low, cut)
        return self.code.test(self.field, JGE, start, self._build(cut, high), below)

    def _middle(self, low: int, high: int) -> int:
        """Give the cut whose two sides weigh most alike."""
        half = (self.sums[low] + self.sums[high]) / 2
        cut = bisect_left(self.sums, half, low + 1, high - 1)
        if cut > low + 1 and half - self.sums[cut - 1] < self.sums[cut] - half:
            cut -= 1
        return cut

    def _find_cuts(self, low: int, high: int) -> None:
        """Fill in the cuts of the tree of least weighted depth, for every run of leaves within low..high-1.

        Knuth's dynamic program: the best cut of a run lies between those of the run without its last and without
        its first leaf.
        """
        sums, cuts = self.sums, self.cuts
        cost = {(i, i + 1): 0 for i in range(low, high)}
        for length in range(2, high - low + 1):
            for i in range(low, high - length + 1):
                j = i + length
                first = cuts[i, j - 1] if length > 2 else i + 1
                last = cuts[i + 1, j] if length > 2 else i + 1
                best = min((cost[i, cut] + cost[cut, j], cut) for cut in range(first, last + 1))
                cost[i, j] = best[0] + sums[j] - sums[i]
                cuts[i, j] = best[1]

    def _leaf(self, leaf: Leaf) -> int:
        node = leaf.rest
        if leaf.bits:
            node = self.code.test(self.field, JSET, leaf.bits, leaf.yes, leaf.rest)
        for i in sorted(leaf.singles, key=lambda i: (self.cells[i].weight, -i)):
            node = self.code.test(self.field, JEQ, self.cells[i].start, self.cells[i].target, node)
        return node
