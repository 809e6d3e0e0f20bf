"""What can be called, and what calling it takes: functions and forms of ours, functions and macros of the profile."""

from collections.abc import Callable, Generator
from types import GeneratorType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeGuard

from sbc.diagnostics.diagnostic import Failed
from sbc.diagnostics.span import Span
from sbc.seatbelt.refuse import misused
from sbc.seatbelt.values import NIL, Pair, Symbol, Value

if TYPE_CHECKING:
    from sbc.seatbelt.machine import Machine


class Environment:
    """Names and their values, and the names around them."""

    __slots__ = ("names", "outer")

    def __init__(self, names: dict[str, Value], outer: "Environment | None") -> None:
        self.names = names
        self.outer = outer


class Eval(NamedTuple):
    """An expression to evaluate."""

    expression: Value
    environment: Environment
    at: Span


class Apply(NamedTuple):
    """A function to call."""

    function: Value
    arguments: list[Value]
    at: Span


Task: TypeAlias = Eval | Apply
Step: TypeAlias = Generator["Task | Step", Value, Value]
"""A form at work: it yields what it needs; what it returns is its value, or a task that takes its place."""


class Call(NamedTuple):
    """What a function of ours is told besides its arguments."""

    machine: "Machine"
    name: str
    at: Span
    places: list[Span]
    """Where each argument stands."""

    def place(self, index: int) -> Span:
        """Give where an argument stands, or the call where that is not known (`apply`)."""
        return self.places[index] if index < len(self.places) else self.at

    def wrong(self, why: str, index: int | None = None) -> Failed:
        """Give what to raise where the function was used wrongly."""
        return misused(self.at if index is None else self.place(index), self.name, why)


Function: TypeAlias = Callable[[Call, list[Value]], Value]


class Builtin:
    """A function of ours: how many arguments it takes, and what unknown words among them were meant to be."""

    __slots__ = ("function", "least", "most", "name", "role")

    def __init__(self, name: str, function: Function, least: int = 0, most: int | None = None, role: str = "") -> None:
        self.name = name
        self.function = function
        self.least = least
        self.most = most
        self.role = role


class Form(NamedTuple):
    """A form of ours: it gets its parts unevaluated."""

    name: str
    function: "Callable[[Machine, list[Pair], Environment, Span], Step]"


class Lambda(NamedTuple):
    """A function of the profile."""

    name: str
    parameters: tuple[str, ...]
    rest: str | None
    body: Value
    environment: Environment


class Macro(NamedTuple):
    """A macro of the profile: a function from a form to the form that takes its place."""

    function: Lambda
    spread: bool = False
    """Whether the function gets the form's parts one by one, or the whole form."""


def at_work(value: Value) -> TypeGuard[Step]:
    """Tell whether a value is a form at work."""
    return isinstance(value, GeneratorType)


def shown(value: Value) -> str:
    """Give a short word for a value, for messages."""
    if isinstance(value, Symbol):
        return value.name
    if isinstance(value, Builtin | Form | Lambda):
        return value.name
    if isinstance(value, bool):
        return "#t" if value else "#f"
    if isinstance(value, str):
        return f'"{value}"' if len(value) < 40 else f'"{value[:36]}..."'
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Pair):
        return f"({shown(value.car)} ...)" if not isinstance(value.car, Pair) else "((...) ...)"
    return "()" if value is NIL else "this value"


def counted(least: int, most: int | None) -> str:
    """Give the words for so many arguments."""
    if most is None:
        return f"{least} arguments or more" if least != 1 else "one argument or more"
    if least == most:
        return "one argument" if least == 1 else f"{least} arguments"
    return f"{least} to {most} arguments"
