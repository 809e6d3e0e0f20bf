"""Feasibility: cells that no value of a word can reach are taken out of a diagram.

Fields of one word are not independent: where `x & 1 == 1`, `x & 3` is never 2. Without this pass three rules that
together allow a call for every argument (`x & 1 == 1`, `x & 3 == 0`, `x & 3 == 2`) would leave a test in its way, and
the kernel would not cache the call. Fields of different words are independent, so a path is feasible where its
fields of each word are.
"""

from sbc.backends.bpf.fields import FULL
from sbc.backends.bpf.regions import Regions

STEPS = 10_000
"""Cells to look at before the pass gives up and leaves the diagram, which is right as it is."""

HARD = 100
"""The cells among them for which only the search bit by bit can tell."""

Interval = tuple[int, int, int]
"""A mask and the bounds, both in, of the word under it."""


class _GivesUp(Exception):
    """The diagram has too many paths."""


def guess(intervals: tuple[Interval, ...]) -> bool | None:
    """Tell, where a look is enough, whether some 32-bit word lies in every interval.

    The equalities fix some bits. No word fits where they contradict each other or an interval of fixed bits alone;
    one does where one of a few words does: the fixed bits with all others 0, all others 1, or those of a bound.
    """
    fixed = value = 0
    for mask, low, high in intervals:
        if low == high:
            if (value ^ low) & fixed & mask:
                return False
            fixed |= mask
            value |= low
    candidates = [value, value | FULL & ~fixed]
    for mask, low, high in intervals:
        if mask & ~fixed == 0 and not low <= value & mask <= high:
            return False
        candidates += [value | low & ~fixed, value | high & ~fixed]
    if any(all(low <= word & mask <= high for mask, low, high in intervals) for word in candidates):
        return True
    return None


def feasible(intervals: tuple[Interval, ...]) -> bool:
    """Tell whether some 32-bit word lies in every interval: bit by bit, keeping the distinct states of all prefixes.

    The state of an interval is whether the prefix still equals that of its low bound, and of its high bound.
    """
    states = {tuple((True, True) for _ in intervals)}
    for bit in (1 << place for place in range(31, -1, -1)):
        after: set[tuple[tuple[bool, bool], ...]] = set()
        for state in states:
            for value in (0, bit):
                moved = _moved(intervals, state, bit, value)
                if moved is not None:
                    after.add(moved)
        if not after:
            return False
        states = after
    return True


def _moved(
    intervals: tuple[Interval, ...], state: tuple[tuple[bool, bool], ...], bit: int, value: int
) -> tuple[tuple[bool, bool], ...] | None:
    moved: list[tuple[bool, bool]] = []
    for (mask, low, high), (at_low, at_high) in zip(intervals, state, strict=True):
        seen = value & mask
        if (at_low and seen < low & bit) or (at_high and seen > high & bit):
            return None
        moved.append((at_low and seen == low & bit, at_high and seen == high & bit))
    return tuple(moved)


def pruned(regions: Regions, diagram: int) -> int:
    """Give the diagram without cells that no argument reaches."""
    masks: dict[int, int] = {}
    shared: set[int] = set()  # the words whose fields have bits in common
    for field in regions.fields:
        if masks.get(field.offset, 0) & field.mask:
            shared.add(field.offset)
        masks[field.offset] = masks.get(field.offset, 0) | field.mask
    if not shared:
        return diagram
    try:
        return _Pruner(regions, shared).pruned(diagram, -1, ())
    except _GivesUp:
        return diagram


class _Pruner:
    def __init__(self, regions: Regions, shared: set[int]) -> None:
        self.regions = regions
        self.shared = shared
        self.known: dict[tuple[int, tuple[Interval, ...]], int] = {}
        self.steps = STEPS
        self.hard = HARD

    def pruned(self, diagram: int, offset: int, path: tuple[Interval, ...]) -> int:
        """Prune below a path, whose cells on the word at `offset` are `path`."""
        if self.regions.is_leaf(diagram):
            return diagram
        place, starts, children = self.regions.nodes[diagram]
        field = self.regions.fields[place]
        if field.offset != offset:
            path = ()
        key = (diagram, path)
        if key not in self.known:
            kept: list[tuple[int, int]] = []
            for i, (start, child) in enumerate(zip(starts, children, strict=True)):
                self.steps -= 1
                if self.steps < 0:
                    raise _GivesUp
                last = starts[i + 1] - 1 if i + 1 < len(starts) else field.mask
                inside = (*path, (field.mask, start, last)) if field.offset in self.shared else ()
                if not path or self._feasible(inside):
                    kept.append((start if kept else 0, self.pruned(child, field.offset, inside)))
            self.known[key] = self.regions.node(place, [start for start, _ in kept], [child for _, child in kept])
        return self.known[key]

    def _feasible(self, intervals: tuple[Interval, ...]) -> bool:
        answer = guess(intervals)
        if answer is None:
            self.hard -= 1
            if self.hard < 0:
                raise _GivesUp
            return feasible(intervals)
        return answer
