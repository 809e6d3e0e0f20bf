"""What is above a path, by its text alone."""

from functools import lru_cache


@lru_cache(4096)
def parents(path: str) -> tuple[str, ...]:
    """Give the folders above an absolute path, the nearest first."""
    found: list[str] = []
    while path != "/":
        path = path.rpartition("/")[0] or "/"
        found.append(path)
    return tuple(found)
