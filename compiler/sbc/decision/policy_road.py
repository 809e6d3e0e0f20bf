"""The first road to a diagram: from the policy, read literally.

Shares nothing with the second road (`program_road`) but the node table. The rules of one number become a diagram over
its arguments; the numbers of an ABI become sorted intervals, equal neighbours merged; the intervals become the tree
over the bits of `nr`, and the architectures' trees the tree over the bits of `arch`. So the work grows with the rules,
not with rules times numbers.
"""

from bisect import bisect_right

from sbc.decision.first_match import first_match
from sbc.decision.intervals import Interval, overlaid, tree
from sbc.decision.ranges import Ranges, ranges_of
from sbc.decision.table import FALSE, TRUE, Table, TooComplex
from sbc.decision.words import ARCH, BITS, NR, WORD_MASK, low_word
from sbc.policy.conditions import ALWAYS, AllOf, AnyOf, Between, Condition, Masked, Not
from sbc.policy.syscalls import AbiRules, FilterPolicy, Rule


def diagram_of_policy(table: Table, policy: FilterPolicy) -> int:
    """Give the diagram of what a filter must decide, for every `seccomp_data`."""
    foreign = (0, WORD_MASK, table.terminal(policy.foreign))
    by_audit: dict[int, list[AbiRules]] = {}
    for abi in policy.abis:
        by_audit.setdefault(abi.arch.audit, []).append(abi)
    arches: list[Interval] = []
    for audit, abis in sorted(by_audit.items()):
        numbers = sorted(interval for abi in abis for interval in number_intervals(table, abi))
        arches.append((audit, audit, tree(table, BITS * NR, BITS, overlaid([foreign], numbers))))
    return tree(table, BITS * ARCH, BITS, overlaid([foreign], arches))


def number_intervals(table: Table, abi: AbiRules) -> list[Interval]:
    """Give what one ABI decides for each of its numbers, as sorted intervals without gaps."""
    first, last = abi.arch.first_number, abi.arch.last_number
    backdrop = [(first, last, table.terminal(abi.default))]
    if abi.newer is not None:
        low, high = max(abi.newer.low, first), min(abi.newer.high, last)
        if low <= high:
            backdrop = overlaid(backdrop, [(low, high, table.terminal(abi.newer.verdict))])
    by_number: dict[int, list[Rule]] = {}
    for rule in abi.rules:
        if first <= rule.number <= last:
            by_number.setdefault(rule.number, []).append(rule)
    starts = [interval[0] for interval in backdrop]
    decided: list[Interval] = []
    for number in sorted(by_number):
        undecided = backdrop[bisect_right(starts, number) - 1][2]
        decided.append((number, number, _diagram_of_rules(table, by_number[number], undecided)))
    return overlaid(backdrop, decided)


def _diagram_of_rules(table: Table, rules: list[Rule], undecided: int) -> int:
    """Give what the rules of one number decide; `undecided` where none holds."""
    asking: list[tuple[Condition, int]] = []
    for rule in rules:
        verdict = table.terminal(rule.verdict)
        if rule.condition is ALWAYS or rule.condition == ALWAYS:
            undecided = verdict
            break
        asking.append((rule.condition, verdict))
    if not asking:
        return undecided
    try:
        ranges = [(asked, verdict) for condition, verdict in asking if (asked := ranges_of(condition)) is not None]
        made = first_match(table, ranges, undecided) if len(ranges) == len(asking) else None
        return _one_by_one(table, asking, undecided) if made is None else made
    except TooComplex as error:
        raise TooComplex(error.what, rules[0].number, rules[0].call) from None


def _one_by_one(table: Table, rules: list[tuple[Condition, int]], undecided: int) -> int:
    """Give what rules decide, whatever their conditions: the last first, each before what follows it."""
    made = undecided
    for condition, verdict in reversed(rules):
        made = table.choose(diagram_of_condition(table, condition), verdict, made)
    return made


def diagram_of_condition(table: Table, condition: Condition) -> int:
    """Give the set of inputs on which a condition holds."""
    asked = ranges_of(condition)
    if asked is not None:
        return _within(table, asked)
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
            raise AssertionError("a range is always a range")


def _within(table: Table, asked: Ranges) -> int:
    inside = [(low, high, TRUE) for low, high in asked.ranges]
    outside = [(0, (1 << asked.width) - 1, FALSE)]
    return tree(table, BITS * low_word(asked.arg) + BITS - asked.width, asked.width, overlaid(outside, inside))


def _masked(table: Table, test: Masked) -> int:
    """Give a masked equality: the bits of the mask from the lowest up, all others free."""
    made = TRUE
    for bit in range(test.mask.bit_length()):
        if test.mask >> bit & 1:
            variable = BITS * low_word(test.arg) + BITS - 1 - bit
            made = table.node(variable, FALSE, made) if test.value >> bit & 1 else table.node(variable, made, FALSE)
    return made
