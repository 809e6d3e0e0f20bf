"""The names that a profile finds: Scheme's, SBPL's, and those that act on this profile."""

from collections.abc import Mapping
from functools import cache

from sbc.diagnostics.catalogue.sbpl import SbplVersion
from sbc.diagnostics.span import Span
from sbc.macos.operations import ALIASES, NO_EFFECT, PARENTS
from sbc.seatbelt import atoms, binding, forms, lists, templates
from sbc.seatbelt.atoms import number_of, text_of
from sbc.seatbelt.constants import NUMBERS
from sbc.seatbelt.filter_functions import filter_functions
from sbc.seatbelt.filters import Filter
from sbc.seatbelt.forms import eval_of, sequence
from sbc.seatbelt.machine import Machine
from sbc.seatbelt.procedures import Builtin, Call, Environment, Form, Step, shown
from sbc.seatbelt.refuse import misused, refused
from sbc.seatbelt.rules import MODIFIERS, Modifier, ModifierName, Operation, Profile, rule_functions
from sbc.seatbelt.values import UNSPECIFIED, Pair, Symbol, Value


@cache
def fixed_names() -> Mapping[str, Value]:
    """Give the names that are the same for every profile."""
    names: dict[str, Value] = dict(NUMBERS)
    names.update((name, ModifierName(meant)) for name, meant in MODIFIERS.items())
    names.update(filter_functions())
    for one in (*lists.FUNCTIONS, *atoms.FUNCTIONS, *_FUNCTIONS):
        names[one.name] = one
    for form in (*forms.FORMS, *binding.FORMS, *templates.FORMS):
        names[form.name] = form
    names.update((name, Operation(name)) for name in PARENTS)
    names.update((name, Operation(meant)) for name, meant in ALIASES.items())
    names.update((name, Operation(name, effective=False)) for name in NO_EFFECT)
    return names


def names_of(profile: Profile, params: Mapping[str, str]) -> dict[str, Value]:
    """Give all names that a profile finds."""
    names = dict(fixed_names())

    def param(call: Call, arguments: list[Value]) -> Value:
        name = text_of(call, arguments, 0)
        value = params.get(name, False)
        if isinstance(value, str):
            call.machine.budget.cells(call.at, len(value))
        else:
            profile.missing.setdefault(name, call.place(0))
        return value

    def trace(call: Call, arguments: list[Value]) -> Value:
        if profile.trace is not None:
            raise call.wrong("names one path, once")
        profile.trace = text_of(call, arguments, 0)
        return UNSPECIFIED

    def version(call: Call, arguments: list[Value]) -> Value:
        number = number_of(call, arguments, 0)
        if number not in (1, profile.version):
            raise refused(SbplVersion(call.place(0), f"version {number} is not known; there is only 1"))
        profile.version = number
        return UNSPECIFIED

    own = (
        *rule_functions(profile),
        Builtin("param", param, 1, 1),
        Builtin("getenv", param, 1, 1),
        Builtin("trace", trace, 1, 1),
        Builtin("version", version, 1, 1),
    )
    names.update((one.name, one) for one in own)
    for form in ("with-filter", "with-modifier", "with-operations"):
        names[form] = _around(form, profile)
    names["defined?"] = Form("defined?", _defined)
    return names


def _around(name: str, profile: Profile) -> Form:
    """Make a form that adds something to each rule within it.

    `with-filter` and `with-modifier` are as read in macOS's library; `with-operations` is known by name only, and taken
    to be the same for an operation or a list of them.
    """

    def carry_out(machine: Machine, cells: list[Pair], environment: Environment, at: Span) -> Step:
        if len(cells) < 2:
            raise misused(at, name, "takes what to add, and rules")
        profile.begun(at)
        before = len(profile.extra)
        for cell in _added(machine, cells[1], name):
            value = yield eval_of(cell, environment)
            if not isinstance(value, _ADDED[name]):
                raise misused(cell.at, name, f"cannot add {shown(value)}")
            profile.extra.append(value)
        yield _all(cells[2:], environment)
        del profile.extra[before:]
        return UNSPECIFIED

    return Form(name, carry_out)


_ADDED: dict[str, type[Filter] | type[Modifier] | type[Operation]] = {
    "with-filter": Filter,
    "with-modifier": Modifier,
    "with-operations": Operation,
}


def _added(machine: Machine, cell: Pair, name: str) -> list[Pair]:
    if name == "with-operations" and isinstance(cell.car, Pair):
        parts = machine.parts(cell.car, cell.at)
        return parts[1:] if isinstance(parts[0].car, Symbol) and parts[0].car.name == "list" else parts
    return [cell]


def _all(cells: list[Pair], environment: Environment) -> Step:
    return (yield from sequence(cells, environment))


def _defined(machine: Machine, cells: list[Pair], environment: Environment, at: Span) -> Step:
    """Tell whether a word names something: `(defined? 'file-lock)`."""
    if len(cells) != 2:
        raise misused(at, "defined?", "takes one word")
    value = cells[1].car
    if not isinstance(value, Symbol):
        value = yield eval_of(cells[1], environment)
    if not isinstance(value, Symbol):
        raise misused(cells[1].at, "defined?", "takes a word")
    return machine.defines(value.name, environment, at)


def _command(call: Call, arguments: list[Value]) -> Value:
    """Compose the number of an fsctl or ioctl: its group's character and its number."""
    group = text_of(call, arguments, 0)
    if not group:
        raise call.wrong("takes a character as group", 0)
    return number_of(call, arguments, 1) + 256 * group.encode("utf-8", "surrogateescape")[0]


_FUNCTIONS = (Builtin("_IO", _command, 2, 2),)
