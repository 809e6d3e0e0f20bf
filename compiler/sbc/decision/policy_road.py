"""The first road to a diagram: from the policy, read literally.

Shares nothing with the second road (`program_road`) but the node table. The rules of one number become a diagram over
its arguments; the numbers of an ABI become sorted intervals, equal neighbours merged; the intervals become the tree
over the bits of `nr`, and the architectures' trees the tree over the bits of `arch`. So the work grows with the rules,
not with rules times numbers.
"""

from bisect import bisect_right
from collections.abc import Iterable

from sbc.decision.table import FALSE, TRUE, Table, TooComplex
from sbc.decision.words import ARCH, BITS, NR, WORD_MASK, low_word
from sbc.policy.conditions import AllOf, AnyOf, Between, Condition, Masked, Not
from sbc.policy.syscalls import AbiRules, FilterPolicy, Rule

Interval = tuple[int, int, int]
"""First value, last value, diagram."""


def diagram_of_policy(table: Table, policy: FilterPolicy) -> int:
    """Give the diagram of what a filter must decide, for every `seccomp_data`."""
    foreign = table.terminal(policy.foreign)
    by_audit: dict[int, list[AbiRules]] = {}
    for abi in policy.abis:
        by_audit.setdefault(abi.arch.audit, []).append(abi)
    arches: list[Interval] = []
    for audit, abis in by_audit.items():
        numbers = [interval for abi in abis for interval in number_intervals(table, abi)]
        arches.append((audit, audit, tree_of_intervals(table, NR, _filled(numbers, foreign))))
    return tree_of_intervals(table, ARCH, _filled(arches, foreign))


def number_intervals(table: Table, abi: AbiRules) -> list[Interval]:
    """Give what one ABI decides for each of its numbers, as sorted intervals without gaps."""
    first, last = abi.arch.first_number, abi.arch.last_number
    default = table.terminal(abi.default)
    backdrop = [(first, last, default)]
    if abi.newer is not None:
        low, high = max(abi.newer.low, first), min(abi.newer.high, last)
        if low <= high:
            backdrop = _overlaid(backdrop, [(low, high, table.terminal(abi.newer.verdict))])
    by_number: dict[int, list[Rule]] = {}
    for rule in abi.rules:
        if first <= rule.number <= last:
            by_number.setdefault(rule.number, []).append(rule)
    single: list[Interval] = []
    starts = [interval[0] for interval in backdrop]
    for number in sorted(by_number):
        undecided = backdrop[bisect_right(starts, number) - 1][2]
        single.append((number, number, _diagram_of_rules(table, by_number[number], undecided)))
    return _overlaid(backdrop, single)


def _diagram_of_rules(table: Table, rules: list[Rule], undecided: int) -> int:
    """Give what the rules of one number decide; `undecided` where none holds."""
    made = undecided
    try:
        for rule in reversed(rules):
            made = table.choose(diagram_of_condition(table, rule.condition), table.terminal(rule.verdict), made)
    except TooComplex as error:
        raise TooComplex(error.what, rules[0].number, rules[0].call) from None
    return made


def diagram_of_condition(table: Table, condition: Condition) -> int:
    """Give the set of inputs on which a condition holds."""
    match condition:
        case AllOf(operands=operands):
            made = TRUE
            for operand in operands:
                made = table.both(made, diagram_of_condition(table, operand))
            return made
        case AnyOf(operands=operands):
            made = FALSE
            for operand in operands:
                made = table.either(made, diagram_of_condition(table, operand))
            return made
        case Not(operand=operand):
            return table.outside(diagram_of_condition(table, operand))
        case Masked():
            return _masked(table, condition)
        case Between():
            return table.both(_at_least(table, condition), _at_most(table, condition))


def _variable(arg: int, bit: int) -> int:
    """Give the variable of bit 0..63 of an argument: its high word's variables come just before its low word's."""
    return BITS * low_word(arg) + BITS - 1 - bit


def _masked(table: Table, test: Masked) -> int:
    made = TRUE
    for bit in range(test.mask.bit_length()):
        if test.mask >> bit & 1:
            variable = _variable(test.arg, bit)
            made = table.node(variable, FALSE, made) if test.value >> bit & 1 else table.node(variable, made, FALSE)
    return made


def _at_least(table: Table, test: Between) -> int:
    made = TRUE
    for bit in range(test.width):
        variable = _variable(test.arg, bit)
        made = table.node(variable, FALSE, made) if test.low >> bit & 1 else table.node(variable, made, TRUE)
    return made


def _at_most(table: Table, test: Between) -> int:
    made = TRUE
    for bit in range(test.width):
        variable = _variable(test.arg, bit)
        made = table.node(variable, TRUE, made) if test.high >> bit & 1 else table.node(variable, made, FALSE)
    return made


def _overlaid(backdrop: list[Interval], single: Iterable[Interval]) -> list[Interval]:
    """Lay the sorted `single` numbers over the intervals of the backdrop."""
    made: list[Interval] = []
    above = iter(single)
    cut = next(above, None)
    for low, high, diagram in backdrop:
        start = low
        while cut is not None and cut[0] <= high:
            if start < cut[0]:
                made.append((start, cut[0] - 1, diagram))
            made.append(cut)
            start = cut[1] + 1
            cut = next(above, None)
        if start <= high:
            made.append((start, high, diagram))
    return made


def _filled(intervals: list[Interval], rest: int) -> list[Interval]:
    """Fill the gaps of a word's intervals with `rest`."""
    return _overlaid([(0, WORD_MASK, rest)], sorted(intervals))


def tree_of_intervals(table: Table, word: int, intervals: list[Interval]) -> int:
    """Give the tree over the bits of a word that leads to each interval's diagram; no gaps, sorted."""
    merged: list[Interval] = []
    for low, high, diagram in intervals:
        if merged and merged[-1][2] == diagram:
            merged[-1] = (merged[-1][0], high, diagram)
        else:
            merged.append((low, high, diagram))
    starts = [interval[0] for interval in merged]

    def tree(bit: int, low: int, first: int, last: int) -> int:
        """Give the tree for the values whose bits above `bit` are those of `low`: `merged[first..last]` meet them."""
        if first == last:
            return merged[first][2]
        middle = low + (1 << bit)
        split = bisect_right(starts, middle, first, last + 1) - 1
        left_last = split - 1 if starts[split] == middle else split
        return table.node(
            BITS * word + BITS - 1 - bit, tree(bit - 1, low, first, left_last), tree(bit - 1, middle, split, last)
        )

    return tree(BITS - 1, 0, 0, len(merged) - 1)
