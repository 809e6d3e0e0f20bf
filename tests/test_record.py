"""Records: what checkers are told is what happens."""

import pytest

from sbc.record import Record, replaced


class Base(Record):
    span: int | None
    word: str = "x"


class Child(Base):
    word: str = "c"
    number: int = 3


class Other(Record):
    span: int | None
    word: str = "x"


def test_fields_defaults_and_order() -> None:
    assert Base(1).word == "x"
    assert Child(1, "w", 2) == Child(span=1, word="w", number=2)
    assert Child(None).word == "c"
    assert Child(None, "w").number == 3
    assert Child(1, "w", 2).field_values() == (1, "w", 2)
    assert replaced(Child(1, "w"), word="v").word == "v"


def test_records_of_two_types_are_never_equal() -> None:
    assert Base(1, "x") != Other(1, "x")
    assert Base(1, "x") == Base(1)
    assert len({Base(1), Base(1, "x"), Base(2)}) == 2


@pytest.mark.parametrize(
    ("args", "named"), [((), {}), ((1, "w", 2, 3), {}), ((1,), {"span": 2}), ((1,), {"wrod": "w"})]
)
def test_wrong_construction(args: tuple[int, ...], named: dict[str, str]) -> None:
    with pytest.raises(TypeError):
        Child(*args, **named)  # pyright: ignore[reportArgumentType, reportCallIssue]


def test_records_do_not_change() -> None:
    made = Base(1)
    with pytest.raises(AttributeError):
        made.word = "y"  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(AttributeError):
        del made.word  # pyright: ignore[reportAttributeAccessIssue]
