"""Feasibility: cells that no value of a word can reach are taken out of a diagram.

Fields of one word are not independent: where `x & 1 == 1`, `x & 3` is never 2. Without this pass three rules that
together allow a call for every argument (`x & 1 == 1`, `x & 3 == 0`, `x & 3 == 2`) would leave a test in its way, and
the kernel would not cache the call. Fields of different words are independent, so a path is feasible where its
fields of each word are.
"""

from sbc.backends.bpf.regions import Regions

STEPS = 20_000
"""Cells to look at before the pass gives up and leaves the diagram, which is right as it is."""

Interval = tuple[int, int, int]
"""A mask and the bounds, both in, of the word under it."""


class _GivesUp(Exception):
    """The diagram has too many paths."""


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
    offsets = [field.offset for field in regions.fields]
    if len(offsets) == len(set(offsets)):
        return diagram
    try:
        return _Pruner(regions).pruned(diagram, -1, ())
    except _GivesUp:
        return diagram


class _Pruner:
    def __init__(self, regions: Regions) -> None:
        self.regions = regions
        self.known: dict[tuple[int, tuple[Interval, ...]], int] = {}
        self.steps = STEPS

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
                inside = (*path, (field.mask, start, last))
                if not path or feasible(inside):
                    kept.append((start if kept else 0, self.pruned(child, field.offset, inside)))
            self.known[key] = self.regions.node(place, [start for start, _ in kept], [child for _, child in kept])
        return self.known[key]
