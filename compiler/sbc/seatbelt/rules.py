"""Rules as a profile makes them: `allow`, `deny`, modifiers, and what `with-filter` and its kind add to them."""

from typing import Literal, NamedTuple

from sbc.diagnostics.catalogue.sbpl import SbplBudget, SbplMisplacedFilter, SbplVersion
from sbc.diagnostics.span import Span
from sbc.macos.filters import EVERYWHERE, FACTS, SPELLINGS
from sbc.macos.operations import NEWER, PARENTS
from sbc.seatbelt.budget import MAX_RULES, Budget
from sbc.seatbelt.filters import Combined, Comparison, Filter, Network, Relation, UnixSocket
from sbc.seatbelt.procedures import Builtin, Call, shown
from sbc.seatbelt.question import categories
from sbc.seatbelt.refuse import refused
from sbc.seatbelt.values import UNSPECIFIED, Value

Action = Literal["allow", "deny"]

MAX_FILTERS = 200_000
"""Comparisons that one rule may consist of, counted as often as they are reached."""

MAX_FILTER_DEPTH = 100
"""Filters within filters."""


class Operation(NamedTuple):
    """An operation as a value; `effective` is false for the names that are read and do nothing."""

    name: str
    effective: bool = True


class ModifierName(NamedTuple):
    """A word that `with` takes."""

    name: str


class Modifier(NamedTuple):
    """What `(with X)` gives: it never changes allow or deny."""

    name: str
    argument: str | None


class Rule(NamedTuple):
    """One rule: its operations by the tree's own names, its filters (one match is enough; none: bare)."""

    action: Action
    operations: tuple[str, ...]
    filters: tuple[Filter, ...]
    modifiers: tuple[Modifier, ...]
    at: Span


class Profile:
    """What a profile has said so far."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.rules: list[Rule] = []
        self.version: int | None = None
        self.trace: str | None = None
        self.missing: dict[str, Span] = {}
        """Parameters that were asked for and not given, and where each was first."""
        self.extra: list[Operation | Filter | Modifier] = []
        """What `with-filter`, `with-modifier` and `with-operations` add to each rule within them."""

    def begun(self, at: Span) -> None:
        """Check that the version was said: before that there are no rules, on macOS neither."""
        if self.version is None:
            raise refused(SbplVersion(at, "a profile says its version before anything else of SBPL"))

    def add(self, call: Call, action: Action, arguments: list[Value]) -> Value:
        """Carry out `allow` or `deny`: operations, filters and modifiers in any order."""
        self.begun(call.at)
        operations: list[Operation] = []
        filters: list[Filter] = []
        modifiers: list[Modifier] = []
        for index, one in enumerate(arguments):
            if isinstance(one, Operation):
                operations.append(one)
            elif isinstance(one, Filter):
                filters.append(one)
            elif isinstance(one, Modifier):
                modifiers.append(one)
            else:
                raise call.wrong(f"takes operations, filters and modifiers, not {shown(one)}", index)
        self.budget.work(call.at, len(arguments) + len(self.extra))
        for extra in self.extra:
            if isinstance(extra, Filter):
                filters = [both(filters, extra, call.at)]
            elif isinstance(extra, Operation):
                operations.append(extra)
            else:
                modifiers.append(extra)
        if not operations:
            raise call.wrong("names no operation")
        self._keep(call, action, operations, filters, modifiers)
        return UNSPECIFIED

    def _keep(
        self,
        call: Call,
        action: Action,
        operations: list[Operation],
        filters: list[Filter],
        modifiers: list[Modifier],
    ) -> None:
        names = tuple(dict.fromkeys(one.name for one in operations if one.effective))
        size = sum(one.size for one in filters)
        if size > MAX_FILTERS:
            raise refused(SbplBudget(call.at, "comparisons in one rule", MAX_FILTERS))
        self.budget.cells(call.at, (1 + len(names)) * (1 + size) + len(modifiers))
        for name in names:
            for one in filters:
                check(name, one)
        if len(self.rules) >= MAX_RULES:
            raise refused(SbplBudget(call.at, "rules", MAX_RULES))
        if names:
            self.rules.append(Rule(action, names, tuple(filters), tuple(modifiers), call.at))


def both(filters: list[Filter], extra: Filter, at: Span) -> Filter:
    """Require one of a rule's filters, and another one too."""
    if not filters:
        return extra
    one = filters[0] if len(filters) == 1 else Combined("require-any", tuple(filters), at)
    return limited(Combined("require-all", (one, extra), at))


def limited(one: Filter) -> Filter:
    """Refuse filters that are too large: shared parts count as often as they are reached."""
    if one.size > MAX_FILTERS:
        raise refused(SbplBudget(one.at, "comparisons in one filter", MAX_FILTERS))
    if one.depth > MAX_FILTER_DEPTH:
        raise refused(SbplBudget(one.at, "filters within each other", MAX_FILTER_DEPTH))
    return one


def check(operation: str, one: Filter) -> None:
    """Refuse a filter that the operation has nothing for: macOS does so for the whole profile."""
    if operation in NEWER:
        return
    has = _categories(operation)
    waiting = [one]
    while waiting:
        here = waiting.pop()
        if isinstance(here, Combined):
            waiting += here.parts
        elif isinstance(here, UnixSocket):
            waiting += here.inner
        if not isinstance(here, Combined) and category(here) not in has:
            raise refused(SbplMisplacedFilter(here.at, here.name, operation))


def category(one: Filter) -> str:
    """Give the category of what a filter looks at."""
    if isinstance(one, Network | UnixSocket):
        return "network"
    if isinstance(one, Relation):
        return "target"
    if isinstance(one, Comparison):
        return FACTS[one.fact].category
    return FACTS[SPELLINGS[one.name][0]].category


_CATEGORIES: dict[str, frozenset[str]] = {}


def _categories(operation: str) -> frozenset[str]:
    """Give what an operation, or any that falls under it, has: an operation that stands for several takes all."""
    found = _CATEGORIES.get(operation)
    if found is None:
        names = [operation]
        for name in names:
            if name.endswith("*") or name == "default":
                names += (child for child, parent in PARENTS.items() if parent == name)
        found = frozenset(EVERYWHERE).union(*(categories(name) for name in names))
        _CATEGORIES[operation] = found
    return found


def modifier(call: Call, arguments: list[Value]) -> Value:
    """Carry out `(with NAME)` or `(with NAME ARGUMENT)`."""
    word = arguments[0]
    if not isinstance(word, ModifierName):
        raise call.wrong(f"takes the name of a modifier, not {shown(word)}", 0)
    takes = word.name in WITH_ARGUMENT
    if takes != (len(arguments) == 2):
        raise call.wrong(f"takes {'an' if takes else 'no'} argument after `{word.name}`")
    argument = arguments[1] if takes else None
    if argument is not None and (not isinstance(argument, int | str) or isinstance(argument, bool)):
        raise call.wrong("takes a number or a string as a modifier's argument", 1)
    return Modifier(word.name, None if argument is None else str(argument))


WITH_ARGUMENT = frozenset({"send-signal", "message", "default-sandbox", "authority", "assign-storage-class"})

MODIFIERS: dict[str, str] = {
    **{name: name for name in WITH_ARGUMENT},
    **{
        name: name
        for name in (
            *("report", "no-report", "no-sandbox", "no-times", "grant", "telemetry", "rootless", "deprecated"),
            *("user-approval", "no-approval-prompt", "no-callout", "partial-symbolication"),
        )
    },
    "no-log": "no-report",
    "no-profile": "no-sandbox",
    "rootless-modifier": "rootless",
}
"""Each modifier, and what it is another name for."""


def rule_functions(profile: Profile) -> list[Builtin]:
    """Give the functions that make rules of a profile."""
    return [
        Builtin("allow", lambda call, arguments: profile.add(call, "allow", arguments), role="operation"),
        Builtin("deny", lambda call, arguments: profile.add(call, "deny", arguments), role="operation"),
        Builtin("with", modifier, 1, 2, role="modifier"),
    ]
