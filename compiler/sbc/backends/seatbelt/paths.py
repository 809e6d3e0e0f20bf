"""Paths as macOS has them, and the filters that match them.

A filter sees the path that the kernel resolved. A spelling that no resolved path has matches nothing: an allow is
lost, a deny is open. What is known of every Mac is put right here; what depends on the machine (links, parameters) is
for the loader, which gives parameters their resolved values.
"""

from sbc.backends.seatbelt.sexpr import List, Node, Text, form, quoted
from sbc.backends.target import Unsayable
from sbc.policy.origin import Origin
from sbc.policy.values import PathValue
from sbc_runtime.macos import spelling

NAME = "sbpl"
"""The target's name."""

ROOT = PathValue(None, "/")

ENVIRONMENT_HOME = spelling.HOME_VARIABLE
"""The parameter of the variable HOME; the loader gives it `home`'s value where they agree."""


def resolved(path: PathValue) -> PathValue:
    """Give the spelling that the kernel compares; a path below a parameter stays, the loader resolves the parameter.

    `ValueError` for a `..`: what it means depends on links.
    """
    parts = tuple(part for part in path.parts if part != ".")
    if ".." in parts:
        raise ValueError("it holds `..`")
    if path.base is None:
        parts = spelling.from_the_root(parts)
    rest = "".join(f"/{part}" for part in parts)
    return PathValue(path.base, rest or ("" if path.base else "/"))


def folded(path: PathValue) -> PathValue:
    """Give one spelling for all those that macOS takes for one: case and the form of accents do not count."""
    return PathValue(path.base, spelling.folded(path.rest))


def value(path: PathValue) -> Node:
    """Give the expression whose value is the path: a string, a parameter, or both joined."""
    if path.base is None:
        return Text(path.rest)
    param = form("param", Text(path.base))
    return form("string-append", param, Text(path.rest)) if path.rest else param


def literal(path: PathValue) -> List:
    """Give the filter that matches the path alone."""
    return form("literal", value(path))


def subpath(path: PathValue) -> List:
    """Give the filter that matches the path and all below it."""
    return form("subpath", value(path))


def parents(path: PathValue) -> tuple[PathValue, ...]:
    """Give the folders above a path that its text names, the nearest first, without the root; a parameter is one."""
    above: list[PathValue] = []
    parts = path.parts
    for length in range(len(parts) - 1, -1, -1):
        rest = "".join(f"/{part}" for part in parts[:length])
        if path.base is not None or rest:
            above.append(PathValue(path.base, rest))
    return tuple(above)


def ancestors(param: str) -> List:
    """Give the filter that matches every folder above a parameter's value."""
    return form("path-ancestors", form("param", Text(param)))


def sayable(path: PathValue, origin: Origin) -> PathValue:
    """Resolve a path; `Unsayable` where no profile can hold it."""
    try:
        quoted(path.rest)
        path = resolved(path)
        quoted(path.rest)
    except ValueError as error:
        # What is no UTF-8 is shown byte for byte, as the language writes it.
        shown = str(path).encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        shown = "".join(one if one.isprintable() else ascii(one)[1:-1] for one in shown)
        shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
        raise Unsayable(NAME, origin, f"`{shown}` cannot stand in an SBPL profile, {error}") from None
    return path
