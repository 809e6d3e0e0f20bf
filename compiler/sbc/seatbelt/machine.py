"""Runs Scheme: what is evaluated, in which names, and what waits for it.

What waits is kept in a list of generators, not on Python's stack: a form yields what it needs evaluated and is sent the
value. So no profile can overflow anything, the last call of a function waits for nothing, and every step is counted.
"""

from sbc.diagnostics.catalogue.sbpl import SbplUnknownName
from sbc.diagnostics.span import Span
from sbc.diagnostics.suggest import closest
from sbc.seatbelt.budget import Budget
from sbc.seatbelt.constants import constant
from sbc.seatbelt.procedures import (
    Apply,
    Builtin,
    Call,
    Environment,
    Eval,
    Form,
    Lambda,
    Macro,
    Step,
    Task,
    at_work,
    counted,
    shown,
)
from sbc.seatbelt.refuse import misused, refused
from sbc.seatbelt.values import NIL, Pair, Symbol, Value, from_list


class Machine:
    """Evaluates one profile."""

    def __init__(self, names: dict[str, Value], budget: Budget) -> None:
        self.globals = Environment(dict(names), None)
        self.budget = budget

    def run(self, first: Task) -> Value:
        """Evaluate to a value."""
        waiting: list[Step] = []
        value: Value = first
        while True:
            # A task is begun, a form at work waits on top of the others; what is left is a value for the one on top.
            while isinstance(value, Eval | Apply):
                self.budget.step(value.at, len(waiting))
                value = self._begin(value)
            if at_work(value):
                self.budget.step(first.at, len(waiting))
                waiting.append(value)
                value = None
            if not waiting:
                return value
            try:
                value = waiting[-1].send(value)
            except StopIteration as done:
                waiting.pop()
                value = done.value

    def _begin(self, task: Task) -> Value:
        """Give the value at once, or a form that is at work, or the task that takes the place of this one."""
        if isinstance(task, Apply):
            return self._apply(task.function, task.arguments, task.at, [])
        expression, environment, at = task
        if isinstance(expression, Symbol):
            return self.lookup(expression, environment, at, "name")
        if isinstance(expression, Pair):
            return self._call(expression, environment, at)
        return expression

    def _call(self, expression: Pair, environment: Environment, at: Span) -> Value:
        head = expression.car
        if isinstance(head, Symbol):
            function = self.lookup(head, environment, expression.at, "form")
            if isinstance(function, Form):
                return function.function(self, self.parts(expression, at), environment, at)
            if isinstance(function, Macro):
                return self._expand(function, expression, environment, at)
            return self._call_function(function, expression, environment, at)
        return self._call_function(None, expression, environment, at)

    def _expand(self, macro: Macro, expression: Pair, environment: Environment, at: Span) -> Step:
        arguments: list[Value] = [expression]
        if macro.spread:
            arguments = [cell.car for cell in self.parts(expression, at)[1:]]
        expanded = yield Apply(macro.function, arguments, at)
        return Eval(expanded, environment, at)

    def _call_function(self, function: Value, expression: Pair, environment: Environment, at: Span) -> Step:
        if function is None:
            function = yield Eval(expression.car, environment, expression.at)
        role = function.role if isinstance(function, Builtin) else ""
        arguments: list[Value] = []
        places: list[Span] = []
        for cell in self.parts(expression, at)[1:]:
            one = cell.car
            if isinstance(one, Pair):
                if role and isinstance(one.car, Symbol):
                    self.lookup(one.car, environment, one.at, "filter")
                one = yield Eval(one, environment, cell.at)
            elif isinstance(one, Symbol):
                one = self.lookup(one, environment, cell.at, role or "name")
            arguments.append(one)
            places.append(cell.at)
        return self._apply(function, arguments, at, places)

    def _apply(self, function: Value, arguments: list[Value], at: Span, places: list[Span]) -> Value:
        if isinstance(function, Builtin):
            count = len(arguments)
            if count < function.least or (function.most is not None and count > function.most):
                raise misused(at, function.name, f"takes {counted(function.least, function.most)}, not {count}")
            return function.function(Call(self, function.name, at, places), arguments)
        if isinstance(function, Lambda):
            return self._enter(function, arguments, at)
        raise misused(at, shown(function), "is no function")

    def _enter(self, function: Lambda, arguments: list[Value], at: Span) -> Value:
        fixed = len(function.parameters)
        if len(arguments) < fixed or (function.rest is None and len(arguments) > fixed):
            raise misused(
                at, function.name, f"takes {counted(fixed, None if function.rest else fixed)}, not {len(arguments)}"
            )
        self.budget.work(at, len(arguments))
        names: dict[str, Value] = dict(zip(function.parameters, arguments, strict=False))
        if function.rest is not None:
            self.budget.cells(at, len(arguments) - fixed)
            names[function.rest] = from_list(arguments[fixed:], at)
        return self.body(function.body, Environment(names, function.environment), at)

    def body(self, body: Value, environment: Environment, at: Span) -> Value:
        """Evaluate a body's forms in order: the last one takes the place of the whole."""
        if isinstance(body, Pair) and body.cdr is NIL:
            return Eval(body.car, environment, body.at)
        return self._sequence(body, environment, at)

    def _sequence(self, body: Value, environment: Environment, at: Span) -> Step:
        if not isinstance(body, Pair):
            return NIL
        cells = self.parts(body, at)
        for cell in cells[:-1]:
            yield Eval(cell.car, environment, cell.at)
        return Eval(cells[-1].car, environment, cells[-1].at)

    def parts(self, expression: Pair, at: Span) -> list[Pair]:
        """Give the cells of a form; an error where it does not end as a list does."""
        cells: list[Pair] = []
        here: Value = expression
        while isinstance(here, Pair):
            cells.append(here)
            here = here.cdr
        self.budget.work(at, len(cells))
        if here is not NIL:
            raise misused(at, shown(expression.car), "is called by a list that ends in a `.`")
        return cells

    def holder(self, name: str, environment: Environment, at: Span) -> Environment | None:
        """Give the innermost names among which this one is."""
        here: Environment | None = environment
        hops = 0
        while here is not None and name not in here.names:
            here = here.outer
            hops += 1
        self.budget.work(at, hops)
        return here

    def defines(self, name: str, environment: Environment, at: Span) -> bool:
        """Tell whether a word names something."""
        return self.holder(name, environment, at) is not None or constant(name) is not None

    def lookup(self, word: Symbol, environment: Environment, at: Span, kind: str) -> Value:
        """Give the value of a word; an error where nothing has that name."""
        holder = self.holder(word.name, environment, at)
        if holder is not None:
            return holder.names[word.name]
        found = constant(word.name)
        if found is None:
            raise refused(SbplUnknownName(at, kind, word.name, closest(word.name, self.globals.names)))
        return found
