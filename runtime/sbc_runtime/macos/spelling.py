"""How macOS spells and compares paths, and the order in which a profile's rules on them stand.

The compiler writes rules by this; the loader, which knows what stands for the parameters, checks that it holds.
"""

from unicodedata import normalize

from sbc_runtime.words import Literal

HOME_VARIABLE = ":HOME"
"""The parameter with the resolved value of the variable HOME; no parameter of a profile can have this name."""

DATA = ("System", "Volumes", "Data")
"""Where the volume with the users' files is mounted; its folders are seen at the root (firmlinks)."""

_PRIVATE = frozenset({"tmp", "var", "etc"})
"""Folders of the root that are links into `/private`."""

_STRICTNESS = {"write": 0, "read": 1, "hide": 2}


def folded(path: str) -> str:
    """Give one spelling for all that macOS takes for one: case and the form of accents do not count."""
    if path.isascii():
        return path.lower()
    return normalize("NFD", normalize("NFD", path).casefold())


def below(folder: str, path: str) -> bool:
    """Tell whether a path is a folder or below it; both are absolute."""
    over, under = folded(folder), folded(path)
    return over == under or under.startswith(over.rstrip("/") + "/")


def without_data(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Give the parts of a path from the root, where they are spelled through the data volume."""
    return parts[len(DATA) :] if _starts(parts, DATA) and len(parts) > len(DATA) else parts


def from_the_root(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Give the parts of an absolute path as the kernel of every Mac resolves them."""
    parts = without_data(parts)
    if _starts(parts, ("home",)):
        return (*DATA, *parts)
    if parts and parts[0].lower() in _PRIVATE:
        return ("private", *parts)
    return parts


def order(
    base: str | None, depth: int, access: Literal["read", "write", "hide"], noexec: bool, text: str
) -> tuple[bool, int, bool, int, bool, str]:
    """Give the sort key of a rule on a path: the parameter that it begins with, and how many names follow.

    Rules go by depth alone, the last that matches decides. Of paths of one depth, which cannot contain each other, the
    strictest comes last. A path below a parameter counts as deeper than any literal one, and of parameters the home
    folder as the least deep: work trees lie in it, and it in none. Where values make that false, nothing may run.
    """
    return (base is not None, depth, base not in {"home", HOME_VARIABLE}, _STRICTNESS[access], noexec, text)


def _starts(parts: tuple[str, ...], prefix: tuple[str, ...]) -> bool:
    """Compare as macOS compares names, without regard to case."""
    return tuple(part.lower() for part in parts[: len(prefix)]) == tuple(part.lower() for part in prefix)
