"""Leaves: runs of neighbouring cells of a field that one short piece of code can tell apart.

A leaf of one cell needs no code. Others (cells A, B, C by what they lead to):

- *chain*: all but some single numbers lead to one place: `A 41:B A 56:C A` is `jeq 41, B; jeq 56, C, A`. A JEQ
  takes a number out and lets its neighbours join: one instruction where a tree of JGE would need two;
- *bits*: one JSET parts the cells: `246:A 247:B 248:A 249:B` is `jset 1, B, A`.

A tree over n leaves has n - 1 JGE whatever its shape, so size is decided by the leaves alone: a dynamic program
finds the cut of the least size, and, among those, of the shortest chains.
"""

from typing import NamedTuple

from sbc.backends.bpf.fields import FULL, Field, bits_of_range, next_in

MAX_CHAIN = 7
"""The longest chain of a leaf: what is saved by longer ones is small, and the path is long."""

INSTRUCTION = 64
"""The cost of an instruction beside the square of a chain's length."""


class Cell(NamedTuple):
    """An interval of a field, from `start` to the next cell's: the code it leads to, and how much that is run."""

    start: int
    target: int
    weight: int = 1


class Leaf(NamedTuple):
    """A run of cells: a chain of `singles` (cells taken out) before `rest`, or, with `bits`, `jset bits, yes, rest`."""

    first: int
    last: int
    rest: int
    singles: tuple[int, ...] = ()
    bits: int = 0
    yes: int = 0


def cut_into_leaves(field: Field, cells: list[Cell]) -> list[Leaf]:
    """Cut the cells into leaves of the least cost."""
    count = len(cells)
    ends = [cell.start for cell in cells[1:]] + [field.mask + 1]
    single = [next_in(field.mask, cell.start + 1) >= end for cell, end in zip(cells, ends, strict=True)]
    cost = [0] + [1 << 60] * count
    how: list[Leaf] = [Leaf(0, 0, 0)] * (count + 1)
    for first in range(count):
        for leaf in (*_chains(cells, single, first), *_bits(field, cells, ends, first)):
            length = 1 if leaf.bits else len(leaf.singles)
            total = cost[first] + INSTRUCTION * (length + 1) + length * length
            if total < cost[leaf.last + 1]:
                cost[leaf.last + 1] = total
                how[leaf.last + 1] = leaf
    leaves: list[Leaf] = []
    while count:
        leaves.append(how[count])
        count = how[count].first
    return leaves[::-1]


def _chains(cells: list[Cell], single: list[bool], first: int) -> list[Leaf]:
    leaves = [Leaf(first, first, cells[first].target)]
    rests = [cells[first].target]
    if single[first] and first + 1 < len(cells):
        rests.append(cells[first + 1].target)
    for rest in rests:
        singles: tuple[int, ...] = ()
        for last in range(first, len(cells)):
            if cells[last].target != rest:
                if not single[last] or len(singles) == MAX_CHAIN:
                    break
                singles = (*singles, last)
            if last > first and singles:
                leaves.append(Leaf(first, last, rest, singles))
    return leaves


def _bits(field: Field, cells: list[Cell], ends: list[int], first: int) -> list[Leaf]:
    """Find runs that one JSET parts: no number of one side has a bit of the mask, every number of the other has one.

    The mask is the bits that no number of the one side has; where it fails, it fails for longer runs too.
    """
    leaves: list[Leaf] = []
    sides: list[tuple[int, list[int]]] = []  # target, cells
    used = [0, 0]  # all bits of each side's numbers
    good = [True, True]  # whether the mask of the bits that side i has not works
    for last in range(first, len(cells)):
        target = cells[last].target
        side = next((i for i, known in enumerate(sides) if known[0] == target), len(sides))
        if side == 2:
            break
        if side == len(sides):
            sides.append((target, []))
        sides[side][1].append(last)
        used[side] |= bits_of_range(cells[last].start, ends[last] - 1)
        if len(sides) < 2:
            continue
        for zero in (0, 1):
            free = field.mask & ~used[zero]
            good[zero] = good[zero] and all(
                next_in(FULL & ~free, cells[i].start) >= ends[i] for i in sides[1 - zero][1]
            )
        if not any(good):
            break
        if last > first + 1:
            zero = 0 if good[0] else 1
            mask = field.mask & ~used[zero] & used[1 - zero]
            leaves.append(Leaf(first, last, sides[zero][0], bits=mask, yes=sides[1 - zero][0]))
    return leaves
