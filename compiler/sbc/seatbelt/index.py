"""Rules by operation, in the order in which they are asked, with the paths of each gathered into sets.

Gathering changes no answer: it only tells sooner that a rule matches, or that its many paths do not.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sbc.seatbelt.filters import Combined, Comparison, Filter
from sbc.seatbelt.patterns import Text, loosest
from sbc.seatbelt.question import Question
from sbc.seatbelt.rules import Rule
from sbc.seatbelt.verdict import Meter, Verdict, any_of


class Asked(NamedTuple):
    """A question, with its path in the form that sets hold; None where it has no path."""

    question: Question
    path: str | None
    """In its loosest form: one for all spellings that may be taken for one name."""
    covering: frozenset[str]
    """The path and every folder above it."""
    certain: bool
    """Whether it is in ASCII: then it matches what has the same form, and nothing else."""
    held: "dict[Entry, Verdict] | None" = None
    """Verdicts so far, for one path that is asked about under several operations."""


def asked(question: Question, held: "dict[Entry, Verdict] | None" = None) -> Asked:
    """Prepare a question."""
    path = question.facts.get("path")
    if not isinstance(path, str):
        return Asked(question, None, frozenset(), certain=False, held=held)
    certain = path.isascii()
    path = path.lower() if certain else loosest(path)
    ends = [at for at, sign in enumerate(path) if sign == "/"]
    covering = frozenset([path, "/", *(path[:end] for end in ends[1:])])
    return Asked(question, path, covering, certain, held)


class Entry:
    """A rule with filters, under one operation."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.literals: set[str] = set()
        self.covers: set[str] = set()
        self._patterns: dict[tuple[bool, str], list[Text]] = {}
        """By whether all below is meant and by the loosest form: the patterns that have it."""
        self._foreign = False
        prefixes: list[str] = []
        self._others: list[Filter] = []
        for one in _alternatives(rule.filters):
            if isinstance(one, Comparison) and one.fact == "path" and all(map(_plain, one.patterns)):
                for pattern in one.patterns:
                    if isinstance(pattern, Text):
                        if pattern.match == "prefix":
                            prefixes.append(pattern.value.lower())
                        else:
                            self._add(pattern)
            else:
                self._others.append(one)
        self._prefixes = tuple(prefixes)

    def _add(self, pattern: Text) -> None:
        value, below = loosest(pattern.value), pattern.match == "subpath"
        self._patterns.setdefault((below, value), []).append(pattern)
        if pattern.value.isascii():
            (self.covers if below else self.literals).add(value)
        else:
            self._foreign = True

    @property
    def plain(self) -> bool:
        """Whether `literals` and `covers` say all, for a path in ASCII."""
        return not self._others and not self._prefixes and not self._foreign

    def verdict(self, asked: Asked, meter: Meter) -> Verdict:
        """Tell whether the rule matches."""
        if asked.held is None:
            return self._verdict(asked, meter)
        found = asked.held.get(self)
        if found is None:
            found = asked.held[self] = self._verdict(asked, meter)
        return found

    def _verdict(self, asked: Asked, meter: Meter) -> Verdict:
        path = asked.path
        if path is None:
            return any_of(one.verdict(asked.question, meter) for one in self.rule.filters)
        meter.take(1 + len(self._prefixes))
        if asked.certain and (
            path in self.literals or not self.covers.isdisjoint(asked.covering) or path.startswith(self._prefixes)
        ):
            return True
        found = any_of(one.verdict(asked.question, meter) for one in self._others) if self._others else False
        if found is True or (asked.certain and not self._foreign):
            return found
        return any_of((found, *self._compared(asked, meter)))

    def _compared(self, asked: Asked, meter: Meter) -> Iterator[Verdict]:
        """Compare with each pattern that may match, one by one: letters beyond ASCII are in the path or in them."""
        value = asked.question.facts["path"]
        keys = [(False, asked.path or ""), *((True, folder) for folder in asked.covering)]
        yield from (pattern.verdict(value, meter) for key in keys for pattern in self._patterns.get(key, ()))
        if not asked.certain:
            yield from (Text(one, "prefix", folded=True).verdict(value, meter) for one in self._prefixes)


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
    """Tell whether sets tell which patterns may match."""
    if not isinstance(pattern, Text) or pattern.match == "regex":
        return False
    if pattern.match == "prefix" and not pattern.value.isascii():
        return False
    # What an empty one means, and a slash at the end, is not known: it is no text that a set could hold.
    value = pattern.value
    if pattern.match != "prefix" and value != "/" and (not value or value.endswith("/")):
        return False
    return not value.startswith("${")


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


class Matching:
    """Which of some rules match a path: two paths that the same rules match have the same answers.

    Not so for sockets, whose filters also look at the operation.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = tuple(dict.fromkeys(entries))
        self._single: list[Entry] = []
        self._at: dict[str, int] = {}
        self._below: dict[str, int] = {}
        for place, entry in enumerate(self._entries):
            for paths, found in ((entry.literals, self._at), (entry.covers, self._below)):
                for path in paths:
                    found[path] = found.get(path, 0) | 1 << place
            if not entry.plain:
                self._single.append(entry)

    def of(self, path: str, meter: Meter) -> tuple[object, ...]:
        """Give what tells apart paths that are not matched by the same rules."""
        prepared = asked(Question("file*", {"path": path}))
        if prepared.path is None or not prepared.certain:
            return tuple(entry.verdict(prepared, meter) for entry in self._entries)
        found = self._at.get(prepared.path, 0)
        for folder in prepared.covering:
            found |= self._below.get(folder, 0)
        return (found, *(entry.verdict(prepared, meter) for entry in self._single))
