"""Source -> syntax tree. The only module that uses lark, and only to turn the grammar into tables."""

import re
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from sbc.diagnostics.catalogue.syntax import BadCharacter, CannotStandHere, NoVersion, TooDeep, UnknownVersion
from sbc.diagnostics.diagnostic import Reporter
from sbc.diagnostics.span import Source, Span
from sbc.diagnostics.visible import shortened
from sbc.syntax import stored
from sbc.syntax import tables as stored_tables
from sbc.syntax.automaton import DROP, KEEP, MELT, Rule, Tables
from sbc.syntax.build_rules import RuleBuilder
from sbc.syntax.driver import MAX_ERRORS, Driver
from sbc.syntax.lexer import Token, tokens_of
from sbc.syntax.tree import SourceTree

MAX_DEPTH = 100
VERSION = "1"

_INVISIBLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
"""Control characters, and those that change the direction of text or end a line elsewhere than here."""


def parse(source: Source, reporter: Reporter) -> SourceTree | None:
    """Give the tree of a source; None where it has errors, all of which the reporter then has.

    A file of the stock library was parsed before, when the wheel was built or when it was first used.
    """
    found = stored.load(source)
    if found is None and (parsed := parse_tokens(source, reporter)):
        found = parsed.tree
        stored.save(found)
    return found


class Parsed(NamedTuple):
    """A tree, the tokens that it was made from, and where each `{` stands that opens statements, not a set."""

    tree: SourceTree
    tokens: list[Token]
    blocks: list[int]


def parse_tokens(source: Source, reporter: Reporter) -> Parsed | None:
    """Parse a source and keep its tokens, for the formatter; None where it has errors."""
    own = Reporter()  # what was told of other files is no error of this one
    tokens = tokens_of(source.text)
    tree: object = None
    blocks: list[int] = []
    if _legible(source, own) and _shallow(source, tokens, own):
        builder = RuleBuilder(source, own)
        driver = Driver(tables(), _with_version(source, tokens, own), builder.build, _complaints(source, own))
        tree = driver.run()
        blocks = builder.braces
    for diagnostic in own.diagnostics:
        reporter.add(diagnostic)
    return Parsed(tree, tokens, blocks) if isinstance(tree, SourceTree) and not own.failed else None


def _complaints(source: Source, reporter: Reporter) -> Callable[[Driver], bool]:
    """Give what reports the tokens that cannot stand where they are; it is loaded for the first of them."""
    made: list[Callable[[Driver], bool]] = []

    def complain(driver: Driver) -> bool:
        if not made:
            from sbc.syntax.expected import Complaints  # noqa: PLC0415 - most texts need none of it

            made.append(Complaints(source, reporter))
        return made[0](driver)

    return complain


def _legible(source: Source, reporter: Reporter) -> bool:
    """Refuse characters that make a text look like another one, in comments and strings too."""
    for match in _INVISIBLE.finditer(source.text):
        character = match[0]
        advice = rf"in a string, write `\u{{{ord(character):x}}}`"
        reporter.add(BadCharacter(Span(source, *match.span()), character, advice))
        if len(reporter.diagnostics) == MAX_ERRORS:
            break
    return not reporter.failed


def _shallow(source: Source, tokens: list[Token], reporter: Reporter) -> bool:
    depth = 0
    for token in tokens:
        if token.shape != "mark":
            continue
        if token.text in "{(":
            depth += 1
            if depth > MAX_DEPTH:
                reporter.add(TooDeep(Span(source, token.start, token.end), MAX_DEPTH))
                return False
        elif token.text in ")}":
            depth -= 1
    return True


def _with_version(source: Source, tokens: list[Token], reporter: Reporter) -> list[Token]:
    """Check that the text starts with `sbx 1` on its own; where not, go on as if it did, to tell other errors too."""
    begin = next(i for i, token in enumerate(tokens) if token.shape != "newline")
    first, second, third = (*tokens[begin : begin + 3], tokens[-1], tokens[-1])[:3]
    if first.text != "sbx":
        reporter.add(NoVersion(Span(source, first.start, first.end)))
        rest = begin
    elif second.shape != "word":
        reporter.add(NoVersion(Span(source, first.start, first.end)))
        rest = begin + 1
    elif second.text != VERSION:
        reporter.add(UnknownVersion(Span(source, second.start, second.end), shortened(second.text)))
        rest = begin + 2
    elif third.shape not in ("newline", "end") and third.text != ";":
        found = f"`{shortened(third.text)}`"
        reporter.add(CannotStandHere(Span(source, third.start, third.end), found, ("the end of the statement",)))
        rest = begin + 2
    else:
        return tokens
    return [Token("word", "sbx", 0, 0), Token("word", VERSION, 0, 0), Token("newline", "\n", 0, 0), *tokens[rest:]]


# ---- the tables -----------------------------------------------------------------------------------------------------


@cache
def tables() -> Tables:
    """Give the grammar's tables: from the package, from the user's cache, or made now (and kept)."""
    grammar = stored_tables.grammar_text()
    found = stored_tables.packaged(grammar) or stored_tables.cached(grammar)
    if found is None:
        found = build_tables(grammar)
        stored_tables.save(found, grammar)
    return found


def build_tables(grammar: str) -> Tables:
    """Make the tables of a grammar: the same for the same grammar, though lark numbers states anew each time."""
    from lark import Lark
    from lark.grammar import Rule as LarkRule
    from lark.lexer import TerminalDef

    lark = Lark(grammar, parser="lalr", maybe_placeholders=False)
    data, memo = lark.memo_serialize([TerminalDef, LarkRule])  # pyright: ignore[reportUnknownMemberType]
    keywords: dict[str, str] = {}
    patterns: dict[str, str] = {}
    for reference in data["parser"]["lexer_conf"]["terminals"]:
        terminal = memo[reference["@"]]
        name, pattern = terminal["name"], terminal["pattern"]
        if pattern["__type__"] == "PatternStr":
            keywords[pattern["value"]] = name
        elif not name.startswith("_"):
            patterns[name] = pattern["value"]
    table = data["parser"]["parser"]
    names = {int(number): name for number, name in table["tokens"].items()}
    rules = {reference["@"]: number for number, reference in enumerate(data["rules"])}
    raw = {
        int(state): dict(sorted((names[int(number)], action) for number, action in actions.items()))
        for state, actions in table["states"].items()
    }
    start, end = table["start_states"]["start"], table["end_states"]["start"]
    order = _reached(raw, start)
    states = [
        {symbol: -1 - rules[to["@"]] if reduces else order[to] for symbol, (reduces, to) in raw[state].items()}
        for state in order
    ]
    made = [_rule(memo[reference["@"]]) for reference in data["rules"]]
    return Tables(states, made, keywords, patterns, start=order[start], end=order[end])


def _reached(states: dict[int, dict[str, list[Any]]], start: int) -> dict[int, int]:
    """Number the states in the order in which they are reached from the first."""
    order = {start: 0}
    for state in (waiting := [start]):
        for reduces, to in states[state].values():
            if not reduces and to not in order:
                order[to] = len(order)
                waiting.append(to)
    return order


def _rule(entry: dict[str, Any]) -> Rule:
    origin: str = entry["origin"]["name"]
    action = "" if origin.startswith("_") else entry["alias"] or origin.partition("{")[0]
    symbols = tuple(
        (DROP if symbol["filter_out"] else KEEP)
        if symbol["__type__"] == "Terminal"
        else (MELT if symbol["name"].startswith("_") else KEEP)
        for symbol in entry["expansion"]
    )
    return Rule(origin, action, symbols)
