"""Codecs: how one type stands in JSON, read and written by one description, strictly.

A codec reads a JSON value into a typed one, writes it back, and carries its JSON Schema. Reading takes nothing on
trust: keys are all there and no others, types are exact (`true` is no integer), and `where` names the place in errors
(`plan.rules[3].path`).
"""

from binascii import Error, a2b_base64, b2a_base64
from collections.abc import Callable

from sbc_runtime.canonical import BundleError
from sbc_runtime.words import Any, Generic, TypeVar, cast

T = TypeVar("T")

Check = Callable[[T], "str | None"]
"""Says what is wrong with a value, or None."""


class Codec(Generic[T]):
    """One type's codec."""

    __slots__ = ("read", "schema", "write")

    def __init__(self, read: Callable[[object, str], T], write: Callable[[T], object], schema: dict[str, Any]) -> None:
        self.read = read
        self.write = write
        self.schema = schema


def fault(where: str, what: str) -> BundleError:
    """Give the error that names a place in the document."""
    return BundleError(f"`{where}` {what}")


def _itself(value: T) -> T:
    return value


def _is_sound(value: str) -> bool:
    """Tell whether text has no surrogate but those that stand for bytes, and is the only spelling of its bytes."""
    try:
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape") == value
    except UnicodeEncodeError:
        return False


def text(check: "Check[str] | None" = None, pattern: str | None = None) -> Codec[str]:
    """Text that `check` finds nothing wrong with; `pattern` tells the schema what it asks for."""

    def read(value: object, where: str) -> str:
        if not isinstance(value, str):
            raise fault(where, "is not text")
        if not (value.isascii() or _is_sound(value)):
            raise fault(where, "is not Unicode")
        if check is not None and (wrong := check(value)):
            raise fault(where, wrong)
        return value

    schema: dict[str, Any] = {"type": "string"}
    return Codec(read, _itself, schema if pattern is None else {**schema, "pattern": pattern})


def integer(low: int, high: int) -> Codec[int]:
    """An integer of `low..high`, both ends in."""

    def read(value: object, where: str) -> int:
        if type(value) is not int:
            raise fault(where, "is not an integer")
        if not low <= value <= high:
            raise fault(where, f"is outside {low}..{high}")
        return value

    return Codec(read, _itself, {"type": "integer", "minimum": low, "maximum": high})


def _boolean(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise fault(where, "is not true or false")
    return value


BOOLEAN: Codec[bool] = Codec(_boolean, _itself, {"type": "boolean"})


def word(*words: str) -> Codec[str]:
    """One of some words."""
    known = frozenset(words)

    def read(value: object, where: str) -> str:
        if not isinstance(value, str) or value not in known:
            raise fault(where, f"is none of {', '.join(words)}")
        return value

    return Codec(read, _itself, {"enum": list(words)})


def _bytes(value: object, where: str) -> bytes:
    try:
        if not isinstance(value, str):
            raise fault(where, "is not text")
        found = a2b_base64(value.encode("ascii"), strict_mode=True)
    except (Error, UnicodeEncodeError):
        raise fault(where, "is not base64") from None
    if _base64(found) != value:  # bits beyond the last byte are not zero
        raise fault(where, "is not base64 in its one spelling")
    return found


def _base64(value: bytes) -> str:
    return b2a_base64(value, newline=False).decode("ascii")


BYTES: Codec[bytes] = Codec(_bytes, _base64, {"type": "string", "contentEncoding": "base64"})


def optional(codec: Codec[T]) -> Codec[T | None]:
    """A value, or null."""
    return Codec(
        lambda value, where: None if value is None else codec.read(value, where),
        lambda value: None if value is None else codec.write(value),
        {"anyOf": [codec.schema, {"type": "null"}]},
    )


def listed(codec: Codec[T], limit: int = 100_000) -> Codec[tuple[T, ...]]:
    """An array."""

    def read(value: object, where: str) -> tuple[T, ...]:
        if not isinstance(value, list):
            raise fault(where, "is not an array")
        items = cast("list[object]", value)
        if len(items) > limit:
            raise fault(where, f"has more than {limit} entries")
        return tuple(codec.read(item, f"{where}[{index}]") for index, item in enumerate(items))

    return Codec(read, lambda items: [codec.write(item) for item in items], {"type": "array", "items": codec.schema})


def record(made_of: Callable[..., T], check: "Check[T] | None" = None, **codecs: Codec[Any]) -> Codec[T]:
    """An object with exactly these keys, in the order of the fields of the tuple type `made_of`."""
    keys = frozenset(codecs)

    def read(value: object, where: str) -> T:
        members = _members(value, where, keys)
        made = made_of(*[codec.read(members[key], f"{where}.{key}") for key, codec in codecs.items()])
        if check is not None and (wrong := check(made)):
            raise fault(where, wrong)
        return made

    def write(value: T) -> object:
        return {key: codec.write(getattr(value, key)) for key, codec in codecs.items()}

    schema = {
        "type": "object",
        "properties": {key: codec.schema for key, codec in codecs.items()},
        "required": list(codecs),
        "additionalProperties": False,
    }
    return Codec(read, write, schema)


def _members(value: object, where: str, keys: frozenset[str]) -> dict[str, object]:
    if not isinstance(value, dict):
        raise fault(where, "is not an object")
    members = cast("dict[str, object]", value)
    if members.keys() != keys:
        missing, unknown = sorted(keys - members.keys()), sorted(members.keys() - keys)
        what = f"lacks the key `{missing[0]}`" if missing else f"has the unknown key {unknown[0]!r}"
        raise fault(where, what)
    return members


def union(*choices: tuple[type[Any], Callable[[object], bool], Codec[Any]]) -> Codec[object]:
    """One of several types: each is the Python type, whether a JSON value is meant as it, and its codec."""

    def read(value: object, where: str) -> object:
        for _, meant, codec in choices:
            if meant(value):
                return codec.read(value, where)
        raise fault(where, "has a type that does not belong here")

    def write(value: object) -> object:
        codec = next(codec for made_of, _, codec in choices if type(value) is made_of)
        return codec.write(value)

    return Codec(read, write, {"anyOf": [codec.schema for _, _, codec in choices]})
