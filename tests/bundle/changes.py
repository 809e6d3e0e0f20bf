"""Changes to a JSON value, by place: `plan rules 0` is `value["plan"]["rules"][0]`."""

from collections.abc import Callable
from typing import Any

Change = Callable[[Any], None]


def at(value: Any, place: str) -> Any:  # noqa: ANN401 (a JSON value)
    """Give what stands at a place."""
    for key in place.split():
        value = value[int(key) if key.isdigit() else key]
    return value


def update(place: str, /, **members: object) -> Change:
    """Set members of the object at a place."""
    return lambda value: at(value, place).update(members)


def remove(place: str) -> Change:
    """Remove what stands at a place."""
    outer, _, key = place.rpartition(" ")

    def change(value: object) -> None:
        del at(value, outer)[int(key) if key.isdigit() else key]

    return change


def again(place: str, /, **members: object) -> Change:
    """Append to an array a copy of its member, with other members."""
    outer, _, _ = place.rpartition(" ")
    return lambda value: at(value, outer).append({**at(value, place), **members})
