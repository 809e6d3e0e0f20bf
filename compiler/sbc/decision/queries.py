"""Questions to a finished diagram: its value at a point, a difference, what remains once a word is known."""

from collections.abc import Sequence

from sbc.decision.table import Table, TooComplex
from sbc.decision.words import ARCH, BITS, NAMES, NR, VARIABLES, WORD_MASK, WORDS
from sbc_runtime.action import Verdict

_INTERVAL_STEPS = 1_000_000


def value_at(table: Table, diagram: int, words: Sequence[int]) -> Verdict:
    """Give the verdict on the input whose words these are (`words.Input.words`)."""
    while (variable := table.variable[diagram]) < VARIABLES:
        word, place = divmod(variable, BITS)
        diagram = table.high[diagram] if words[word] >> BITS - 1 - place & 1 else table.low[diagram]
    return table.verdicts[diagram]


def difference(table: Table, left: int, right: int) -> list[int] | None:
    """Give the words of one input on which two diagrams differ, the least such; None where they are equal."""
    if left == right:
        return None
    words = [0] * WORDS
    variable = table.variable
    while (first := min(variable[left], variable[right])) < VARIABLES:
        left_low, left_high = branches(table, left, first)
        right_low, right_high = branches(table, right, first)
        if left_low != right_low:
            left, right = left_low, right_low
        else:
            left, right = left_high, right_high
            word, place = divmod(first, BITS)
            words[word] |= 1 << BITS - 1 - place
    return words


def branches(table: Table, diagram: int, variable: int) -> tuple[int, int]:
    """Give where a diagram goes on for 0 and 1 of a variable that is not below its root's."""
    if table.variable[diagram] == variable:
        return table.low[diagram], table.high[diagram]
    return diagram, diagram


def fixed(table: Table, diagram: int, word: int, value: int) -> int:
    """Give the diagram with one word of the input set to a value: it no longer asks for that word."""
    first, after = BITS * word, BITS * word + BITS
    known: dict[int, int] = {}

    def below(node: int) -> int:
        while first <= (variable := table.variable[node]) < after:
            node = table.high[node] if value >> after - 1 - variable & 1 else table.low[node]
        if variable >= after:
            return node
        made = known.get(node)
        if made is None:
            made = known[node] = table.node(variable, below(table.low[node]), below(table.high[node]))
        return made

    return below(diagram)


def intervals(table: Table, diagram: int, word: int) -> list[tuple[int, int, int]]:
    """Give first value, last value and the diagram that remains, for a diagram whose root asks for no earlier word.

    Sorted, without gaps, neighbours different. A diagram that asks for low bits alone could have 2^32 of them:
    `TooComplex` beyond a million steps.
    """
    after = BITS * word + BITS
    made: list[tuple[int, int, int]] = []
    steps = 0

    def collect(node: int, low: int, bits: int) -> None:
        nonlocal steps
        steps += 1
        if steps > _INTERVAL_STEPS:
            raise TooComplex(f"`{NAMES[word]}` is told apart by its low bits alone")
        variable = table.variable[node]
        if variable >= after:
            if made and made[-1][2] == node:
                made[-1] = (made[-1][0], low + (1 << bits) - 1, node)
            else:
                made.append((low, low + (1 << bits) - 1, node))
            return
        half = 1 << bits - 1
        asked = variable == after - bits
        collect(table.low[node] if asked else node, low, bits - 1)
        collect(table.high[node] if asked else node, low + half, bits - 1)

    collect(diagram, 0, BITS)
    assert made[-1][1] == WORD_MASK  # noqa: S101
    return made


def verdicts_by_number(table: Table, diagram: int, audit: int) -> list[tuple[int, int, Verdict | None]]:
    """Give first number, last number and the verdict of an architecture's calls; None where the arguments matter."""
    numbers = intervals(table, fixed(table, diagram, ARCH, audit), NR)
    return [(low, high, table.verdicts.get(remains)) for low, high, remains in numbers]


def verdicts_of(table: Table, diagram: int) -> frozenset[Verdict]:
    """Give every verdict that a diagram has for some input."""
    seen: set[int] = set()
    waiting = [diagram]
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting += (table.low[node], table.high[node])
    return frozenset(table.verdicts[node] for node in seen if node in table.verdicts)
