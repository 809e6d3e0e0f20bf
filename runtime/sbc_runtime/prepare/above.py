"""What is above a path, by its text alone."""

from collections.abc import Iterator


def parents(path: str) -> Iterator[str]:
    """Give the folders above an absolute path, the nearest first."""
    while path != "/":
        path = path.rpartition("/")[0] or "/"
        yield path
