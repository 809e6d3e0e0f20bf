"""Sizes and times as people say them, exactly."""

_SIZES = (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))
_TIMES = (("h", 3_600_000), ("min", 60_000), ("s", 1_000))


def size(value: int) -> str:
    """Give a size in the largest unit that divides it."""
    return _in_units(value, _SIZES, "bytes")


def duration(value: int) -> str:
    """Give a time in milliseconds in the largest unit that divides it."""
    return _in_units(value, _TIMES, "ms")


def _in_units(value: int, units: tuple[tuple[str, int], ...], smallest: str) -> str:
    for name, factor in units:
        if value and value % factor == 0:
            return f"{value // factor} {name}"
    return f"{value} {smallest}"
