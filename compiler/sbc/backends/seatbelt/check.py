"""Checks the `seatbelt` block against what macOS knows: a word that it does not know makes it refuse the profile."""

import re
from collections.abc import Iterator

from sbc.backends.seatbelt.filters import COMBINING, FILTERS, takes
from sbc.backends.seatbelt.operations import canonical
from sbc.backends.seatbelt.paths import resolved
from sbc.backends.seatbelt.sexpr import UnquotableError, quoted
from sbc.diagnostics.catalogue.seatbelt import (
    BareDefault,
    DeadSpelling,
    FilterArgument,
    MisplacedFilter,
    UnknownFilter,
    UnknownOperation,
    UnsayablePath,
    UselessOperation,
)
from sbc.diagnostics.diagnostic import Diagnostic
from sbc.diagnostics.span import Span
from sbc.diagnostics.suggest import Suggestions
from sbc.macos.filters import SPELLINGS
from sbc.macos.operations import ALIASES, NO_EFFECT, PARENTS
from sbc.policy.seatbelt import SbplFilter, SbplRule, SbplString, SbplWord, Seatbelt
from sbc.policy.values import PathValue

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_*.-]*")
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+/-]*")
_PROTOCOLS = tuple(kind + version for kind in ("ip", "tcp", "udp") for version in ("", "4", "6"))
_ADDRESS = re.compile(r"(?:\*|localhost):(?:\*|[0-9]{1,5})")


def check(seatbelt: Seatbelt) -> Iterator[Diagnostic]:
    """Give everything that is wrong with the block, in its order."""
    closest = Suggestions()
    for statement in seatbelt.statements:
        span = statement.origin.span
        if not isinstance(statement, SbplRule):
            yield from _import(span, statement.path)
            continue
        if "default" in statement.operations and not statement.filters:
            yield BareDefault(span, statement.action)
        operations = [name for name in statement.operations if canonical(name) in PARENTS]
        for name in statement.operations:
            if name in NO_EFFECT:
                yield UselessOperation(span, name)
            elif canonical(name) not in PARENTS:
                yield UnknownOperation(span, name, closest(name, (*PARENTS, *ALIASES)))
        for one in statement.filters:
            yield from _filter(span, one, operations, closest)


def _filter(span: Span | None, one: SbplFilter, operations: list[str], closest: Suggestions) -> Iterator[Diagnostic]:
    if one.name in COMBINING:
        if one.arguments or not one.inner or (one.name == "require-not" and len(one.inner) != 1):
            count = "exactly one filter" if one.name == "require-not" else "one filter or more"
            yield FilterArgument(span, one.name, f"it takes {count}")
        for inner in one.inner:
            yield from _filter(span, inner, operations, closest)
        return
    if one.name not in FILTERS:
        yield UnknownFilter(span, one.name, closest(one.name, (*FILTERS, *COMBINING)))
        return
    for operation in operations:
        if not takes(canonical(operation), one.name):
            yield MisplacedFilter(span, one.name, operation)
    yield from _arguments(span, one, operations, closest)


def _arguments(span: Span | None, one: SbplFilter, operations: list[str], closest: Suggestions) -> Iterator[Diagnostic]:
    kind = FILTERS[one.name][1]
    for argument in one.arguments:
        if isinstance(argument, SbplWord) and argument.text in (*FILTERS, *COMBINING):
            yield FilterArgument(span, one.name, f"a `;` or a new line is missing before the filter `{argument.text}`")
            return
    for argument in one.arguments:
        if isinstance(argument, SbplString):
            yield from _unquotable(span, argument.value)
        elif isinstance(argument, SbplWord) and not _WORD.fullmatch(argument.text):
            yield FilterArgument(span, one.name, f"`{argument.text}` is not a word of SBPL")
    if kind == "address":
        yield from _address(span, one, operations, closest)
        return
    if one.inner:
        yield FilterArgument(span, one.name, "it takes no filters")
    if not one.arguments:
        yield FilterArgument(span, one.name, "it needs one")
    for argument in one.arguments:
        if kind != "word" and not isinstance(argument, SbplString):
            yield FilterArgument(span, one.name, "it takes strings")
        elif kind == "word" and isinstance(argument, SbplString) and one.name != "mac-policy-name":
            yield FilterArgument(span, one.name, "it takes bare words or numbers")
        elif kind == "path" and isinstance(argument, SbplString):
            yield from _dead(span, argument.value)
        elif isinstance(argument, SbplString):
            yield from _pattern(span, one.name, argument.value)
        elif isinstance(argument, SbplWord) and _WORD.fullmatch(argument.text):
            yield from _word(span, one.name, argument.text)


def _pattern(span: Span | None, name: str, pattern: str) -> Iterator[Diagnostic]:
    """Check a regular expression; one whose meaning on macOS is open is left to it."""
    if name not in SPELLINGS or SPELLINGS[name][1] != "regex":
        return
    from sbc.seatbelt.regex import Broken, Never, Open, program  # noqa: PLC0415 (few profiles have one)

    try:
        program(pattern)
    except Broken as error:
        yield FilterArgument(span, name, f"its pattern cannot be read: {error}")
    except Never:
        yield FilterArgument(span, name, "its pattern matches nothing: macOS has no `(?:`")
    except Open:
        pass


def _word(span: Span | None, name: str, word: str) -> Iterator[Diagnostic]:
    """Check a word: one of the filter's own, or a constant of the system."""
    from sbc.seatbelt.constants import WORDS, constant  # noqa: PLC0415 (few profiles have one)

    fact = SPELLINGS[name][0] if name in SPELLINGS else name
    known = WORDS.get(fact)
    if known is not None and word not in known:
        yield FilterArgument(span, name, f"`{word}` is none of its words: {', '.join(f'`{one}`' for one in known)}")
    elif known is None and constant(word) is None:
        yield FilterArgument(span, name, f"there is no constant `{word}`")


def _import(span: Span | None, path: str) -> Iterator[Diagnostic]:
    """Check what is imported: a file by its name in the system's folders, or by its whole path."""
    yield from _unquotable(span, path)
    if path.startswith("/"):
        yield from _dead(span, path)
    elif not _FILE.fullmatch(path) or ".." in path.split("/"):
        yield FilterArgument(span, "import", "it takes a system profile by name, such as `system.sb`, or a whole path")


def _address(span: Span | None, one: SbplFilter, operations: list[str], closest: Suggestions) -> Iterator[Diagnostic]:
    """Check `remote` and `local`: a protocol and perhaps an address, or sockets by path."""
    match one.arguments:
        case (SbplWord(text="unix-socket" | "unix"),):
            for inner in one.inner:
                yield from _filter(span, inner, operations, closest)
            return
        case (SbplWord(text=protocol),) if protocol in _PROTOCOLS:
            pass
        case (SbplWord(text=protocol), SbplString(value=address)) if protocol in _PROTOCOLS:
            port = address.rpartition(":")[2]
            if not _ADDRESS.fullmatch(address) or (port != "*" and int(port) > 65535):
                why = f"`{address}` is not `*` or `localhost` with a port, such as `localhost:443` or `*:*`"
                yield FilterArgument(span, one.name, why)
        case _:
            yield FilterArgument(span, one.name, 'it takes a protocol and an address, such as `ip "localhost:443"`')
    if one.inner:
        yield FilterArgument(span, one.name, "only `unix-socket` takes filters")


def _dead(span: Span | None, path: str) -> Iterator[Diagnostic]:
    if not path.startswith("/"):
        yield DeadSpelling(span, path, None)
        return
    try:
        right = resolved(PathValue(None, path)).rest
    except ValueError:
        yield DeadSpelling(span, path, None)
        return
    if right != path:
        yield DeadSpelling(span, path, right)


def _unquotable(span: Span | None, value: str) -> Iterator[Diagnostic]:
    try:
        quoted(value)
    except UnquotableError as error:
        yield UnsayablePath(span, value.encode("unicode_escape").decode("ascii"), str(error))
