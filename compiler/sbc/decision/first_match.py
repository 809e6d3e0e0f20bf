"""The diagram of rules that each ask for ranges of one argument.

The first rule that holds decides. Going through the arguments in the order of the variables, all that matters of the
arguments seen so far is the first rule that they make hold: the rules before it that ask for later arguments are still
open, the others are settled. So the states are pairs of an argument and a rule.
"""

from heapq import heappop, heappush

from sbc.decision.intervals import Interval, tree
from sbc.decision.ranges import Ranges
from sbc.decision.table import Table
from sbc.decision.words import BITS, low_word


def first_match(table: Table, rules: list[tuple[Ranges, int]], undecided: int) -> int | None:
    """Give the diagram of rules (ranges and verdict's terminal); None where two ask for one argument by two widths."""
    by_arg: dict[int, list[tuple[int, Ranges]]] = {}
    for index, (asked, _) in enumerate(rules):
        by_arg.setdefault(asked.arg, []).append((index, asked))
    if any(len({asked.width for _, asked in group}) > 1 for group in by_arg.values()):
        return None
    order = sorted(by_arg)
    verdicts = [verdict for _, verdict in rules] + [undecided]
    known: dict[tuple[int, int], int] = {}

    def decided(place: int, first: int) -> int:
        """Give what the arguments from `place` on decide, where `first` is the first rule that holds so far."""
        if place == len(order):
            return verdicts[first]
        found = known.get((place, first))
        if found is None:
            group = [(index, asked) for index, asked in by_arg[order[place]] if index < first]
            found = known[place, first] = split(place, first, group) if group else decided(place + 1, first)
        return found

    def split(place: int, first: int, group: list[tuple[int, Ranges]]) -> int:
        width = group[0][1].width
        parts = [(low, high, decided(place + 1, index)) for low, high, index in _first_holding(group, first, width)]
        return tree(table, BITS * low_word(order[place]) + BITS - width, width, parts)

    return decided(0, len(rules))


def _first_holding(group: list[tuple[int, Ranges]], first: int, width: int) -> list[Interval]:
    """Give, for each interval of the argument's values, the first rule of the group that holds; else `first`."""
    starting: list[tuple[int, int, int]] = sorted(
        (low, high, index) for index, asked in group for low, high in asked.ranges
    )
    cuts = sorted({0, *(low for low, _, _ in starting), *(high + 1 for _, high, _ in starting)})
    end = 1 << width
    open_rules: list[tuple[int, int]] = []
    made: list[Interval] = []
    following = 0
    for place, cut in enumerate(cuts):
        if cut == end:
            break
        while following < len(starting) and starting[following][0] <= cut:
            _, high, index = starting[following]
            heappush(open_rules, (index, high))
            following += 1
        while open_rules and open_rules[0][1] < cut:
            heappop(open_rules)
        last = cuts[place + 1] - 1 if place + 1 < len(cuts) else end - 1
        made.append((cut, last, open_rules[0][0] if open_rules else first))
    return made
