"""Where the compiler's data files are: the grammar, the stock library, the shipped profiles.

In a wheel they lie inside the package, in a checkout at its top. (`importlib.resources` does the same and costs 20 ms.)
"""

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parent


@cache
def _folder(name: str) -> Path:
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _PACKAGE.parent.parent / name


def grammar_folder() -> Path:
    """Give the folder with `sbx.lark` and, in a wheel, what was made from it when the wheel was built."""
    return _folder("grammar")


def profiles_folder() -> Path:
    """Give the folder with the shipped profiles; the stock library is `lib` in it."""
    return _folder("profiles")


def stock_path(name: str) -> Path:
    """Give the file that `use <name>` means; whether it exists is for the caller to see."""
    return profiles_folder() / "lib" / f"{name}.sbx"
