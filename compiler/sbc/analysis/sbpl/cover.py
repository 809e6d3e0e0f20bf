"""Whether what one filter matches is wholly among what others match, as far as that can be proven.

"Covered" is never a guess; what is covered for reasons not looked for here counts as not covered.
"""

from typing import TypeAlias

from sbc.macos.filters import FACTS
from sbc.seatbelt.addresses import Address
from sbc.seatbelt.filters import Combined, Comparison, Filter, Network, Relation, UnixSocket
from sbc.seatbelt.patterns import Bits, Number, Pattern, Regex, Text, ascii_lower
from sbc.seatbelt.question import Question
from sbc.seatbelt.rules import Rule
from sbc.seatbelt.values import Name
from sbc.seatbelt.verdict import Meter

Key: TypeAlias = tuple[object, ...]

_HELD = "extension"
"""Filters on what a process may hold or not: of these no question says all."""


class Cover:
    """The filters of some rules on one operation."""

    def __init__(self, operation: str, meter: Meter) -> None:
        self._operation = operation
        self._meter = meter
        self._keys: dict[Key, Rule] = {}
        self._prefixes: dict[str, dict[str, Rule]] = {}
        self._networks: list[tuple[Network, Rule]] = []
        self._others: list[tuple[Filter, Rule]] = []

    def add(self, rule: Rule) -> None:
        """Add a rule's filters."""
        for one in rule.filters:
            self.add_filter(one, rule)

    def add_filter(self, one: Filter, rule: Rule) -> None:
        """Add one filter of a rule."""
        self._meter.take(1)
        if isinstance(one, Combined) and one.name == "require-any":
            for part in one.parts:
                self.add_filter(part, rule)
        elif isinstance(one, Comparison):
            for pattern in one.patterns:
                self._keys.setdefault(_key(one.fact, pattern), rule)
                if isinstance(pattern, Text) and pattern.match == "prefix":
                    self._prefixes.setdefault(one.fact, {}).setdefault(_folded(pattern), rule)
                if isinstance(pattern, Regex):
                    self._others.append((Comparison(one.name, one.fact, (pattern,), one.at), rule))
        elif isinstance(one, Relation):
            for word in one.words:
                self._keys.setdefault(("target", word), rule)
        elif isinstance(one, Network):
            self._networks.append((one, rule))
        else:
            self._meter.take(one.size)
            self._keys.setdefault(shape(one), rule)
            if isinstance(one, Combined) and not _holds(one):
                self._others.append((one, rule))

    def covering(self, one: Filter) -> list[Rule] | None:
        """Give rules that together match all that a filter matches; None where that is not certain."""
        self._meter.take(1)
        if isinstance(one, Comparison):
            return _all([self.of_pattern(one.fact, pattern) for pattern in one.patterns])
        if isinstance(one, Relation):
            return _all([_one(self._keys.get(("target", word))) for word in one.words])
        if isinstance(one, Network):
            return _one(next((rule for other, rule in self._networks if _reaches(other, one)), None))
        if isinstance(one, Combined) and one.name == "require-any":
            return _all([self.covering(part) for part in one.parts])
        self._meter.take(one.size)
        found = _one(self._keys.get(shape(one)))
        if found or not (isinstance(one, Combined) and one.name == "require-all"):
            return found
        return next((found for part in one.parts if (found := self.covering(part))), None)

    def of_pattern(self, fact: str, pattern: Pattern) -> list[Rule] | None:
        """Give a rule that matches all that a pattern matches."""
        found = self._keys.get(_key(fact, pattern))
        if found is None and isinstance(pattern, Text):
            found = self._of_text(fact, pattern)
        return _one(found)

    def _of_text(self, fact: str, pattern: Text) -> Rule | None:
        value = _folded(pattern)
        prefixes = self._prefixes.get(fact, {})
        self._meter.take(1 + len(prefixes) + len(value) // 8)
        for prefix, rule in prefixes.items():
            if value.startswith(prefix):
                return rule
        if FACTS[fact].kind == "paths" and value.startswith("/"):
            # The folders above: all below a folder is in its `subpath`, what begins with its name is not.
            ends = [end for end, sign in enumerate(value) if sign == "/" and end]
            whole = [] if pattern.match == "prefix" else [value]
            for above in ("/", *(value[:end] for end in ends), *whole):
                rule = self._keys.get((fact, "subpath", above))
                if rule is not None:
                    return rule
        if pattern.match != "literal":
            return None
        question = Question(self._operation, {fact: pattern.value})
        return next((rule for other, rule in self._others if other.verdict(question, self._meter) is True), None)


def _one(rule: Rule | None) -> list[Rule] | None:
    return None if rule is None else [rule]


def _all(found: list[list[Rule] | None]) -> list[Rule] | None:
    rules: list[Rule] = []
    for one in found:
        if one is None:
            return None
        rules += one
    return rules


def _folded(pattern: Text) -> str:
    return ascii_lower(pattern.value) if pattern.folded else pattern.value


def _key(fact: str, pattern: Pattern) -> Key:
    """Give what tells a pattern from every other."""
    if isinstance(pattern, Text):
        return (fact, pattern.match, _folded(pattern))
    if isinstance(pattern, Regex):
        return (fact, "regex", pattern.pattern)
    if isinstance(pattern, Number):
        return (fact, "number", pattern.value.name if isinstance(pattern.value, Name) else pattern.value)
    return (fact, "bits" if isinstance(pattern, Bits) else "truth", pattern.value)


def shape(one: Filter) -> Key:
    """Give what tells a filter from every other, however it is written."""
    if isinstance(one, Comparison):
        return ("compare", frozenset(_key(one.fact, pattern) for pattern in one.patterns))
    if isinstance(one, Relation):
        return ("target", frozenset(one.words))
    if isinstance(one, Network):
        return (one.side, one.protocol, frozenset(one.addresses))
    if isinstance(one, UnixSocket):
        return (one.side, "unix", frozenset(map(shape, one.inner)))
    if isinstance(one, Combined):
        return (one.name, frozenset(map(shape, one.parts)))
    return (id(one),)


def _holds(one: Combined) -> bool:
    """Tell whether a filter asks what a process holds."""
    waiting: list[Filter] = [one]
    while waiting:
        here = waiting.pop()
        if isinstance(here, Combined):
            waiting += here.parts
        elif isinstance(here, Comparison) and (_HELD in here.fact or here.fact.startswith("%")):
            return True
    return False


def _reaches(wide: Network, narrow: Network) -> bool:
    """Tell whether one address filter matches all that another one matches."""
    if wide.side != narrow.side or wide.protocol not in (narrow.protocol, narrow.protocol.rstrip("46"), "ip"):
        return False
    any_address = (Address(False, None),)
    return all(
        any((not a.loopback or b.loopback) and a.port in (None, b.port) for a in wide.addresses or any_address)
        for b in narrow.addresses or any_address
    )
