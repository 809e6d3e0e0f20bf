"""The data of the Scheme in which profiles are written.

Numbers are `int`, strings `str` (bytes that are no UTF-8 as surrogates), truth values `bool`. A list is made of `Pair`s
and ends in `NIL`; each pair knows where its first item stands.
"""

from typing import Final, TypeAlias

from sbc.diagnostics.span import Span

Value: TypeAlias = object
"""Any datum. What a function takes is checked where it is called, as in Scheme."""


class Symbol:
    """A word. Case matters; two of one name are the same object."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Symbol({self.name!r})"


_symbols: dict[str, Symbol] = {}


def symbol(name: str) -> Symbol:
    """Give the word of a name."""
    found = _symbols.get(name)
    if found is None:
        # Words of hostile profiles must not pile up: the table only serves words that are met again.
        if len(_symbols) > 100_000:
            _symbols.clear()
        found = _symbols[name] = Symbol(name)
    return found


class Nil:
    """The empty list; there is one."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "NIL"


class Unspecified:
    """What a form gives that has nothing to give; there is one."""

    __slots__ = ()


NIL: Final = Nil()
UNSPECIFIED: Final = Unspecified()


class Pair:
    """A cell of a list; `at` is where `car` stands."""

    __slots__ = ("at", "car", "cdr")

    def __init__(self, car: Value, cdr: Value, at: Span) -> None:
        self.car = car
        self.cdr = cdr
        self.at = at


class Char:
    """A character, as a number."""

    __slots__ = ("code",)

    def __init__(self, code: int) -> None:
        self.code = code


class Name:
    """A constant of the system that is known here by name alone, such as `FSIOC_CAS_BSDFLAGS`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


def normal(text: str) -> str:
    """Join bytes that make a character only together, as after appending two strings."""
    return text if text.isascii() else text.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")


def is_text(text: str) -> bool:
    """Tell whether a text can be bytes, and holds no NUL."""
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def from_list(items: list[Value], at: Span, tail: Value = NIL) -> Value:
    """Give a list of values."""
    result = tail
    for item in reversed(items):
        result = Pair(item, result, at)
    return result


def to_list(value: Value) -> list[Value] | None:
    """Give the items of a list; None where it is none."""
    items: list[Value] = []
    while isinstance(value, Pair):
        items.append(value.car)
        value = value.cdr
    return items if value is NIL else None


def same(a: Value, b: Value) -> bool:
    """Tell whether two values are one, as `eqv?`: numbers, characters and truth values by value."""
    if isinstance(a, Char) and isinstance(b, Char):
        return a.code == b.code
    if isinstance(a, int) and isinstance(b, int):
        return a == b and isinstance(a, bool) == isinstance(b, bool)
    return a is b
