"""A question: an operation and what it is done to, and what else is known."""

from collections.abc import Mapping
from typing import NamedTuple

from sbc.diagnostics.catalogue.sbpl import SbplQuestion
from sbc.diagnostics.diagnostic import Failed
from sbc.diagnostics.suggest import closest
from sbc.macos.filters import FACTS, OPERATION_CATEGORIES, SPELLINGS
from sbc.macos.operations import ALIASES, PARENTS
from sbc.macos.paths import LINKS
from sbc.seatbelt.addresses import Endpoint, endpoint
from sbc.seatbelt.constants import NUMBERS, PROTOCOLS, WORDS, constant
from sbc.seatbelt.patterns import Fact
from sbc.seatbelt.refuse import refused
from sbc.seatbelt.values import Name, is_text

_NAMED = {
    "mach": "global-name",
    "sysctl": "sysctl-name",
    "posix-ipc": "ipc-posix-name",
    "iokit": "iokit-registry-entry-class",
    "preference-domain": "preference-domain",
    "nvram": "nvram-variable",
    "ae-destination": "appleevent-destination",
    "auth-right-name": "right-name",
    "boot-arg": "boot-arg",
    "notification": "notification-name",
    "kext-bundle-id": "kext-bundle-id",
    "info": "info-type",
    "extension-class": "extension-class",
}
"""What a bare name is, by the categories that the operation has."""

_NAME_KINDS = ("global-name", "local-name", "xpc-service-name")

_NONE = (None, "", "-", "null")
"""How a question says that there is no target."""

LONGEST = 4096
"""Characters of a target: no path of macOS is longer."""


class Question(NamedTuple):
    """What is asked."""

    operation: str
    facts: Mapping[str, Fact]
    """What is known, by what filters look at."""
    endpoint: Endpoint | None = None
    unix: bool = False
    kind_stated: bool = False
    """Whether a Mach service was named with its kind."""


def question(operation: str, target: str | None, attributes: Mapping[str, str] | None = None) -> Question:
    """Read a question; `Failed` where it is none.

    `target` is a path, `remote tcp HOST:PORT`, `local udp HOST:PORT`, `unix PATH`, a name, `global-name NAME`,
    `local-name NAME`, `xpc-service-name NAME`, a relation to the process (`self`, `others`, ...) or none. `attributes`
    are further facts by the names of filters: `{"vnode-type": "SYMLINK"}`.
    """
    operation = ALIASES.get(operation, operation)
    if operation not in PARENTS:
        raise _wrong(f"`{operation}` is no operation of SBPL", closest(operation, (*PARENTS, *ALIASES)))
    asked = Question(operation, {}) if target in _NONE else _targeted(operation, target or "")
    facts = dict(asked.facts)
    for name, value in (attributes or {}).items():
        fact = _attribute_name(name)
        facts[fact] = _attribute(fact, value)
    return asked._replace(facts=facts)


def categories(operation: str) -> tuple[str, ...]:
    """Give what an operation has that a filter can look at."""
    for prefix, found in OPERATION_CATEGORIES:
        if operation.startswith(prefix):
            return found
    return ()


def named_fact(operation: str) -> str | None:
    """Give what a bare name is for an operation; None where it takes none."""
    return next((_NAMED[one] for one in categories(operation) if one in _NAMED), None)


def _anything(operation: str) -> tuple[str, ...]:
    """Give what an operation has; one of which no filter tells may have a path or another process."""
    return categories(operation) or ("path", "target")


def _targeted(operation: str, target: str) -> Question:
    if len(target) > LONGEST:
        raise _wrong(f"the target is longer than {LONGEST} characters")
    _checked(target)
    has = _anything(operation)
    first, _, rest = target.partition(" ")
    if first == "unix" and rest and "network" in has:
        return Question(operation, {"path": _path(rest), "socket-domain": NUMBERS["AF_UNIX"]}, unix=True)
    if first in ("remote", "local") and rest and "network" in has:
        return _network(operation, "remote" if first == "remote" else "local", rest)
    if first in _NAME_KINDS and rest and "mach" in has:
        return Question(operation, {first: rest}, kind_stated=True)
    if target.startswith("/") and "path" in has:
        return Question(operation, {"path": _path(target)})
    if target in WORDS["target"] and "target" in has:
        return Question(operation, {"target": Name(target)})
    named = named_fact(operation)
    if named is not None:
        return Question(operation, {named: target})
    raise _wrong(f"`{target}` is no target of `{operation}`: {_kind(has)}")


def _network(operation: str, side: str, rest: str) -> Question:
    words = rest.split(" ")
    if len(words) != 2 or words[0] not in PROTOCOLS:
        raise _wrong(f"`{side} {rest}` is no address: write `{side} tcp 127.0.0.1:80`")
    try:
        point = endpoint("remote" if side == "remote" else "local", words[0], words[1])
    except ValueError as wrong:
        raise _wrong(str(wrong)) from None
    facts: dict[str, Fact] = {}
    if point.family is not None:
        facts["socket-domain"] = NUMBERS["AF_INET" if point.family == 4 else "AF_INET6"]
    if point.protocol != "ip":
        facts["socket-type"] = NUMBERS["SOCK_STREAM" if point.protocol == "tcp" else "SOCK_DGRAM"]
    return Question(operation, facts, endpoint=point)


def _path(path: str) -> str:
    """Check a path: one that the kernel resolved is absolute, without `.`, `..` and empty parts."""
    parts = path.split("/")[1:]
    if not path.startswith("/") or (path != "/" and not all(part not in ("", ".", "..") for part in parts)):
        raise _wrong(f"`{path}` is no path that the kernel resolved: absolute, without `.`, `..`, `//` and last `/`")
    return path


def _kind(has: tuple[str, ...]) -> str:
    if "network" in has:
        return "it takes `remote tcp 1.1.1.1:443`, `local udp 127.0.0.1:53` or `unix PATH`"
    if "path" in has:
        return "it takes a path from `/`"
    return "it takes `self`, `others`, ..." if "target" in has else "it takes none"


def _attribute_name(name: str) -> str:
    fact = {"vnode": "vnode-type"}.get(name, SPELLINGS.get(name, (name, ""))[0])
    if fact not in FACTS:
        raise _wrong(f"`{name}` is nothing that a filter looks at", closest(name, FACTS))
    return fact


def _attribute(fact: str, value: str) -> Fact:
    kind = FACTS[fact].kind
    _checked(value)
    if len(value) > LONGEST:
        raise _wrong(f"`{fact}` is longer than {LONGEST} characters")
    if kind == "truth":
        if value not in ("#t", "#f", "true", "false"):
            raise _wrong(f"`{fact}` is #t or #f")
        return value in ("#t", "true")
    if kind == "address":
        raise _wrong(f"`{fact}` is said by the target: `{fact} tcp 127.0.0.1:80`")
    if kind not in ("number", "bits"):
        return value
    if value in WORDS.get(fact, ()):
        return Name(value)
    if fact in WORDS:
        raise _wrong(f"`{value}` is no value of `{fact}`", closest(value, WORDS[fact]))
    try:
        return int(value, 0)
    except ValueError:
        found = constant(value)
    if not isinstance(found, int | Name):
        raise _wrong(f"`{value}` is no number, nor a word for one")
    return found


def _checked(text: str) -> None:
    if not is_text(text):
        raise _wrong("the question is no text, or holds a NUL")


def _wrong(why: str, suggestion: str | None = None) -> Failed:
    return refused(SbplQuestion(None, why, suggestion))


def unresolved(target: str) -> str | None:
    """Give the path that the kernel would see, where a target is spelled through a link that every Mac has."""
    path = target.removeprefix("unix ")
    for link, place in LINKS:
        if path.startswith(link + "/"):
            return place + path.removeprefix(link)
    return None
