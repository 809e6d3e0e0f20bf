"""The runtime's named tuples are those of `typing`, for every declaration and every use."""

import copy
import inspect
import pickle
import typing
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sbc_runtime import records
from sbc_runtime.outcome import Outcome
from sbc_runtime.plan import Statement

NAMES = ("cls", "self", "a", "name", "values", "made", "kind", "_make"[1:], "b", "c", "d", "e", "f", "g", "h", "args")


@st.composite
def declarations(draw: st.DrawFn) -> tuple[type, type]:
    """The same class statement, with either base."""
    fields = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=len(NAMES)))
    defaults = draw(st.integers(0, len(fields)))
    lines = [f"    {name}: int" for name in fields[: len(fields) - defaults]]
    lines += [f"    {name}: int = {number}" for number, name in enumerate(fields[len(fields) - defaults :])]
    body = ["class Made(Base):", '    "What it is."', *lines, "    def first(self): return self[0]"]
    made: list[type] = []
    for base in (records.NamedTuple, typing.NamedTuple):
        names: dict[str, Any] = {"Base": base, "__name__": __name__}
        exec("\n".join(body), names)  # noqa: S102 (a class statement)
        made.append(names["Made"])
    return made[0], made[1]


def tried(call: Any, *args: Any, **named: Any) -> Any:  # noqa: ANN401
    """What a call gives, or the type and the words of its error."""
    try:
        found = call(*args, **named)
    except (TypeError, IndexError) as error:
        return type(error), str(error)
    return found, repr(found)


@given(declarations(), st.data())
def test_a_call_is_what_it_is_to_typing(both: tuple[type, type], data: st.DataObject) -> None:
    args = data.draw(st.lists(st.integers(0, 9), max_size=len(NAMES) + 1))
    if data.draw(st.booleans()):
        args = args[: data.draw(st.integers(0, 3))]
    named = data.draw(st.dictionaries(st.sampled_from((*NAMES, "unknown")), st.integers(0, 9), max_size=6))
    ours, theirs = (tried(one, *args, **named) for one in both)
    assert ours == theirs


@given(declarations())
def test_a_class_is_what_it_is_to_typing(both: tuple[Any, Any]) -> None:
    ours, theirs = both
    fields: tuple[str, ...] = ours._fields
    for name in (
        "_fields",
        "_field_defaults",
        "__match_args__",
        "__doc__",
        "__annotations__",
        "__module__",
        "__slots__",
    ):
        assert getattr(ours, name) == getattr(theirs, name), name
    assert type(ours) is type
    assert inspect.signature(ours).replace(return_annotation=None).parameters.keys() == set(fields)
    values = range(len(fields))
    one, other = ours(*values), theirs(*values)
    assert one == other
    assert hash(one) == hash(other)
    assert repr(one) == repr(other)
    assert ours._make(values) == theirs._make(values)  # pyright: ignore[reportUnknownMemberType]
    assert one._asdict() == other._asdict()
    assert [getattr(one, name) for name in fields] == list(values)
    assert tried(one.first) == tried(other.first)
    assert not hasattr(one, "__dict__")
    for name in fields:
        assert one._replace(**{name: -1}) == other._replace(**{name: -1})
        with pytest.raises(AttributeError):
            setattr(one, name, 0)
    with pytest.raises(TypeError, match="has no field 'unknown'"):
        one._replace(unknown=1)


def test_copies_and_pickles_are_equal_and_of_the_same_class() -> None:
    one = Statement("files", "a.sbx", 1, "read /usr", "why")
    for made in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):  # noqa: S301 (our own bytes)
        assert made == one
        assert type(made) is Statement
    match one:
        case Statement(block, line=line):
            assert (block, line) == ("files", 1)
    assert len(Outcome._fields) > len(records._CONSTRUCTORS)  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("class Made(Base):\n a: int = 1\n b: int", TypeError),
        ("class Made(Base, dict):\n a: int", TypeError),
        ("class Made(Base):\n _a: int", ValueError),
        ("class Made(Base):\n a: int\n def __new__(cls): pass", AttributeError),
        ("class Made(Base):\n a: int\n def _replace(self): pass", AttributeError),
    ],
)
@pytest.mark.parametrize("base", [records.NamedTuple, typing.NamedTuple])
def test_what_cannot_be_declared(body: str, error: type[Exception], base: Any) -> None:  # noqa: ANN401
    with pytest.raises(error):
        exec(body, {"Base": base, "__name__": __name__})  # noqa: S102 (a class statement)
