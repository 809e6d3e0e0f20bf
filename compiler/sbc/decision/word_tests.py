"""The fast path of the program road: one test on the bits of one word, laid over two diagrams.

A jump of a real filter compares a word, maybe masked, with a constant. Such a test follows one line down the bits of
the word, so it needs no general if-then-else: each step leaves one branch to `then` or `other` as they stand there.
"""

from sbc.decision.table import FALSE, TRUE, Table
from sbc.decision.words import BITS, MaskedWord

_TOP = 1 << BITS


def where_equal(table: Table, asked: MaskedWord, constant: int, then: int, other: int) -> int:
    """Give the diagram that is `then` where `word & mask == constant`, else `other`."""
    word, mask = asked
    if then == other or constant & ~mask:
        return other
    first = BITS * word
    variable, low, high = table.variable, table.low, table.high
    if variable[then] < first or variable[other] < first:
        return table.choose(where_equal(table, asked, constant, TRUE, FALSE), then, other)
    untaken: list[tuple[int, int]] = []
    inside, outside = then, other
    for level in range(first, first + BITS):
        bit = 1 << first + BITS - 1 - level
        if not mask & bit:
            if variable[inside] == level or variable[outside] == level:
                return table.choose(where_equal(table, asked, constant, TRUE, FALSE), then, other)
            continue
        side = outside
        if constant & bit:
            if variable[outside] == level:
                side, outside = low[outside], high[outside]
            if variable[inside] == level:
                inside = high[inside]
        else:
            if variable[outside] == level:
                outside, side = low[outside], high[outside]
            if variable[inside] == level:
                inside = low[inside]
        untaken.append((level, side))
    node = table.node
    for level, side in reversed(untaken):
        taken = constant >> first + BITS - 1 - level & 1
        inside = node(level, side, inside) if taken else node(level, inside, side)
    return inside


def where_at_least(table: Table, asked: MaskedWord, constant: int, then: int, other: int) -> int:
    """Give the diagram that is `then` where `word & mask >= constant` (0..2^32), else `other`."""
    word, mask = asked
    if then == other or constant == 0:
        return then
    if constant >= _TOP:
        return other
    first = BITS * word
    variable, low, high = table.variable, table.low, table.high
    if variable[then] < first or variable[other] < first:
        return table.choose(where_at_least(table, asked, constant, TRUE, FALSE), then, other)
    untaken: list[tuple[int, int]] = []
    above, below = then, other
    end = None
    for level in range(first, first + BITS):
        bit = 1 << first + BITS - 1 - level
        if not constant & bit * 2 - 1:
            break
        if not mask & bit:
            if constant & bit:
                end = below
                break
            if variable[above] == level or variable[below] == level:
                return table.choose(where_at_least(table, asked, constant, TRUE, FALSE), then, other)
            continue
        if constant & bit:
            side = below
            if variable[below] == level:
                side, below = low[below], high[below]
            if variable[above] == level:
                above = high[above]
        else:
            side = above
            if variable[above] == level:
                above, side = low[above], high[above]
            if variable[below] == level:
                below = low[below]
        untaken.append((level, side))
    made = above if end is None else end
    node = table.node
    for level, side in reversed(untaken):
        taken = constant >> first + BITS - 1 - level & 1
        made = node(level, side, made) if taken else node(level, made, side)
    return made
