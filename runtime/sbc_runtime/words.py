"""What annotations are written with: to type checkers the words of `typing`, and to programs next to nothing.

`typing` takes 2 ms to import, in the process that asks for a run and again in its helper, and nothing there asks what
an annotation says. (`Final` and `ClassVar` are not here: checkers know them by the module that they come from.)
"""

__all__ = [
    "IO", "TYPE_CHECKING", "Any", "Concatenate", "Generic", "Literal", "NoReturn", "ParamSpec", "Protocol",
    "TypeVar", "cast",
]  # fmt: skip

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import IO, Any, Concatenate, Generic, Literal, NoReturn, ParamSpec, Protocol, TypeVar, cast
else:

    class _Word:
        """Whatever is written with it is it."""

        def __init__(self, *_: object, **__: object) -> None:
            """Take what a variable of types is declared with."""

        def __getitem__(self, _: object) -> "_Word":
            return self

        def __or__(self, _: object) -> "_Word":
            return self

        __ror__ = __or__

    class _Base:
        """A base that gives a class nothing."""

        __slots__ = ()

        def __class_getitem__(cls, _: object) -> type:
            return cls

    def cast(_: object, value: object) -> object:
        """Give the value."""
        return value

    IO = Any = Concatenate = Literal = NoReturn = _Word()
    ParamSpec = TypeVar = _Word
    Generic = Protocol = _Base
