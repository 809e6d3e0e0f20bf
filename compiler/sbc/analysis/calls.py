"""Exact answers about one call under one ABI: what its rules can decide, and whether it can be carried out."""

from bisect import bisect_left
from collections.abc import Iterable
from functools import cached_property

from sbc.decision.policy_road import number_intervals
from sbc.decision.table import Table, TooComplex
from sbc.decision.words import VARIABLES
from sbc.diagnostics.span import Span
from sbc.kernel.numbers import numbers
from sbc.policy.conditions import ALWAYS
from sbc.policy.syscalls import AbiRules, Rule
from sbc.record import replaced
from sbc_runtime.action import Action, Verdict

RUNS = frozenset({Action.ALLOW, Action.LOG})
"""The actions with which the kernel carries a call out."""


class Calls:
    """The calls of one ABI as its rules decide them."""

    def __init__(self, abi: AbiRules) -> None:
        self.abi = abi
        self._found: dict[int, frozenset[Verdict]] = {}

    @cached_property
    def by_number(self) -> dict[int, list[Rule]]:
        """The rules on each number, in order."""
        made: dict[int, list[Rule]] = {}
        for rule in self.abi.rules:
            made.setdefault(rule.number, []).append(rule)
        return made

    @cached_property
    def _placed(self) -> dict[int, list[tuple[int, int, int]]]:
        """The numbers that statements decide: start and end of each in its source, and a number, sorted."""
        found: dict[int, dict[tuple[int, int, int], None]] = {}
        for rule in self.abi.rules:
            span = rule.origin.span
            if span is not None:
                found.setdefault(id(span.source), {})[span.start, span.end, rule.number] = None
        return {source: sorted(places) for source, places in found.items()}

    def numbers_within(self, span: Span) -> list[int]:
        """Give the numbers on which statements within a span have rules, each once."""
        placed = self._placed.get(id(span.source), [])
        first = bisect_left(placed, (span.start, 0, -1))
        last = bisect_left(placed, (span.end, 0, -1))
        return list(dict.fromkeys(number for _, end, number in placed[first:last] if end <= span.end))

    def number(self, call: str) -> int | None:
        """Give the number of a call, or None where the ABI does not have it."""
        return numbers(self.abi.arch.name).get(call)

    def rules(self, call: str) -> list[Rule]:
        """Give the rules that name a call, in order."""
        number = self.number(call)
        return [] if number is None else self.by_number.get(number, [])

    def fallback(self, number: int) -> Verdict:
        """Give the verdict on a number that no rule decides."""
        newer = self.abi.newer
        return newer.verdict if newer is not None and newer.low <= number <= newer.high else self.abi.default

    def verdicts(self, call: str) -> frozenset[Verdict]:
        """Give every verdict that some arguments of a call get; empty where the ABI does not have it."""
        number = self.number(call)
        if number is None:
            return frozenset()
        found = self._found.get(number)
        if found is None:
            found = self._found[number] = self._verdicts(number)
        return found

    def _verdicts(self, number: int) -> frozenset[Verdict]:
        rules = self.by_number.get(number, [])
        if not rules:
            return frozenset({self.fallback(number)})
        if rules[0].condition == ALWAYS:
            return frozenset({rules[0].verdict})
        table = Table()
        try:
            intervals = number_intervals(table, replaced(self.abi, rules=tuple(rules)))
        except TooComplex:
            # Every verdict that stands there: what can really be reached is among them, and the proof tells the author.
            return frozenset((*(rule.verdict for rule in rules), self.fallback(number)))
        root = next(diagram for low, high, diagram in intervals if low <= number <= high)
        return frozenset(_leaves(table, root))

    def runs(self, call: str) -> bool:
        """Tell whether a call is carried out for some arguments."""
        return any(verdict.action in RUNS for verdict in self.verdicts(call))

    def always_runs(self, call: str) -> bool:
        """Tell whether the ABI has a call and carries it out whatever its arguments."""
        found = self.verdicts(call)
        return bool(found) and all(verdict.action in RUNS for verdict in found)

    def denying_rules(self, calls: Iterable[str]) -> list[Rule]:
        """Give the rules on any of these calls that do not carry it out, in the order of the calls."""
        return [rule for call in calls for rule in self.rules(call) if rule.verdict.action not in RUNS]


def _leaves(table: Table, root: int) -> set[Verdict]:
    """Give the verdicts that a diagram can reach."""
    found: set[Verdict] = set()
    seen: set[int] = set()
    todo = [root]
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        if table.variable[node] == VARIABLES:
            found.add(table.verdicts[node])
        else:
            todo += (table.low[node], table.high[node])
    return found
