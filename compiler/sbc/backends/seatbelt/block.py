"""The `seatbelt` block as rules, and what becomes of it where the other blocks decide."""

from collections.abc import Iterable, Iterator

from sbc.backends.seatbelt.families import NETWORK, OPERATIONS, PROCESSES, SHARED_MEMORY, TASKS
from sbc.backends.seatbelt.filters import fits
from sbc.backends.seatbelt.operations import below, canonical, lineage
from sbc.backends.seatbelt.paths import NAME
from sbc.backends.seatbelt.rules import Ledger, SbRule, fitting
from sbc.backends.seatbelt.sexpr import List, Node, Text, Word, form
from sbc.backends.target import Loss, Unread
from sbc.macos.operations import OUTSIDE_DEFAULT, PARENTS
from sbc.policy.seatbelt import SbplFilter, SbplImport, SbplRule, SbplString, SbplWord, Seatbelt

_NAMED = 4
"""Of more operations than these the rest is counted."""


def node(one: SbplFilter) -> List:
    """Give a checked filter as a node."""
    items: list[Node] = [Word(one.name)]
    for argument in one.arguments:
        match argument:
            case SbplWord(text=text):
                items.append(Word(text))
            case SbplString(value=value):
                items.append(Text(value))
            case int():
                items.append(argument)
    items += [node(inner) for inner in one.inner]
    return List(tuple(items))


def statements(seatbelt: Seatbelt) -> tuple[SbplRule | SbplImport, ...]:
    """Give the statements that hold on macOS, in the block's order."""
    return tuple(one for one in seatbelt.statements if one.origin.on != "linux")


def as_rule(rule: SbplRule) -> SbRule:
    """Give a rule of the block."""
    note = f"{rule.origin.where()}: {rule.origin.text}"
    return SbRule(rule.action, rule.operations, tuple(node(one) for one in rule.filters), None, note)


def lifted(rules: tuple[SbplRule, ...], base: Iterable[SbRule]) -> Iterator[SbRule]:
    """Give the filtered rules of the block anew on the operations of the base that fall under theirs.

    They stand above the base and below the block: what that says of the very operation decides first, as it would
    without the base.
    """
    sequences: dict[tuple[int, ...], list[str]] = {}
    for operation in dict.fromkeys(canonical(name) for rule in base for name in rule.operations):
        wider = tuple(
            number
            for number, rule in _reached(rules, operation)
            if operation not in map(canonical, rule.operations) and _fitting(rule, operation)
        )
        sequences.setdefault(wider, []).append(operation)
    for numbers, operations in sequences.items():
        for number in numbers:
            yield from fitting(as_rule(rules[number]), tuple(operations))


def repeated(rules: tuple[SbplRule, ...], ledger: Ledger) -> Iterator[SbRule]:
    """Give the filtered denies of the block anew where an allow derived from another block would undo them.

    What the block itself allows again stays out: by a rule on a more concrete operation, or a later one on the same.
    """
    denied = [name for rule in rules if rule.action == "deny" and rule.filters for name in rule.operations]
    undone = dict.fromkeys(name for one in dict.fromkeys(denied) for name in ledger.derived_allows(canonical(one)))
    found: dict[tuple[int, tuple[Node, ...]], list[str]] = {}
    for operation in undone:
        reached = _reached(rules, operation)
        for place, (number, rule) in enumerate(reached):
            filters = _fitting(rule, operation)
            if rule.action == "allow" or not filters:
                continue
            later = [
                one
                for _, other in reached[place + 1 :]
                if other.action == "allow"
                for one in _fitting(other, operation)
            ]
            if later:
                filters = (form("require-all", _any(filters), form("require-not", _any(tuple(later)))),)
            found.setdefault((number, filters), []).append(operation)
    for (number, filters), operations in sorted(found.items(), key=lambda item: item[0][0]):
        origin = rules[number].origin
        yield SbRule("deny", tuple(operations), filters, None, f"{origin.where()}: {origin.text}")


def _reached(rules: tuple[SbplRule, ...], operation: str) -> list[tuple[int, SbplRule]]:
    """Give the block's filtered rules that can decide an operation, with their places; of two the later one decides.

    A rule without a filter ends the search: what its operation falls under is not looked at. Some operations no rule on
    `default` reaches.
    """
    levels: list[list[tuple[int, SbplRule]]] = []
    above = lineage(operation)
    for level in above[:-1] if any(one in OUTSIDE_DEFAULT for one in above) else above:
        named = [(n, rule) for n, rule in enumerate(rules) if any(canonical(one) == level for one in rule.operations)]
        levels.append([(n, rule) for n, rule in named if rule.filters])
        if len(levels[-1]) != len(named):
            break
    return [one for level in reversed(levels) for one in level]


def _fitting(rule: SbplRule, operation: str) -> tuple[Node, ...]:
    return tuple(made for one in rule.filters if fits(operation, made := node(one)))


def _any(filters: tuple[Node, ...]) -> Node:
    return filters[0] if len(filters) == 1 else form("require-any", *filters)


def losses(rules: tuple[SbplRule, ...], closed_network: bool, ledger: Ledger) -> Iterator[Loss]:
    """Say where other blocks decide what the block says: its allows do nothing there, nor do its bare denies."""
    files = _family(OPERATIONS)
    looking = _family(("mach-task*",)) - {"mach-task-name"}
    decided = files | _family((*PROCESSES, *SHARED_MEMORY, *TASKS, *(NETWORK if closed_network else ())))
    for rule in rules:
        for operation in rule.operations:
            name = canonical(operation)
            taken = [one for one in (name, *below(name)) if one in decided] if rule.action == "allow" else []
            if taken:
                yield Loss(NAME, "narrower", rule.origin, f"the other blocks decide {_named(operation, name, taken)}")
            elif rule.action == "allow" and name in looking:
                yield Loss(NAME, "wider", rule.origin, "it opens the memory and state of processes outside")
            elif rule.action == "deny" and not rule.filters and ledger.derived_allows(name):
                why = f"the other blocks allow `{operation}` in part, and a deny without a filter yields to that"
                yield Loss(NAME, "wider", rule.origin, why)


def unread(statements: tuple[SbplRule | SbplImport, ...]) -> Iterator[Unread]:
    """Give what depends on a profile of the Mac's: an import itself, and denies that it may undo.

    A deny is exact only where its operation has none below it and it stands, with a filter, after every import.
    """
    imports = [place for place, one in enumerate(statements) if isinstance(one, SbplImport)]
    for place, one in enumerate(statements):
        if isinstance(one, SbplImport):
            yield Unread(one.origin, "what it allows stands in a file of the Mac's, which nobody has read here")
        elif imports and one.action == "deny":
            whole = not any(below(canonical(name)) for name in one.operations)
            if not (one.filters and whole and place > imports[-1]):
                yield Unread(one.origin, "the imported profile may allow some of it, and nobody has read it here")


def _named(operation: str, name: str, taken: list[str]) -> str:
    """Name what is decided of an operation: itself, or the topmost of those that fall under it."""
    if name in taken:
        return f"`{operation}`"
    tops = [one for one in taken if PARENTS[one] not in taken]
    more = f" and {len(tops) - _NAMED} more" if len(tops) > _NAMED else ""
    return f"{', '.join(f'`{one}`' for one in tops[:_NAMED])}{more} of `{operation}`"


def _family(operations: tuple[str, ...]) -> frozenset[str]:
    return frozenset(name for operation in operations for name in (operation, *below(operation)))
