"""Named tuples that are cheap to declare: to type checkers `typing.NamedTuple`, and to programs all of it that is used.

`typing.NamedTuple` compiles a constructor for each class and looks at each annotation: 0.2 ms a class, and a run needs
a hundred of them twice, in the process that asks for it and in its helper. Here a constructor is one that is compiled
with this module, its arguments renamed, and nothing reads the annotations: 0.02 ms. There are no generic ones.
"""

from types import FunctionType

__all__ = ["NamedTuple"]

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, NamedTuple, Self, TypeVar

    _T = TypeVar("_T", bound="_Record")

_CONSTRUCTORS: "tuple[FunctionType, ...]"
"""The constructor of each number of fields; that of more fields is compiled when it is needed."""

if not TYPE_CHECKING:  # checkers cannot know the types of these arguments
    from _collections import _tuplegetter  # what `collections.namedtuple` makes of a field

    _make = tuple.__new__
    _CONSTRUCTORS = (
        lambda cls: _make(cls, ()),
        lambda cls, a: _make(cls, (a,)),
        lambda cls, a, b: _make(cls, (a, b)),
        lambda cls, a, b, c: _make(cls, (a, b, c)),
        lambda cls, a, b, c, d: _make(cls, (a, b, c, d)),
        lambda cls, a, b, c, d, e: _make(cls, (a, b, c, d, e)),
        lambda cls, a, b, c, d, e, f: _make(cls, (a, b, c, d, e, f)),
        lambda cls, a, b, c, d, e, f, g: _make(cls, (a, b, c, d, e, f, g)),
        lambda cls, a, b, c, d, e, f, g, h: _make(cls, (a, b, c, d, e, f, g, h)),
        lambda cls, a, b, c, d, e, f, g, h, i: _make(cls, (a, b, c, d, e, f, g, h, i)),
        lambda cls, a, b, c, d, e, f, g, h, i, j: _make(cls, (a, b, c, d, e, f, g, h, i, j)),
    )
else:

    def _make(cls: "type[_T]", values: "Iterable[Any]", /) -> "_T": ...
    def _tuplegetter(index: int, doc: str | None, /) -> object: ...


_OWN = frozenset(
    ("__new__", "__init__", "__slots__", "__getnewargs__", "_fields", "_field_defaults", "_make", "_replace", "_asdict")
)
"""What no class may say anew."""


def _constructor(name: str, fields: "tuple[str, ...]", defaults: "tuple[Any, ...]") -> FunctionType:
    """Give the `__new__` of a class with these fields, of which the last ones have these defaults."""
    count = len(fields)
    if count < len(_CONSTRUCTORS):
        model = _CONSTRUCTORS[count]
    else:
        names = "".join(f", a{index}" for index in range(count))
        model: FunctionType = eval(f"lambda cls{names}: _make(cls, ({names[2:]}))", {"_make": _make})  # noqa: S307 (our own text)
    # The class's name is positional, as in `namedtuple`: a field may be called as it is.
    code = model.__code__.replace(co_varnames=("_cls", *fields), co_name="__new__", co_qualname=f"{name}.__new__")
    return FunctionType(code, model.__globals__, "__new__", defaults or None)


class _Record(tuple["Any", ...]):
    """What all of them can do."""

    __slots__ = ()
    _fields: "tuple[str, ...]" = ()

    @classmethod
    def _make(cls, values: "Iterable[Any]") -> "Self":
        """Give one of the values of its fields, in order."""
        return cls(*values)

    def _replace(self, /, **changes: "Any") -> "Self":  # noqa: ANN401 (any field's value)
        """Give one that has other values in some fields."""
        made = _make(type(self), map(changes.pop, self._fields, self))
        if changes:
            raise TypeError(f"{type(self).__name__} has no field {', '.join(map(repr, changes))}")
        return made

    def _asdict(self) -> "dict[str, Any]":
        """Give the values by the names of their fields."""
        return dict(zip(self._fields, self, strict=True))

    def __repr__(self) -> str:
        shown = [f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True)]
        return f"{type(self).__name__}({', '.join(shown)})"

    def __getnewargs__(self) -> "tuple[Any, ...]":
        return tuple(self)


class _Declared(type):
    """Makes the class that a `class` statement with the base `NamedTuple` declares; no class is one of these."""

    def __new__(cls, name: str, bases: "tuple[type, ...]", members: "dict[str, Any]") -> type:
        if not bases:
            return type.__new__(cls, name, bases, members)
        if len(bases) > 1:
            raise TypeError(f"{name}: a named tuple has no other base")
        if said := _OWN & members.keys():
            raise AttributeError(f"{name} cannot say anew what {', '.join(sorted(said))} is")
        fields = tuple(_annotated(members))
        if any(field.startswith("_") for field in fields):
            raise ValueError(f"{name}: the name of a field starts with an underscore")
        defaults = {field: members[field] for field in fields if field in members}
        if tuple(defaults) != fields[len(fields) - len(defaults) :]:
            raise TypeError(f"{name}: a field without a default follows one that has one")
        for index, field in enumerate(fields):
            members[field] = _tuplegetter(index, None)
        members["__new__"] = _constructor(name, fields, tuple(defaults.values()))
        members["__slots__"] = ()
        members["__match_args__"] = members["_fields"] = fields
        members["_field_defaults"] = defaults
        return type(name, (_Record,), members)


def _annotated(members: "dict[str, Any]") -> "Iterable[str]":
    """Give the names that a class's body annotates: from Python 3.14 on a function tells them (PEP 649)."""
    annotate = members.get("__annotate_func__") or members.get("__annotate__")
    return members.get("__annotations__", ()) if annotate is None else annotate(1)


if not TYPE_CHECKING:
    NamedTuple = _Declared("NamedTuple", (), {})
