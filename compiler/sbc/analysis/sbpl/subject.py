"""What a lint of SBPL looks at: an evaluated profile, and the evaluator's own answers about it."""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from sbc.analysis.sbpl.samples import MAX_SAMPLES, Sample, crossing, further, samples
from sbc.diagnostics.diagnostic import Failed
from sbc.diagnostics.span import Span
from sbc.macos.operations import PARENTS
from sbc.seatbelt.decide import Answer, answer
from sbc.seatbelt.filters import Combined, Comparison, Filter, UnixSocket
from sbc.seatbelt.load import EVERY_PROFILE, Loaded
from sbc.seatbelt.patterns import Pattern
from sbc.seatbelt.rules import Rule
from sbc.seatbelt.verdict import Meter, TooMuch

MAX_WORK = 2_000_000
"""Comparisons of all lints of one profile together; the largest public one (148 KB) takes 400,000."""


class Written(NamedTuple):
    """A pattern, the filter that it stands in, and the rule."""

    rule: Rule
    filter: Comparison
    pattern: Pattern
    at: Span


class Subject:
    """A profile: its rules in order, and what it decides."""

    def __init__(self, loaded: Loaded) -> None:
        self.loaded = loaded
        self.rules = tuple(rule for rule in loaded.rules if rule.at.source is not EVERY_PROFILE)
        """The profile's own rules."""
        self.meter = Meter(MAX_WORK)
        self._order = {id(rule): number for number, rule in enumerate(loaded.rules)}
        self._samples: dict[int, tuple[Sample, ...]] = {}
        self._named: dict[str, list[Rule]] = {}
        for rule in self.rules:
            for operation in rule.operations:
                self._named.setdefault(operation, []).append(rule)

    def order(self, rule: Rule) -> int:
        """Give a rule's place among all."""
        return self._order[id(rule)]

    def naming(self, operation: str) -> list[Rule]:
        """Give the rules that name an operation itself, in order."""
        return self._named.get(operation, [])

    def below(self, operation: str) -> Iterator[str]:
        """Give the operations below this one that some rule names."""
        return (one for one in self._named if one != operation and operation in lineage(one))

    def ask(self, operation: str, sample: Sample, above: str | None = None) -> Answer | None:
        """Ask the evaluator; None where the answer depends on what is not known. `TooMuch` past the budget.

        With `above`: what would be decided if no rule named an operation below that one.
        """
        try:
            return answer(self.loaded, sample.question(operation), self.meter, above)
        except Failed:
            if self.meter.left < 0:
                raise TooMuch from None
            return None

    def samples(self, rule: Rule) -> tuple[Sample, ...]:
        """Give samples of what a rule's filters match."""
        found = self._samples.get(id(rule))
        if found is None:
            self.meter.take(sum(one.size * one.depth for one in rule.filters))
            found = tuple(dict.fromkeys(islice(samples(rule.filters), MAX_SAMPLES)))
            self._samples[id(rule)] = found
        self.meter.take(len(found))
        return found

    def crossing(self, rule: Rule, other: Rule) -> Iterator[Sample]:
        """Give samples of what expressions of one rule match in the folders of another one."""
        for one in rule.filters:
            for beside in other.filters:
                self.meter.take(1 + (one.size * beside.size if isinstance(one, Comparison) else 0))
                for sample in crossing(one, beside):
                    self.meter.take(sum(len(str(value)) for _, value in sample.facts))
                    yield sample

    def further(self, rule: Rule, other: Rule) -> Iterator[Sample]:
        """Give samples of one rule that say besides what another one's filters look at."""
        beside = self.samples(other)
        for sample in self.samples(rule):
            self.meter.take(len(beside))
            yield from further(sample, beside)

    def patterns(self) -> Iterator[Written]:
        """Give every pattern of every rule, once for each place where it was written and each value that it had."""
        seen: set[tuple[int, int, int]] = set()
        for rule in self.rules:
            for one in within(rule.filters):
                key = (id(one), rule.at.start, hash(rule.operations))
                if not isinstance(one, Comparison) or key in seen:
                    continue
                seen.add(key)
                self.meter.take(len(one.patterns))
                for index, pattern in enumerate(one.patterns):
                    yield Written(rule, one, pattern, one.place(index))


def lineage(operation: str) -> tuple[str, ...]:
    """Give an operation and all above it."""
    found: list[str] = []
    here: str | None = operation
    while here is not None:
        found.append(here)
        here = PARENTS[here]
    return tuple(found)


def within(filters: tuple[Filter, ...]) -> Iterator[Filter]:
    """Give filters and all that they consist of; one that is reached in several ways once."""
    waiting = list(reversed(filters))
    seen: set[int] = set()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        if isinstance(one, Combined):
            waiting += reversed(one.parts)
        elif isinstance(one, UnixSocket):
            waiting += reversed(one.inner)
