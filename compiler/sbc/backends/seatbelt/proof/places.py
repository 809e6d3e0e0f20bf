"""The statements of the `files` block on macOS, with parameters filled in: the most specific one decides a path."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple
from unicodedata import normalize

from sbc.policy.filesystem import Access
from sbc.policy.origin import Origin
from sbc.policy.policy import Policy
from sbc.policy.values import PathValue

HOMES = ("home", ":HOME")
"""The home folder, and what the variable HOME says; `hide` covers both."""

_DATA = "/System/Volumes/Data"


class Stated(NamedTuple):
    """A statement on one path."""

    path: str
    """As the kernel resolves it."""
    access: Access
    noexec: bool
    alone: bool
    """It is a file: nothing is below it."""
    rank: tuple[int, int, int]
    """How deep the path is taken to be at compile time: one below a parameter deeper than any literal one, of
    parameters the home folder the least deep."""
    origin: Origin

    @property
    def moved(self) -> bool:
        """Whether a parameter's value says where it is."""
        return self.rank[0] == 1

    @property
    def protected(self) -> bool:
        """Whether it must stay where it is."""
        return self.access != "write"


class Here(NamedTuple):
    """What the statements say of one path."""

    path: str
    access: Access
    noexec: bool
    origin: Origin
    depth: tuple[int, int, int]
    """How deep the deciding statement is."""
    looked: bool
    """It is on the way to something visible."""
    guarded: bool
    """Something protected lies below it."""

    @property
    def hidden_root(self) -> bool:
        """Whether it is hidden, and by nothing but what is said of the whole tree."""
        return self.access == "hide" and self.depth == (0, 0, 0)


class Places:
    """All statements of one policy, for one choice of values."""

    def __init__(self, policy: Policy, values: Mapping[str, str], more: Iterable[str] = ()) -> None:
        self._more = tuple(more)
        """Paths that matter besides those of statements."""
        self.stated = tuple(_stated(policy, values))
        self._root = _root(policy)
        self._at: dict[str, Stated] = {}
        for one in self.stated:
            name = folded(one.path)
            self._at[name] = min(one, self._at.get(name, one), key=lambda each: each.alone)
        visible = (one.path for one in self.stated if one.access != "hide")
        self._looked = frozenset(folder for path in visible for folder in above(folded(path)))
        guarded = (one.path for one in self.stated if one.protected)
        self._guarded = frozenset(folder for path in guarded for folder in above(folded(path)))

    def here(self, path: str) -> Here:
        """Give what decides a path."""
        name = folded(path)
        found = self._root
        for place in (name, *above(name)):
            one = self._at.get(place)
            if one is not None and not (one.alone and place != name):
                found = one
                break
        looked, guarded = name in self._looked, name in self._guarded
        return Here(path, found.access, found.noexec, found.origin, found.rank, looked, guarded)

    def hidden(self, path: str) -> tuple[int, int, int]:
        """Give how deep the deepest literal path is that covers this one and is hidden, whatever is below it."""
        name = folded(path)
        over = (self._at.get(place) for place in (name, *above(name)))
        ranks = (one.rank for one in over if one is not None and one.access == "hide" and not one.moved)
        return next(ranks, (0, 0, 0))

    def certain(self, path: str) -> bool:
        """Tell whether it is known how a path compares with all others: beyond ASCII, case and accents are open."""
        if path.isascii():
            return True
        return all(
            self._spellings.get(folded(part), {_strict(part)}) == {_strict(part)} for part in (path, *above(path))
        )

    @cached_property
    def _spellings(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for path in (*(one.path for one in self.stated), *self._more):
            for part in (path, *above(path)):
                found.setdefault(folded(part), set()).add(_strict(part))
        return found

    def as_compiled(self) -> bool:
        """Tell whether what is assumed when compiling holds for these values; whoever fills them in refuses others.

        One path has one access, nothing lies below a file, and what lies below another statement's path and has other
        access was taken to be deeper.
        """
        for one in self.stated:
            name = folded(one.path)
            if _access(self._at[name]) != _access(one):
                return False
            for place in above(name):
                other = self._at.get(place)
                if other is None:
                    continue
                if other.alone or (_access(other) != _access(one) and other.rank >= one.rank):
                    return False
        return True


def _access(one: Stated) -> tuple[str, bool]:
    return one.access, one.noexec


def _stated(policy: Policy, values: Mapping[str, str]) -> Iterator[Stated]:
    files = {param.name for param in policy.params if param.type == "file"}
    for rule in policy.files.rules:
        if rule.origin.on == "linux":
            continue
        bases = HOMES if rule.access == "hide" and rule.path.base == "home" else (rule.path.base,)
        for base in bases:
            path = PathValue(base, rule.path.rest)
            alone = path.base in files and not path.rest
            yield Stated(filled(path, values), rule.access, rule.noexec, alone, _rank(path), rule.origin)
    for tmp in policy.files.tmps:
        if tmp.origin.on != "linux":
            yield Stated(filled(tmp.path, values), "hide", False, False, _rank(tmp.path), tmp.origin)


def _root(policy: Policy) -> Stated:
    """Give what holds where no statement does."""
    kinds = [one for one in policy.files.roots if one.origin.on != "linux"]
    said = next((one for one in kinds if one.origin.on == "macos"), kinds[-1] if kinds else None)
    access: Access = "read" if said is not None and said.kind == "host" else "hide"
    origin = said.origin if said else policy.files.origin
    return Stated("/", access, False, False, (0, 0, 0), origin)


def _rank(path: PathValue) -> tuple[int, int, int]:
    if path.base is None:
        return (0, len(above(resolved(path.rest))), 0)
    return (1, path.rest.count("/"), 0 if path.base in HOMES else 1)


def filled(path: PathValue, values: Mapping[str, str]) -> str:
    """Give a path with its parameter filled in, as the kernel resolves it; the values are resolved already."""
    if path.base is None:
        return resolved(path.rest)
    return values[path.base] + "".join(f"/{part}" for part in path.parts if part != ".")


def resolved(path: str) -> str:
    """Follow the links that every Mac has, and leave out what names nothing: `/./`, `//`, a last `/`."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    text = "/" + "/".join(parts)
    if len(parts) > 3 and folded(text).startswith(folded(_DATA) + "/"):
        parts = parts[3:]
    first = parts[0].lower() if parts else ""
    if first in ("tmp", "var", "etc"):
        parts = ["private", *parts]
    elif first == "home":
        parts = [*_DATA[1:].split("/"), *parts]
    return "/" + "/".join(parts)


def unresolved(path: str) -> str:
    """Give another spelling of a path, one that the kernel never sees."""
    for place, link in (("/private/tmp", "/tmp"), ("/private/var", "/var"), ("/private/etc", "/etc")):  # noqa: S108
        if path == place or path.startswith(f"{place}/"):
            return link + path.removeprefix(place)
    if path.startswith(f"{_DATA}/home"):
        return path.removeprefix(_DATA)
    return _DATA + path if path != "/" else _DATA


def above(path: str) -> tuple[str, ...]:
    """Give the folders above a path, the nearest first, the root last."""
    if path == "/":
        return ()
    found: list[str] = []
    end = path.rfind("/")
    while end > 0:
        found.append(path[:end])
        end = path.rfind("/", 0, end)
    return (*found, "/")


def folded(text: str) -> str:
    """Give one spelling for all that macOS may take for one name."""
    if text.isascii():
        return text.lower()
    return normalize("NFD", normalize("NFD", text).casefold())


def _strict(text: str) -> str:
    return "".join(letter.lower() if letter.isascii() else letter for letter in text)
