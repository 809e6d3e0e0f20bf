"""The emitter's view of the operation tree: what a name stands for, what is above an operation and what below."""

from functools import cache

from sbc.macos.operations import ALIASES, PARENTS


def canonical(name: str) -> str:
    """Give the operation that a name, perhaps an alias, stands for."""
    return ALIASES.get(name, name)


@cache
def lineage(operation: str) -> tuple[str, ...]:
    """Give an operation and what it falls under, up to `default`: the order in which rules are looked for."""
    parent = PARENTS.get(operation)
    return (operation,) if parent is None else (operation, *lineage(parent))


@cache
def below(operation: str) -> tuple[str, ...]:
    """Give the operations that fall under one, itself excluded, in the tree's order."""
    return tuple(name for name in PARENTS if name != operation and operation in lineage(name))
