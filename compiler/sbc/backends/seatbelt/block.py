"""The `seatbelt` block as rules, and what becomes of it where the other blocks decide."""

from collections.abc import Iterator

from sbc.backends.seatbelt.families import NETWORK, OPERATIONS, PROCESSES, SHARED_MEMORY, TASKS
from sbc.backends.seatbelt.operations import below, canonical
from sbc.backends.seatbelt.paths import NAME
from sbc.backends.seatbelt.rules import Ledger, SbRule
from sbc.backends.seatbelt.sexpr import List, Node, Text, Word, form
from sbc.backends.target import Loss, Unread
from sbc.macos.operations import PARENTS
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


def repeated(rules: tuple[SbplRule, ...], ledger: Ledger) -> Iterator[SbRule]:
    """Give the filtered denies of the block anew where an allow derived from another block would undo them.

    What a later rule of the block allows again stays out: inside the block, the last match decides.
    """
    for place, rule in enumerate(rules):
        if rule.action == "allow" or not rule.filters:
            continue
        names = [name for operation in rule.operations for name in ledger.derived_allows(canonical(operation))]
        by_filters: dict[tuple[Node, ...], list[str]] = {}
        for operation in dict.fromkeys(names):
            again = tuple(
                node(one)
                for later in rules[place + 1 :]
                if later.action == "allow" and any(_covers(canonical(o), operation) for o in later.operations)
                for one in later.filters
            )
            filters: tuple[Node, ...] = tuple(node(one) for one in rule.filters)
            if again:
                filters = (form("require-all", _any(filters), form("require-not", _any(again))),)
            by_filters.setdefault(filters, []).append(operation)
        for filters, operations in by_filters.items():
            yield SbRule("deny", tuple(operations), filters, None, f"{rule.origin.where()}: {rule.origin.text}")


def _any(filters: tuple[Node, ...]) -> Node:
    return filters[0] if len(filters) == 1 else form("require-any", *filters)


def _covers(operation: str, other: str) -> bool:
    return operation == other or other in below(operation)


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
