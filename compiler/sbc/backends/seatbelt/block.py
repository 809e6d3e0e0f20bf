"""The `seatbelt` block as rules, and what becomes of it where the other blocks decide."""

from collections.abc import Iterator

from sbc.backends.seatbelt.areas import NAME
from sbc.backends.seatbelt.families import NETWORK, OPERATIONS, PROCESSES, SHARED_MEMORY, TASKS
from sbc.backends.seatbelt.operations import below, canonical
from sbc.backends.seatbelt.rules import Ledger, SbRule
from sbc.backends.seatbelt.sexpr import List, Node, Text, Word, form
from sbc.backends.target import Loss
from sbc.policy.seatbelt import SbplFilter, SbplImport, SbplRule, SbplString, SbplWord, Seatbelt


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
            if rule.action == "allow" and name in decided:
                yield Loss(NAME, "narrower", rule.origin, f"the other blocks decide `{operation}`")
            elif rule.action == "allow" and name in looking:
                yield Loss(NAME, "wider", rule.origin, "it opens the memory and state of processes outside")
            elif rule.action == "deny" and not rule.filters and ledger.derived_allows(name):
                why = f"the other blocks allow `{operation}` in part, and a deny without a filter yields to that"
                yield Loss(NAME, "wider", rule.origin, why)


def _family(operations: tuple[str, ...]) -> frozenset[str]:
    return frozenset(name for operation in operations for name in (operation, *below(operation)))
