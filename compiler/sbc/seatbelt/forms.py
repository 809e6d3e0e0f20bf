"""The forms that choose and order: `if`, `cond`, `case`, `when`, `unless`, `and`, `or`, `begin`, `quote`, `set!`."""

from sbc.diagnostics.span import Span
from sbc.seatbelt.machine import Machine
from sbc.seatbelt.procedures import Apply, Environment, Eval, Form, Step
from sbc.seatbelt.refuse import misused
from sbc.seatbelt.values import NIL, UNSPECIFIED, Pair, Symbol, Value, same


def eval_of(cell: Pair, environment: Environment) -> Eval:
    """Ask for the value of what stands in a cell."""
    return Eval(cell.car, environment, cell.at)


def sequence(cells: list[Pair], environment: Environment) -> Step:
    """Evaluate forms in order; the last takes the place of all. None at all gives nothing."""
    for cell in cells[:-1]:
        yield eval_of(cell, environment)
    return eval_of(cells[-1], environment) if cells else UNSPECIFIED


def clause(machine: Machine, cell: Pair, form: str) -> list[Pair]:
    """Give the cells of a clause."""
    if not isinstance(cell.car, Pair):
        raise misused(cell.at, form, "takes clauses in parentheses")
    return machine.parts(cell.car, cell.at)


def is_word(value: Value, name: str) -> bool:
    """Tell whether a value is a certain word."""
    return isinstance(value, Symbol) and value.name == name


def _if(_machine: Machine, cells: list[Pair], environment: Environment, at: Span) -> Step:
    if len(cells) not in (3, 4):
        raise misused(at, "if", "takes a condition and one or two branches")
    value = yield eval_of(cells[1], environment)
    if value is not False:
        return eval_of(cells[2], environment)
    return eval_of(cells[3], environment) if len(cells) == 4 else UNSPECIFIED


def _when(_machine: Machine, cells: list[Pair], environment: Environment, at: Span) -> Step:
    if len(cells) < 2:
        raise misused(at, "when", "takes a condition and forms")
    value = yield eval_of(cells[1], environment)
    return (yield from _branch(cells[2:], environment, chosen=value is not False))


def _unless(_machine: Machine, cells: list[Pair], environment: Environment, at: Span) -> Step:
    if len(cells) < 2:
        raise misused(at, "unless", "takes a condition and forms")
    value = yield eval_of(cells[1], environment)
    return (yield from _branch(cells[2:], environment, chosen=value is False))


def _branch(cells: list[Pair], environment: Environment, *, chosen: bool) -> Step:
    if not chosen:
        return UNSPECIFIED
    return (yield from sequence(cells, environment))


def _begin(_machine: Machine, cells: list[Pair], environment: Environment, _at: Span) -> Step:
    return (yield from sequence(cells[1:], environment))


def _and(_machine: Machine, cells: list[Pair], environment: Environment, _at: Span) -> Step:
    for cell in cells[1:-1]:
        value = yield eval_of(cell, environment)
        if value is False:
            return False
    return eval_of(cells[-1], environment) if len(cells) > 1 else True


def _or(_machine: Machine, cells: list[Pair], environment: Environment, _at: Span) -> Step:
    for cell in cells[1:-1]:
        value = yield eval_of(cell, environment)
        if value is not False:
            return value
    return eval_of(cells[-1], environment) if len(cells) > 1 else False


def _cond(machine: Machine, cells: list[Pair], environment: Environment, at: Span) -> Step:
    for cell in cells[1:]:
        parts = clause(machine, cell, "cond")
        value: Value = True
        if not is_word(parts[0].car, "else"):
            value = yield eval_of(parts[0], environment)
        if value is False:
            continue
        if len(parts) == 1:
            return value
        if is_word(parts[1].car, "=>"):
            if len(parts) != 3:
                raise misused(parts[1].at, "cond", "takes one function after `=>`")
            function = yield eval_of(parts[2], environment)
            return Apply(function, [value], at)
        return (yield from sequence(parts[1:], environment))
    return UNSPECIFIED


def _case(machine: Machine, cells: list[Pair], environment: Environment, at: Span) -> Step:
    if len(cells) < 2:
        raise misused(at, "case", "takes a value and clauses")
    key = yield eval_of(cells[1], environment)
    for cell in cells[2:]:
        parts = clause(machine, cell, "case")
        data = parts[0].car
        if is_word(data, "else") or _among(machine, key, data, parts[0].at):
            return (yield from sequence(parts[1:], environment))
    return UNSPECIFIED


def _among(machine: Machine, key: Value, data: Value, at: Span) -> bool:
    if data is NIL:
        return False
    if not isinstance(data, Pair):
        raise misused(at, "case", "takes clauses that begin with a list of data or `else`")
    return any(same(key, cell.car) for cell in machine.parts(data, at))


def _quote(_machine: Machine, cells: list[Pair], _environment: Environment, at: Span) -> Step:
    if len(cells) != 2:
        raise misused(at, "quote", "takes one datum")
    return cells[1].car
    yield


def _set(machine: Machine, cells: list[Pair], environment: Environment, at: Span) -> Step:
    if len(cells) != 3 or not isinstance(cells[1].car, Symbol):
        raise misused(at, "set!", "takes a name and a value")
    name = cells[1].car.name
    value = yield eval_of(cells[2], environment)
    holder = machine.holder(name, environment, cells[1].at)
    if holder is None:
        raise misused(cells[1].at, "set!", f"changes what is defined, and `{name}` is not")
    holder.names[name] = value
    return value


def _debug(_machine: Machine, _cells: list[Pair], _environment: Environment, _at: Span) -> Step:
    """Do nothing: read in macOS's library, `(debug deny)` is a macro without an expansion."""
    return UNSPECIFIED
    yield


FORMS = (
    Form("if", _if),
    Form("when", _when),
    Form("unless", _unless),
    Form("begin", _begin),
    Form("and", _and),
    Form("or", _or),
    Form("cond", _cond),
    Form("case", _case),
    Form("quote", _quote),
    Form("set!", _set),
    Form("debug", _debug),
)
