"""`quasiquote`: a template with holes."""

from collections.abc import Generator

from sbc.diagnostics.span import Span
from sbc.seatbelt.forms import is_word
from sbc.seatbelt.machine import Machine
from sbc.seatbelt.procedures import Environment, Eval, Form, Step, Task
from sbc.seatbelt.refuse import misused
from sbc.seatbelt.values import NIL, Pair, Value, to_list


def _quasiquote(machine: Machine, cells: list[Pair], environment: Environment, at: Span) -> Step:
    if len(cells) != 2:
        raise misused(at, "quasiquote", "takes one template")
    return (yield _filled(machine, cells[1].car, environment, cells[1].at, 0))


def _filled(machine: Machine, template: Value, environment: Environment, at: Span, level: int) -> Step:
    """Fill the holes of a template; nested quasiquotes count levels, and only the outermost holes are filled."""
    if not isinstance(template, Pair):
        return template
    if is_word(template.car, "unquote") and isinstance(template.cdr, Pair):
        if level == 0:
            return Eval(template.cdr.car, environment, template.cdr.at)
        level -= 1
    elif is_word(template.car, "quasiquote"):
        level += 1
    items: list[Pair] = []
    here: Value = template
    while isinstance(here, Pair):
        if items and is_word(here.car, "unquote") and isinstance(here.cdr, Pair) and here.cdr.cdr is NIL:
            break  # `(a . ,b)`
        machine.budget.cells(at, 1)
        spliced = here.car
        if level == 0 and isinstance(spliced, Pair) and is_word(spliced.car, "unquote-splicing"):
            items += yield from _spliced(machine, spliced, environment, here.at)
        else:
            value: Value = spliced
            if isinstance(spliced, Pair):
                value = yield _filled(machine, spliced, environment, here.at, level)
            items.append(Pair(value, NIL, here.at))
        here = here.cdr
    tail: Value = here
    if isinstance(here, Pair):
        tail = yield _filled(machine, here, environment, here.at, level)
    for cell in reversed(items):
        cell.cdr = tail
        tail = cell
    return tail


def _spliced(
    machine: Machine, hole: Pair, environment: Environment, at: Span
) -> Generator[Task | Step, Value, list[Pair]]:
    if not isinstance(hole.cdr, Pair):
        raise misused(at, "unquote-splicing", "takes one expression")
    value = yield Eval(hole.cdr.car, environment, hole.cdr.at)
    values = to_list(value)
    if values is None:
        raise misused(at, "unquote-splicing", "takes a list")
    machine.budget.cells(at, len(values))
    cells: list[Pair] = []
    while isinstance(value, Pair):
        cells.append(Pair(value.car, NIL, value.at))
        value = value.cdr
    return cells


FORMS = (Form("quasiquote", _quasiquote),)
