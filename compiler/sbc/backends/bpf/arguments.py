"""Arguments: the rules of one call become code.

Two ways, and the shorter code wins:

- *regions* (`regions`): every rule at once, one field after the other. Rules in any form that decide alike give alike
  code, a word is loaded once on a path, and a call that is decided alike for every argument becomes a return. The
  fields' order matters; two are tried: as the rules name them, and backwards.
- *chain*: rule after rule, test after test. Its size is linear in the rules whatever they say.
"""

from collections.abc import Sequence

from sbc.backends.bpf.assemble import size
from sbc.backends.bpf.code import Code
from sbc.backends.bpf.feasible import pruned
from sbc.backends.bpf.fields import FULL, Field, next_in
from sbc.backends.bpf.leaves import Cell
from sbc.backends.bpf.regions import Regions, TooWide
from sbc.backends.bpf.search import search
from sbc.backends.bpf.select import ByteOrder, Every, Negation, Some, WordCondition, WordTest, select
from sbc.policy.conditions import Condition
from sbc.record import Record

MAX_FIELDS = 24
"""Fields up to which regions are tried: more than the twelve words, and masks on some of them."""

CHEAP = 16
"""Code of so few instructions is not tried another way."""


class Guarded(Record):
    """A return value and the condition of the rule that gives it."""

    condition: Condition
    value: int


def arguments(code: Code, rules: Sequence[Guarded], otherwise: int, byte_order: ByteOrder) -> int:
    """Give the code that tries the rules in their order, then returns `otherwise`."""
    selected = [(select(rule.condition, byte_order), rule.value) for rule in rules]
    tests = [test for condition, _ in selected for test in _tests(condition)]
    fields = list(dict.fromkeys(test.field for test in tests))
    best = _chain(code, selected, otherwise)
    length = size(code, best)
    orders = [fields, fields[::-1]] if len(fields) > 1 else [fields]
    for order in orders if len(fields) <= MAX_FIELDS else []:
        try:
            regions = Regions(_in_order(order), len(tests))
            diagram = _diagram(regions, selected, otherwise)
        except TooWide:
            continue
        if _least_size(regions, diagram) > length:
            continue
        candidate = _code_of(code, regions, diagram, {})
        shorter = size(code, candidate)
        if shorter <= length:
            best, length = candidate, shorter
        if length <= CHEAP:
            break
    return best


def _tests(condition: WordCondition) -> list[WordTest]:
    """List the tests of a condition, from left to right."""
    found: list[WordTest] = []
    stack = [condition]
    while stack:
        match stack.pop():
            case WordTest() as test:
                found.append(test)
            case Negation(operand=operand):
                stack.append(operand)
            case Every(operands=operands) | Some(operands=operands):
                stack.extend(reversed(operands))
    return found


def _in_order(fields: Sequence[Field]) -> list[Field]:
    """Bring the fields of one word together, the plain word first: a load serves them all."""
    words = list(dict.fromkeys(field.offset for field in fields))
    return sorted(fields, key=lambda field: (words.index(field.offset), field.mask != FULL))


def _diagram(regions: Regions, selected: Sequence[tuple[WordCondition, int]], otherwise: int) -> int:
    decided = [regions.when(regions.condition(condition), regions.leaf(value)) for condition, value in selected]
    return pruned(regions, regions.first([*decided, regions.leaf(otherwise)]))


def _least_size(regions: Regions, diagram: int) -> int:
    """Guess how short the code of a diagram can be: a load for each node, a test for every two more cells."""
    seen = {diagram}
    stack = [diagram]
    total = 0
    while stack:
        _, starts, children = regions.nodes[stack.pop()]
        total += 1 + len(starts) // 2 if starts else 0
        for child in children:
            if child not in seen:
                seen.add(child)
                stack.append(child)
    return total


def _code_of(code: Code, regions: Regions, diagram: int, known: dict[int, int]) -> int:
    if diagram not in known:
        value = regions.value(diagram)
        if value is not None:
            known[diagram] = code.ret(value)
        else:
            place, starts, children = regions.nodes[diagram]
            cells = [
                Cell(start, _code_of(code, regions, child, known))
                for start, child in zip(starts, children, strict=True)
            ]
            known[diagram] = search(code, regions.fields[place], cells)
    return known[diagram]


def _chain(code: Code, selected: Sequence[tuple[WordCondition, int]], otherwise: int) -> int:
    node = code.ret(otherwise)
    for condition, value in reversed(selected):
        node = _branch(code, condition, code.ret(value), node)
    return node


def _branch(code: Code, condition: WordCondition, yes: int, no: int) -> int:
    """Give the code that goes on at `yes` where the condition holds and at `no` elsewhere."""
    match condition:
        case WordTest(field=field, low=low, high=high):
            cells = [Cell(0, no)] if low else []
            cells.append(Cell(low, yes))
            end = next_in(field.mask, high + 1)
            if end <= field.mask:
                cells.append(Cell(end, no))
            return search(code, field, cells)
        case Negation(operand=operand):
            return _branch(code, operand, no, yes)
        case Every(operands=operands):
            for operand in reversed(operands):
                yes = _branch(code, operand, yes, no)
            return yes
        case Some(operands=operands):
            for operand in reversed(operands):
                no = _branch(code, operand, yes, no)
            return no
