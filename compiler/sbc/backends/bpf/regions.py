"""Regions: what a call's rules decide, as a diagram that cuts one field after the other into intervals.

A diagram is UNDECIDED, a verdict, or a node: a field and its cells, each an interval of the field with the diagram
that holds there. Fields come in one fixed order on every path, neighbouring cells differ, and equal diagrams are one;
so rules in any form that decide alike become alike, and a field is looked at once.

    allow socket when family < 38        family: 0..37 allow | 38 - | 39 allow | 40 - | 41.. allow
    allow socket when family == 39   ->
    allow socket when family > 40
"""

from collections.abc import Sequence

from sbc.backends.bpf.fields import Field, next_in
from sbc.backends.bpf.select import Every, Negation, Some, WordCondition, WordTest

UNDECIDED = 0
DECIDED = 1

_LEAF = 1 << 30  # a leaf's place in the order of fields: behind all


class TooWide(Exception):
    """The diagram does not fit its budget.

    Some rules (ranges on two arguments that overlap at random) have diagrams of quadratic size, though their code as
    a chain of tests is linear.
    """


class Regions:
    """The diagrams of one call, over `fields` in their order; `tests` is how many tests its rules have.

    The cells of n tests on one field are at most 2n + 1, made once in each of log n rounds of halves: four times as
    many may be made before `TooWide`.
    """

    def __init__(self, fields: Sequence[Field], tests: int) -> None:
        self.fields = tuple(fields)
        self._place = {field: place for place, field in enumerate(fields)}
        self.nodes: list[tuple[int, tuple[int, ...], tuple[int, ...]]] = [(_LEAF, (), ()), (_LEAF, (), ())]
        self._known: dict[tuple[int, tuple[int, ...], tuple[int, ...]], int] = {}
        self._leaves: dict[int, int] = {}
        self._values: dict[int, int] = {}
        self._combined: dict[tuple[bool, int, int], int] = {}
        self._left = 100 + tests * (8 + 4 * tests.bit_length())

    def leaf(self, value: int) -> int:
        """Give the diagram that decides `value` everywhere."""
        if value not in self._leaves:
            self._leaves[value] = len(self.nodes)
            self._values[len(self.nodes)] = value
            self.nodes.append((_LEAF, (), ()))
        return self._leaves[value]

    def value(self, diagram: int) -> int | None:
        """Give what `diagram` decides everywhere, or None where it is a node."""
        return self._values.get(diagram)

    def is_leaf(self, diagram: int) -> bool:
        """Tell whether `diagram` is the same everywhere."""
        return self.nodes[diagram][0] == _LEAF

    def node(self, place: int, starts: Sequence[int], children: Sequence[int]) -> int:
        """Give the diagram with these cells; neighbours that agree become one."""
        kept = [i for i in range(len(starts)) if i == 0 or children[i] != children[i - 1]]
        if len(kept) == 1:
            return children[0]
        key = (place, tuple([starts[i] for i in kept]), tuple([children[i] for i in kept]))
        known = self._known.get(key)
        if known is None:
            self._left -= len(kept)
            if self._left < 0:
                raise TooWide
            known = self._known[key] = len(self.nodes)
            self.nodes.append(key)
        return known

    def condition(self, condition: WordCondition) -> int:
        """Give the diagram that is decided exactly where the condition holds."""
        match condition:
            case WordTest(field=field, low=low, high=high):
                start, end = next_in(field.mask, low), next_in(field.mask, high + 1)
                starts, children = [start], [DECIDED]
                if start > 0:
                    starts, children = [0, start], [UNDECIDED, DECIDED]
                if end <= field.mask:
                    starts.append(end)
                    children.append(UNDECIDED)
                return self.node(self._place[field], starts, children)
            case Negation(operand=operand):
                return self._negated(self.condition(operand), {UNDECIDED: DECIDED})
            case Every(operands=operands):
                return self._balanced([self.condition(operand) for operand in operands], False, DECIDED)
            case Some(operands=operands):
                return self.first([self.condition(operand) for operand in operands])

    def when(self, condition: int, then: int) -> int:
        """Give `then` where `condition` is decided, UNDECIDED elsewhere."""
        return self._combine(False, condition, then)

    def first(self, diagrams: list[int]) -> int:
        """Give what the first diagram that decides says: halves first, so that n rules take n log n steps."""
        return self._balanced(diagrams, True, UNDECIDED)

    def _balanced(self, diagrams: list[int], either: bool, empty: int) -> int:
        while len(diagrams) > 1:
            pairs = zip(diagrams[::2], diagrams[1::2], strict=False)
            odd = diagrams[-1:] if len(diagrams) % 2 else []
            diagrams = [self._combine(either, a, b) for a, b in pairs] + odd
        return diagrams[0] if diagrams else empty

    def _negated(self, diagram: int, known: dict[int, int]) -> int:
        place, starts, children = self.nodes[diagram]
        if diagram not in known:
            known[diagram] = (
                UNDECIDED if place == _LEAF else self.node(place, starts, [self._negated(c, known) for c in children])
            )
        return known[diagram]

    def _combine(self, either: bool, one: int, two: int) -> int:
        """`either`: `one`, and `two` where it is undecided. Otherwise: `two` where `one` is decided."""
        if one == UNDECIDED:
            return two if either else UNDECIDED
        place, starts, children = self.nodes[one]
        if place == _LEAF:
            return one if either else two
        if two == UNDECIDED:
            return one if either else UNDECIDED
        if one == two:
            return one
        key = (either, one, two)
        known = self._combined.get(key)
        if known is not None:
            return known
        other_place, other_starts, other_children = self.nodes[two]
        if place < other_place:
            merged = self.node(place, starts, [self._combine(either, child, two) for child in children])
        elif place > other_place:
            merged = self.node(
                other_place, other_starts, [self._combine(either, one, child) for child in other_children]
            )
        else:
            merged = self._merged(either, one, two)
        self._combined[key] = merged
        return merged

    def _merged(self, either: bool, one: int, two: int) -> int:
        """Combine two nodes of one field: sweep over the starts of both."""
        place, starts_one, children_one = self.nodes[one]
        _, starts_two, children_two = self.nodes[two]
        starts: list[int] = []
        children: list[int] = []
        i = j = 0
        while True:
            child = self._combine(either, children_one[i], children_two[j])
            if not children or children[-1] != child:
                starts.append(max(starts_one[i], starts_two[j]))
                children.append(child)
            after_one = starts_one[i + 1] if i + 1 < len(starts_one) else 1 << 32
            after_two = starts_two[j + 1] if j + 1 < len(starts_two) else 1 << 32
            if after_one == after_two == 1 << 32:
                return self.node(place, starts, children)
            i += after_one <= after_two
            j += after_two <= after_one
