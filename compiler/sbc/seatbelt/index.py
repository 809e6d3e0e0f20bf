"""Rules by operation, in the order in which they are asked, with the paths of each gathered into sets.

Gathering changes no answer: it only tells sooner that a rule matches, or that its many paths do not.
"""

from typing import NamedTuple

from sbc.seatbelt.filters import Combined, Comparison, Filter
from sbc.seatbelt.patterns import Text
from sbc.seatbelt.question import Question
from sbc.seatbelt.rules import Rule
from sbc.seatbelt.verdict import Meter, Verdict, any_of


class Asked(NamedTuple):
    """A question, with its path in the forms that sets hold; None where sets cannot tell."""

    question: Question
    path: str | None
    covering: frozenset[str]
    """The path and every folder above it."""


def asked(question: Question) -> Asked:
    """Prepare a question."""
    path = question.facts.get("path")
    if not isinstance(path, str) or not path.isascii():
        return Asked(question, None, frozenset())
    path = path.lower()
    ends = [at for at, sign in enumerate(path) if sign == "/"]
    return Asked(question, path, frozenset([path, "/", *(path[:end] for end in ends[1:])]))


class Entry:
    """A rule with filters, under one operation."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self._literals: set[str] = set()
        self._covers: set[str] = set()
        prefixes: list[str] = []
        self._others: list[Filter] = []
        for one in _alternatives(rule.filters):
            if isinstance(one, Comparison) and one.fact == "path" and all(map(_plain, one.patterns)):
                for pattern in one.patterns:
                    if isinstance(pattern, Text):
                        value = pattern.value.lower()
                        if pattern.match == "prefix":
                            prefixes.append(value)
                        else:
                            (self._covers if pattern.match == "subpath" else self._literals).add(value)
            else:
                self._others.append(one)
        self._prefixes = tuple(prefixes)

    def verdict(self, asked: Asked, meter: Meter) -> Verdict:
        """Tell whether the rule matches."""
        path = asked.path
        if path is None:
            return any_of(one.verdict(asked.question, meter) for one in self.rule.filters)
        meter.take(1 + len(self._prefixes))
        if path in self._literals or not self._covers.isdisjoint(asked.covering) or path.startswith(self._prefixes):
            return True
        if not self._others:
            return False
        return any_of(one.verdict(asked.question, meter) for one in self._others)


def _alternatives(filters: tuple[Filter, ...]) -> list[Filter]:
    """Give the filters of which one must match, `require-any` opened up."""
    found: list[Filter] = []
    waiting = list(filters)
    while waiting:
        one = waiting.pop()
        if isinstance(one, Combined) and one.name == "require-any":
            waiting += one.parts
        else:
            found.append(one)
    return found


def _plain(pattern: object) -> bool:
    """Tell whether sets say of a pattern what it says itself, for paths in ASCII."""
    if not isinstance(pattern, Text) or pattern.match == "regex" or not pattern.value.isascii():
        return False
    slash = pattern.match == "subpath" and pattern.value != "/" and pattern.value.endswith("/")
    return not slash and not pattern.value.startswith("${")


class Level:
    """The rules that name one operation."""

    def __init__(self) -> None:
        self.filtered: list[Entry] = []
        """Those with filters, the last one first."""
        self.bare: Rule | None = None
        """The last one without: where it stands among the others does not matter [observed]."""


class Index:
    """All rules by operation."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self._levels: dict[str, Level] = {}
        for rule in reversed(rules):
            entry = Entry(rule) if rule.filters else None
            for name in rule.operations:
                level = self._levels.setdefault(name, Level())
                if entry is not None:
                    level.filtered.append(entry)
                elif level.bare is None:
                    level.bare = rule
        self._empty = Level()

    def level(self, operation: str) -> Level:
        """Give the rules that name an operation."""
        return self._levels.get(operation, self._empty)
