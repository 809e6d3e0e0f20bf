"""Immutable records: the base of syntax nodes, policies and diagnostics.

What `dataclasses.dataclass(frozen=True)` gives, made without generating code: decorating one dataclass costs about
0.5 ms and the compiler has over a hundred records, more than its whole start-up budget; a subclass here costs 0.01 ms.
Type checkers see a frozen dataclass. Unlike tuples, records of different types are never equal.
"""

from typing import Any, ClassVar, TypeVar, dataclass_transform


@dataclass_transform(frozen_default=True)
class Record:
    """An immutable value with the fields that its subclass annotates, in order; class attributes are defaults."""

    _fields: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # Only this class's own: `inspect.get_annotations` says the same and costs an import of 5 ms.
        own = cls.__dict__.get("__annotations__", {})  # noqa: RUF063
        fields = [name for name, kind in own.items() if not str(kind).startswith(("ClassVar", "typing.ClassVar"))]
        # A field that is annotated again keeps its place, as in a dataclass.
        cls._fields += tuple(name for name in fields if name not in cls._fields)

    def __init__(self, *args: Any, **named: Any) -> None:  # noqa: ANN401 (checkers see the fields)
        fields = self._fields
        values = dict(zip(fields, args, strict=False))
        values.update(named)
        if len(args) > len(fields) or len(values) != len(args) + len(named) or len(values) != len(fields):
            self._fill(args, named, values)
        self.__dict__.update(values)

    def _fill(self, args: tuple[Any, ...], named: dict[str, Any], values: dict[str, Any]) -> None:
        """Add defaults to `values`; `TypeError` where the arguments do not fit the fields."""
        name = type(self).__name__
        if len(args) > len(self._fields) or len(values) != len(args) + len(named):
            raise TypeError(f"{name} got too many values")
        for field in self._fields:
            if field not in values:
                if not hasattr(type(self), field):
                    raise TypeError(f"{name} needs a value for `{field}`")
                values[field] = getattr(type(self), field)
        if len(values) != len(self._fields):
            raise TypeError(f"{name} has no field {sorted(set(values) - set(self._fields))}")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def field_values(self) -> tuple[Any, ...]:
        """Give the fields' values, in order."""
        return tuple(self.__dict__[field] for field in self._fields)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self).__name__, *self.field_values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{f}={self.__dict__[f]!r}' for f in self._fields)})"


_R = TypeVar("_R", bound=Record)


def replaced(record: _R, **changes: Any) -> _R:  # noqa: ANN401 (any field's value)
    """Give a copy of `record` with some fields changed."""
    return type(record)(**{**record.__dict__, **changes})
