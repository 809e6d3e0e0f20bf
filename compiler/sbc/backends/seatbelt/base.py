"""The rules of `profiles/lib/macos-base.sb`: what a process needs on macOS under a default of deny."""

from functools import cache

from sbc.backends.seatbelt.operations import below, canonical
from sbc.backends.seatbelt.reader import read
from sbc.backends.seatbelt.rules import Region, SbRule
from sbc.backends.seatbelt.sexpr import List, Node, Text, Word
from sbc.data import profiles_folder
from sbc.macos.operations import OUTSIDE_DEFAULT
from sbc.policy.seatbelt import SbplRule
from sbc.policy.values import PathValue

CLOSED = tuple(name for name in OUTSIDE_DEFAULT if name != "syscall*")
"""Denied by name, since a default of deny does not reach them; without its system calls no process could run."""


@cache
def rules() -> tuple[SbRule, ...]:
    """Give the shipped rules, in their order."""
    path = profiles_folder() / "lib" / "macos-base.sb"
    return tuple(_rule(node) for node in read(path.read_text(encoding="utf-8")))


def _rule(node: Node) -> SbRule:
    match node:
        case List(items=(Word(text="allow" | "deny" as action), *rest)):
            operations = tuple(item.text for item in rest if isinstance(item, Word))
            filters = tuple(item for item in rest if isinstance(item, List))
            if operations and len(operations) + len(filters) == len(rest):
                return SbRule(action, operations, filters, _regions(filters))
        case _:
            pass
    raise ValueError("macos-base.sb: neither `allow` nor `deny`")


def _regions(filters: tuple[List, ...]) -> tuple[Region, ...] | None:
    """Give the paths that the filters match; None where they are not about paths."""
    found: list[Region] = []
    for one in filters:
        match one:
            case List(items=(Word(text="literal" | "subpath" as kind), Text(value=path))):
                found.append(Region(PathValue(None, path), leaf=kind == "literal"))
            case _:
                return None
    return tuple(found) or None


def about_files(rule: SbRule) -> bool:
    """Tell whether a rule is about files: it then belongs under what the `files` block says."""
    return all(canonical(name).startswith(("file-", "process-exec")) for name in rule.operations)


def services(users: tuple[SbplRule, ...], more: tuple[SbRule, ...]) -> tuple[SbRule, ...]:
    """Give what is closed, the rules that do not concern files, and `more`.

    Without what a bare rule of the block decides; it also decides what falls under its operation.
    """
    taken = {
        name
        for rule in users
        if not rule.filters
        for operation in rule.operations
        for name in (canonical(operation), *below(canonical(operation)))
    }
    closed = SbRule("deny", CLOSED, note="open under a default of deny unless named")
    kept: list[SbRule] = []
    for rule in (closed, *rules(), *more):
        operations = tuple(name for name in rule.operations if canonical(name) not in taken)
        if operations and (rule is closed or not about_files(rule)):
            kept.append(SbRule(rule.action, operations, rule.filters, None, rule.note))
    return tuple(kept)


def file_rules() -> tuple[SbRule, ...]:
    """Give the rules on files."""
    return tuple(rule for rule in rules() if about_files(rule))
