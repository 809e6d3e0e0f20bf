"""Leaves: runs of neighbouring cells of a field that one short piece of code can tell apart.

A leaf of one cell needs no code. Others (cells A, B, C by what they lead to):

- *chain*: all but some single numbers lead to one place: `A 41:B A 56:C A` is `jeq 41, B; jeq 56, C, A`. A JEQ
  takes a number out and lets its neighbours join: one instruction where a tree of JGE would need two;
- *bits*: one JSET parts the cells, some single numbers again taken out before: `246:A 247:B 248:A 249:B` is
  `jset 1, B, A`; `0:A 1:B 8:A 9:B 0xffffffff:A` is `jeq 0xffffffff, A; jset 0xfffffff7, B, A`.

A tree over n leaves has n - 1 JGE whatever its shape, so size is decided by the leaves alone: a dynamic program
finds the cut of the least size, and, among those, of the shortest chains.
"""

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
    ends = [cell.start for cell in cells[1:]] + [field.mask + 1]
    single = [next_in(field.mask, cell.start + 1) >= end for cell, end in zip(cells, ends, strict=True)]
    cost = [0] + [1 << 60] * count
    how: list[Leaf] = [Leaf(0, 0, 0)] * (count + 1)
    for first in range(count):
        for leaf in (*_chains(cells, single, first), *_bits(field, cells, ends, single, first)):
            length = len(leaf.singles) + (leaf.bits != 0)
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


def _bits(field: Field, cells: list[Cell], ends: list[int], single: list[bool], first: int) -> list[Leaf]:
    """Find runs that one JSET parts, after a few single numbers are taken out.

    No number of one side (`rest`) has a bit of the mask, every number of the other has one. The mask is the bits that
    no number of `rest` has; where it fails, it fails for longer runs too.
    """
    targets = list(dict.fromkeys(cell.target for cell in cells[first : first + MAX_TAKEN_OUT + 2]))
    leaves: list[Leaf] = []
    for rest in targets[:MAX_TARGETS]:
        for yes in targets[:MAX_TARGETS]:
            if rest != yes:
                leaves.extend(_bits_between(field, cells, ends, single, first, rest, yes))
    return leaves


def _bits_between(
    field: Field, cells: list[Cell], ends: list[int], single: list[bool], first: int, rest: int, yes: int
) -> list[Leaf]:
    leaves: list[Leaf] = []
    singles: tuple[int, ...] = ()
    free = field.mask  # the bits that no number of `rest` has
    others: list[int] = []  # the cells of `yes`
    for last in range(first, len(cells)):
        start, end, target = cells[last].start, ends[last], cells[last].target
        if target == rest:
            left = free & ~bits_of_range(start, end - 1)
            fits = all(_all_hit(left, cells[i].start, ends[i]) for i in others)
            if fits:
                free = left
        else:
            fits = target == yes and _all_hit(free, start, end)
            if fits:
                others.append(last)
        if not fits:
            if not single[last] or len(singles) == MAX_TAKEN_OUT:
                break
            singles = (*singles, last)
        if last > first + 1 and others:
            used = bits_of_range(0, max(ends[i] - 1 for i in others))
            leaves.append(Leaf(first, last, rest, singles, free & used, yes))
    return leaves


def _all_hit(mask: int, start: int, end: int) -> bool:
    """Tell whether each number from `start` to before `end` has a bit of the mask."""
    without = FULL & ~mask
    return start > without or next_in(without, start) >= end
