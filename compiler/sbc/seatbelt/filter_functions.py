"""The functions that make filters, one for each name that a profile may use."""

from sbc.diagnostics.catalogue.sbpl import SbplRegex
from sbc.macos.filters import FACTS, SPELLINGS, Fact, Match
from sbc.seatbelt.addresses import Address, Side, address
from sbc.seatbelt.atoms import text_of
from sbc.seatbelt.constants import PROTOCOLS, WORDS
from sbc.seatbelt.filters import Combined, Comparison, Filter, Network, Relation, UnixSocket
from sbc.seatbelt.patterns import Bits, Number, Pattern, Regex, Text, Truth
from sbc.seatbelt.procedures import Builtin, Call, shown
from sbc.seatbelt.refuse import refused
from sbc.seatbelt.regex import Broken
from sbc.seatbelt.rules import limited
from sbc.seatbelt.values import Name, Value

_UNIX = ("unix", "unix-socket")
_QUOTED = frozenset("^.[$()|*+?{\\")


def _pattern(call: Call, arguments: list[Value], index: int, looks_at: str, match: Match) -> Pattern:
    fact = FACTS[looks_at]
    value = arguments[index]
    match fact.kind:
        case "number":
            return Number(_number(call, value, index, looks_at), looks_at)
        case "bits":
            if not isinstance(value, int) or isinstance(value, bool):
                raise call.wrong(f"takes a number, not {shown(value)}", index)
            return Bits(value)
        case "truth":
            if not isinstance(value, bool):
                raise call.wrong(f"takes #t or #f, not {shown(value)}", index)
            return Truth(value)
        case _:
            return _text(call, text_of(call, arguments, index), index, fact, match)


def _text(call: Call, text: str, index: int, fact: Fact, match: Match) -> Pattern:
    if match != "regex":
        return Text(text, match, fact.folded)
    call.machine.budget.cells(call.at, 4 * len(text))
    try:
        return Regex(text, folded=fact.folded)
    except Broken as wrong:
        raise refused(SbplRegex(call.place(index), str(wrong))) from None


def _number(call: Call, value: Value, index: int, looks_at: str) -> int | Name:
    words = WORDS.get(looks_at)
    if isinstance(value, Name) and (words is None or value.name in words):
        return value
    if not isinstance(value, int) or isinstance(value, bool):
        raise call.wrong(f"takes {'one of its words' if words else 'a number'}, not {_worded(value)}", index)
    return value


def _worded(value: Value) -> str:
    return f"`{value.name}`" if isinstance(value, Name) else shown(value)


def _comparison(looks_at: str, match: Match) -> Builtin:
    name = next(name for name, found in SPELLINGS.items() if found == (looks_at, match))

    def make(call: Call, arguments: list[Value]) -> Value:
        call.machine.budget.cells(call.at, 1 + len(arguments))
        patterns = [_pattern(call, arguments, index, looks_at, match) for index in range(len(arguments))]
        return Comparison(call.name, looks_at, patterns, call.at, call.places)

    return Builtin(name, make, 1)


def _relation(call: Call, arguments: list[Value]) -> Value:
    words: list[str] = []
    for index, value in enumerate(arguments):
        word = _number(call, value, index, "target")
        if not isinstance(word, Name):
            raise call.wrong("takes `self`, `others`, `same-sandbox`, ...", index)
        words.append(word.name)
    return Relation(tuple(words), call.at)


def _network(side: Side) -> Builtin:
    def make(call: Call, arguments: list[Value]) -> Value:
        kind = arguments[0]
        if isinstance(kind, Name) and kind.name in _UNIX:
            return limited(UnixSocket(side, _filters(call, arguments, 1), call.at))
        if not isinstance(kind, Name) or kind.name not in PROTOCOLS:
            raise call.wrong(f"takes `ip`, `tcp`, `udp` or `unix-socket` first, not {_worded(kind)}", 0)
        addresses = tuple(_address(call, arguments, index) for index in range(1, len(arguments)))
        return Network(side, kind.name, addresses, call.at)

    return Builtin(side, make, 1)


def _address(call: Call, arguments: list[Value], index: int) -> Address:
    try:
        return address(text_of(call, arguments, index))
    except ValueError as wrong:
        raise call.wrong(str(wrong), index) from None


def _filters(call: Call, arguments: list[Value], start: int) -> tuple[Filter, ...]:
    found: list[Filter] = []
    for index in range(start, len(arguments)):
        one = arguments[index]
        if not isinstance(one, Filter):
            raise call.wrong(f"takes filters, not {shown(one)}", index)
        found.append(one)
    call.machine.budget.cells(call.at, len(found))
    return tuple(found)


def _combined(call: Call, arguments: list[Value]) -> Value:
    return limited(Combined(call.name, _filters(call, arguments, 0), call.at))


def _ancestors(call: Call, arguments: list[Value]) -> Value:
    """Give the filter of all folders above paths, themselves excluded (as read, of macOS 10.15 and later)."""
    found: dict[str, None] = {}
    for index in range(len(arguments)):
        path = text_of(call, arguments, index)
        if not path.startswith("/"):
            raise call.wrong("takes paths from `/`", index)
        at = path.find("/", 1)
        found["/"] = None
        while 0 < at < len(path) - 1:
            call.machine.budget.cells(call.at, at)
            found[path[:at]] = None
            at = path.find("/", at + 1)
    texts = [Text(path, "literal", folded=True) for path in found]
    return Comparison(call.name, "path", texts, call.at)


def _entitlement(call: Call, arguments: list[Value]) -> Value:
    """Require an entitlement of the process, or one whose value a filter matches."""
    name = Comparison(call.name, "%entitlement-load", [Text(text_of(call, arguments, 0), "literal", False)], call.at)
    if len(arguments) == 1:
        value: Filter = Comparison(call.name, "%entitlement-boolean", [Truth(True)], call.at)
    else:
        (value,) = _filters(call, arguments, 1)
    return limited(Combined("require-all", (name, value), call.at))


def _entitlement_value(call: Call, arguments: list[Value]) -> Value:
    value = arguments[0]
    if isinstance(value, bool):
        return Comparison(call.name, "%entitlement-boolean", [Truth(value)], call.at)
    return Comparison(call.name, "%entitlement-string", [_text_value(call, arguments, "literal")], call.at)


def _entitlement_regex(call: Call, arguments: list[Value]) -> Value:
    return Comparison(call.name, "%entitlement-string", [_text_value(call, arguments, "regex")], call.at)


def _text_value(call: Call, arguments: list[Value], match: Match) -> Pattern:
    return _text(call, text_of(call, arguments, 0), 0, FACTS["%entitlement-string"], match)


def _worded_filter(name: str, looks_at: str, word: str) -> Builtin:
    """Make a function without arguments that gives one filter, such as `(tty)`."""
    return Builtin(name, lambda call, _: Comparison(call.name, looks_at, [Number(Name(word), looks_at)], call.at), 0, 0)


def _quoted(call: Call, arguments: list[Value]) -> Value:
    """Quote a string for a regular expression."""
    text = text_of(call, arguments, 0)
    call.machine.budget.cells(call.at, 2 * len(text))
    return "".join(f"\\{sign}" if sign in _QUOTED else sign for sign in text)


def filter_functions() -> dict[str, Value]:
    """Give every name that makes a filter."""
    made = {found: _comparison(*found) for found in set(SPELLINGS.values()) if FACTS[found[0]].kind != "address"}
    names: dict[str, Value] = {}
    for name, found in SPELLINGS.items():
        if found in made:
            names[name] = Builtin(name, made[found].function, 1)
    sides: tuple[tuple[str, Side], ...] = (
        ("remote", "remote"),
        ("local", "local"),
        ("to", "remote"),
        ("from", "local"),
    )
    for name, side in sides:
        names[name] = _network(side)
    others = (
        Builtin("target", _relation, 1),
        Builtin("require-all", _combined, 1, role="filter"),
        Builtin("require-any", _combined, 1, role="filter"),
        Builtin("require-not", _combined, 1, 1, role="filter"),
        Builtin("path-ancestors", _ancestors, 1),
        Builtin("require-entitlement", _entitlement, 1, 2),
        Builtin("entitlement-value", _entitlement_value, 1, 1),
        Builtin("entitlement-value-regex", _entitlement_regex, 1, 1),
        Builtin("regex-quote", _quoted, 1, 1),
        _worded_filter("tty", "vnode-type", "TTY"),
        _worded_filter("debug-mode", "system-attribute", "sandbox-debug-mode"),
        _worded_filter("process-is-plugin", "process-attribute", "is-plugin"),
        _worded_filter("process-is-installer", "process-attribute", "is-installer"),
        _worded_filter("datavault-file-filter", "file-attribute", "datavault"),
        _worded_filter("rootless-file-filter", "file-attribute", "sip-protected"),
    )
    names.update((one.name, one) for one in others)
    names.update((word, Name(word)) for words in WORDS.values() for word in words)
    names.update((word, Name(word)) for word in (*PROTOCOLS, *_UNIX))
    return names
