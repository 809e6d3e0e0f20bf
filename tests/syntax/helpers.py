"""What the tests of the syntax share."""

from pathlib import Path
from typing import cast

from sbc.data import profiles_folder
from sbc.diagnostics.diagnostic import Diagnostic, Reporter
from sbc.diagnostics.span import Source, Span
from sbc.record import Record
from sbc.syntax.parser import parse
from sbc.syntax.tree import Profile, SourceTree, Statement


def tree_of(text: str) -> SourceTree:
    """Give the tree of a text that has no error."""
    reporter = Reporter()
    tree = parse(Source("test.sbx", text), reporter)
    assert tree is not None, [(d.code, d.title(), d.span and d.span.line) for d in reporter.diagnostics]
    return tree


def errors_of(text: str) -> list[Diagnostic]:
    """Give the diagnostics of a text."""
    reporter = Reporter()
    assert parse(Source("test.sbx", text), reporter) is None
    return list(reporter.diagnostics)


def statements_of(block: str) -> tuple[Statement, ...]:
    """Give the statements of the one block of a profile."""
    profile = tree_of(f"sbx 1\nprofile p {{\n{block}\n}}\n").items[0]
    assert isinstance(profile, Profile)
    body = profile.blocks[0].body
    assert body is not None
    return body


def meaning(value: object) -> object:
    """Give a tree as plain data without places: equal where two texts say the same."""
    if isinstance(value, Span):
        return None
    if isinstance(value, Record):
        return (type(value).__name__, *(meaning(part) for part in value.__dict__.values()))
    if isinstance(value, tuple):
        return tuple(meaning(part) for part in cast("tuple[object, ...]", value))
    return value


def shipped() -> list[Path]:
    """Give every profile and library file that is shipped."""
    return sorted(profiles_folder().rglob("*.sbx"))
