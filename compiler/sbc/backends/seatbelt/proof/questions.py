"""What is asked: the paths that matter, and the names and addresses that the policy and its profile speak of."""

import re
from collections.abc import Iterable, Iterator, Sequence

from sbc.backends.seatbelt.proof.meaning import RESOLVER, Meaning
from sbc.backends.seatbelt.proof.places import above, unresolved
from sbc.backends.seatbelt.proof.words import PAGES, STREAMS, TERMINALS
from sbc.seatbelt.filters import Combined, Comparison, Filter
from sbc.seatbelt.load import Loaded
from sbc.seatbelt.patterns import Regex, Text

MANY = 200
"""Of more statements than these only the path itself, what is below and what is beside it are asked about."""

_FEW = 10
"""Where no socket may be connected to but listed ones, of so many stated paths it is asked whether that is so."""

_PATTERN = re.compile(r"[][.*+?(){}|^$]")

_DEVICES = (
    *("/dev", "/dev/x", "/dev/fd", "/dev/fd/3", "/dev/fd/3/x", "/dev/fdx", "/dev/disk0"),
    *("/dev/ttys003", "/dev/ttys", "/dev/ttys003x", "/dev/ttys003/x", "/dev/xttys003"),
    *(f"/dev/{name}{end}" for name in (*STREAMS, *TERMINALS) for end in ("", "x", "/x")),
)
_EVERYWHERE = ("/", "/x", "/private", "/private/tmp/x", "/private/var", "/Users", "/Users/x", "/usr/lib/x", "/etc")

TERMINAL = "/dev/ttys003"


def paths(meaning: Meaning, profiles: Sequence[Loaded], *, moved: bool) -> tuple[str, ...]:
    """Give every path to ask about: those stated, those that rules name, and those around them.

    `profiles` are the one in question, and those that tell what the policy decides. `moved`: only what a parameter's
    value has moved, and the other stated paths themselves.
    """
    places = meaning.places
    few = len(places.stated) <= MANY
    found: dict[str, None] = {} if moved else dict.fromkeys((*_EVERYWHERE, *_DEVICES, RESOLVER))
    for one in places.stated:
        found.update(dict.fromkeys((one.path,) if moved and not one.moved else _around(one.path, few=few)))
    for one in () if moved else profiles:
        named = [path for path in texts(one, "path") if path.startswith("/") and not path.endswith("/")]
        found.update(dict.fromkeys(named))
        if len(named) <= MANY:
            found.update(dict.fromkeys(f"{path}{end}" for path in named for end in ("/x", "x")))
        folders = ["", *(one.path for one in places.stated[:_FEW] if one.path != "/")]
        found.update(dict.fromkeys(matched(one, folders)))
    return tuple(path for path in found if places.certain(path))


def matched(loaded: Loaded, folders: Sequence[str]) -> Iterator[str]:
    """Give paths that plain regular expressions match (`^/a`, `/\\.env$`): by themselves, and in some folders."""
    for pattern in texts(loaded, "path", regex=True):
        letters = pattern.removeprefix("^").removesuffix("$").replace("\\.", ".").strip("/")
        if re.fullmatch(r"[\w./ -]+", letters, re.ASCII) and all(
            part not in ("", ".", "..") for part in letters.split("/")
        ):
            yield from (f"{folder}/{letters}" for folder in (folders if pattern[0] != "^" else folders[:1]))


def _around(path: str, *, few: bool) -> Iterator[str]:
    top = "" if path == "/" else path
    yield from (path, f"{top}/x", f"{path}x")
    if not few:
        return
    yield from above(path)
    yield from (f"{top}/x/y", unresolved(path))
    # Whether a pattern tells case is open, and terminals are matched by one.
    if path.isascii() and not path.startswith("/dev/tty"):
        yield path.swapcase()
    # What a pattern of the same letters would match.
    wild = _PATTERN.sub("x", path)
    if wild != path:
        yield wild


def reachable(meaning: Meaning, *, moved: bool) -> tuple[str, ...]:
    """Give every path to ask about where sockets go by their paths; `moved` as for `paths`."""
    found: dict[str, None] = dict.fromkeys((*_EVERYWHERE, RESOLVER))
    for one in meaning.places.stated:
        if one.moved or not moved:
            found.update(dict.fromkeys(_around(one.path, few=False)))
    return tuple(path for path in found if meaning.places.certain(path))


def texts(loaded: Loaded, fact: str, *, regex: bool = False) -> tuple[str, ...]:
    """Give every string, or every regular expression, with which a profile's filters compare a fact."""
    found: dict[str, None] = {}
    for rule in loaded.rules:
        waiting: list[Filter] = list(rule.filters)
        while waiting:
            one = waiting.pop()
            if isinstance(one, Combined):
                waiting += one.parts
            elif isinstance(one, Comparison) and one.fact == fact:
                for pattern in one.patterns:
                    if isinstance(pattern, Regex) and regex:
                        found[pattern.pattern] = None
                    elif isinstance(pattern, Text) and not regex:
                        found[pattern.value] = None
    return tuple(found)


def names(profiles: Iterable[Loaded], fact: str) -> tuple[str, ...]:
    """Give every name to ask about, of one kind: those that profiles compare, others like them, and one of no rule."""
    found = dict.fromkeys(name for one in profiles for name in texts(one, fact))
    found.update(dict.fromkeys(PAGES if fact == "ipc-posix-name" else ()))
    return tuple(dict.fromkeys((*found, *(f"{name}x" for name in found), "org.example.none")))


def addresses(meaning: Meaning) -> Iterator[tuple[str, int]]:
    """Give hosts and ports: each port of the list, the ones beside it, and some of no list."""
    ports = {port for one in meaning.ports if (port := one.port) is not None}
    asked = sorted({80, 443, *ports, *(port % 65535 + 1 for port in ports)})
    for host in ("127.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "1.1.1.1", "10.0.0.1", "[2001:db8::1]"):
        for port in asked:
            yield host, port


def socket_paths(meaning: Meaning) -> tuple[str, ...]:
    """Give every path to ask about where only listed sockets may be connected to."""
    found: dict[str, None] = dict.fromkeys((*_EVERYWHERE[:3], RESOLVER))
    for path in meaning.sockets:
        found.update(dict.fromkeys((*_around(path, few=False), *above(path), unresolved(path))))
    found.update(dict.fromkeys(one.path for one in meaning.places.stated[:_FEW]))
    return tuple(path for path in found if meaning.places.certain(path))
