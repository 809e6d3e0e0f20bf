"""The forms that name things: `define`, `lambda`, the `let`s, `macro` and `define-macro`."""

from typing import NamedTuple

from sbc.diagnostics.span import Span
from sbc.seatbelt.forms import eval_of
from sbc.seatbelt.machine import Machine
from sbc.seatbelt.procedures import Apply, Environment, Form, Lambda, Macro, Step
from sbc.seatbelt.refuse import misused
from sbc.seatbelt.values import NIL, UNSPECIFIED, Pair, Symbol, Value


class _Parameters(NamedTuple):
    fixed: tuple[str, ...]
    rest: str | None


def _parameters(machine: Machine, value: Value, at: Span, form: str) -> _Parameters:
    """Read `(a b)`, `(a . rest)` or `rest`."""
    fixed: list[str] = []
    while isinstance(value, Pair):
        if not isinstance(value.car, Symbol):
            raise misused(value.at, form, "takes words as parameters")
        machine.budget.work(at, 1)
        fixed.append(value.car.name)
        value = value.cdr
    if value is not NIL and not isinstance(value, Symbol):
        raise misused(at, form, "takes words as parameters")
    rest = value.name if isinstance(value, Symbol) else None
    names = fixed if rest is None else [*fixed, rest]
    if len(set(names)) != len(names):
        raise misused(at, form, "takes parameters with different names")
    return _Parameters(tuple(fixed), rest)


def function(
    machine: Machine, name: str, parameters: Pair, body: list[Pair], environment: Environment, *, form: str
) -> Lambda:
    """Make a function; `parameters` is the cell whose item is the list of them."""
    if not body:
        raise misused(parameters.at, form, "takes a body")
    fixed, rest = _parameters(machine, parameters.car, parameters.at, form)
    return Lambda(name, fixed, rest, body[0], environment)


def _lambda(machine: Machine, cells: list[Pair], environment: Environment, at: Span) -> Step:
    if len(cells) < 3:
        raise misused(at, "lambda", "takes parameters and a body")
    return function(machine, "lambda", cells[1], cells[2:], environment, form="lambda")
    yield


def _define(machine: Machine, cells: list[Pair], environment: Environment, at: Span) -> Step:
    """Carry out `(define NAME VALUE)` or `(define (NAME PARAMETER ...) BODY ...)`."""
    if len(cells) < 2:
        raise misused(at, "define", "takes a name and a value")
    head = cells[1].car
    machine.budget.cells(at, 1)
    if isinstance(head, Pair):
        if not isinstance(head.car, Symbol):
            raise misused(head.at, "define", "takes a word as name")
        rest = Pair(head.cdr, NIL, cells[1].at)
        environment.names[head.car.name] = function(machine, head.car.name, rest, cells[2:], environment, form="define")
        return head.car
    if not isinstance(head, Symbol) or len(cells) != 3:
        raise misused(at, "define", "takes a name and a value")
    value = yield eval_of(cells[2], environment)
    if isinstance(value, Lambda) and value.name == "lambda":
        value = value._replace(name=head.name)
    environment.names[head.name] = value
    return head


class _Bindings(NamedTuple):
    names: list[str]
    values: list[Pair]


def _bindings(machine: Machine, cell: Pair, form: str) -> _Bindings:
    """Read `((NAME VALUE) ...)`."""
    found = _Bindings([], [])
    if cell.car is NIL:
        return found
    if not isinstance(cell.car, Pair):
        raise misused(cell.at, form, "takes a list of bindings")
    for binding in machine.parts(cell.car, cell.at):
        parts = machine.parts(binding.car, binding.at) if isinstance(binding.car, Pair) else []
        if len(parts) != 2 or not isinstance(parts[0].car, Symbol):
            raise misused(binding.at, form, "takes bindings of the form (NAME VALUE)")
        found.names.append(parts[0].car.name)
        found.values.append(parts[1])
    return found


def _let(machine: Machine, cells: list[Pair], environment: Environment, at: Span) -> Step:
    """Carry out `let`, or a named `let`: a function that is called at once."""
    named = len(cells) > 3 and isinstance(cells[1].car, Symbol)
    if len(cells) < 3:
        raise misused(at, "let", "takes bindings and a body")
    names, places = _bindings(machine, cells[2 if named else 1], "let")
    values: list[Value] = []
    for cell in places:
        values.append((yield eval_of(cell, environment)))
    if len(set(names)) != len(names):
        raise misused(cells[1].at, "let", "takes different names")
    if named and isinstance(cells[1].car, Symbol):
        name = cells[1].car.name
        inner = Environment({}, environment)
        inner.names[name] = Lambda(name, tuple(names), None, cells[3], inner)
        return Apply(inner.names[name], values, at)
    return machine.body(cells[2], Environment(dict(zip(names, values, strict=True)), environment), at)


def _let_in_order(machine: Machine, cells: list[Pair], environment: Environment, at: Span) -> Step:
    if len(cells) < 3:
        raise misused(at, "let*", "takes bindings and a body")
    inner = Environment({}, environment)
    for name, cell in zip(*_bindings(machine, cells[1], "let*"), strict=True):
        value = yield eval_of(cell, inner)
        inner = Environment({name: value}, inner)
    return machine.body(cells[2], inner, at)


def _let_each_other(machine: Machine, cells: list[Pair], environment: Environment, at: Span) -> Step:
    if len(cells) < 3:
        raise misused(at, "letrec", "takes bindings and a body")
    names, places = _bindings(machine, cells[1], "letrec")
    inner = Environment(dict.fromkeys(names, UNSPECIFIED), environment)
    for name, cell in zip(names, places, strict=True):
        inner.names[name] = yield eval_of(cell, inner)
    return machine.body(cells[2], inner, at)


def _macro(machine: Machine, cells: list[Pair], environment: Environment, at: Span) -> Step:
    """Carry out `(macro (NAME FORM) BODY ...)` or `(macro NAME FUNCTION)`: the function gets the whole form."""
    head = cells[1].car if len(cells) > 2 else None
    if isinstance(head, Pair) and isinstance(head.car, Symbol):
        rest = Pair(head.cdr, NIL, cells[1].at)
        made = function(machine, head.car.name, rest, cells[2:], environment, form="macro")
        environment.names[head.car.name] = Macro(made)
        return head.car
    if not isinstance(head, Symbol) or len(cells) != 3:
        raise misused(at, "macro", "takes a name, a parameter and a body")
    value = yield eval_of(cells[2], environment)
    if not isinstance(value, Lambda):
        raise misused(cells[2].at, "macro", "takes a function")
    environment.names[head.name] = Macro(value)
    return head


def _define_macro(machine: Machine, cells: list[Pair], environment: Environment, at: Span) -> Step:
    """Carry out `(define-macro (NAME PARAMETER ...) BODY ...)`: the function gets the form's parts."""
    head = cells[1].car if len(cells) > 2 else None
    if not isinstance(head, Pair) or not isinstance(head.car, Symbol):
        raise misused(at, "define-macro", "takes (NAME PARAMETER ...) and a body")
    rest = Pair(head.cdr, NIL, cells[1].at)
    made = function(machine, head.car.name, rest, cells[2:], environment, form="macro")
    environment.names[head.car.name] = Macro(made, spread=True)
    return head.car
    yield


FORMS = (
    Form("lambda", _lambda),
    Form("define", _define),
    Form("let", _let),
    Form("let*", _let_in_order),
    Form("letrec", _let_each_other),
    Form("macro", _macro),
    Form("define-macro", _define_macro),
)
