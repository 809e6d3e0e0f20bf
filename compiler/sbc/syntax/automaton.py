"""The LALR automaton: what the grammar's tables mean, independent of what is built and of where tables come from.

The tables are made by lark from `grammar/sbx.lark` (`parser.py`); running them needs nothing of lark, which would
cost more to import than a profile to compile.
"""

import re
from functools import cached_property
from typing import NamedTuple

from sbc.syntax.lexer import Token

END = "$END"
OUTERMOST = "_items{_top}"
"""The list of statements that is a file."""

_STATEMENTS = "_items{"
"""How the symbols of lists of statements begin: the places where parsing can go on after an error."""

NEWLINE = "_NL"
"""The terminal that ends a statement."""

BODIES = frozenset({"brace", "_group_brace"})
"""The symbols of the braces whose end ends a statement: a body's and a group's; a set's is plain."""

_MOST_KNOWN = 10_000
"""So many different words are remembered, so that memory has an end where many files are read."""

DROP, KEEP, MELT = 0, 1, 2
"""What becomes of a symbol's value in its rule: left out, one value, or a list whose values join the rule's."""


class Rule(NamedTuple):
    """A production: what it makes, the method that builds it, and what becomes of each of its symbols.

    `action` is empty where the values melt into the rule that uses this one.
    """

    origin: str
    action: str
    symbols: tuple[int, ...]

    def kept(self) -> list[tuple[int, bool]]:
        """Give the places of the symbols whose values are kept, counted from the end, and whether each melts."""
        count = len(self.symbols)
        return [(at - count, role == MELT) for at, role in enumerate(self.symbols) if role != DROP]


class Tables:
    """The automaton of a grammar.

    `states[s][symbol]` is the next state, or for a terminal `-1 - r`: reduce by `rules[r]`. `keywords` gives the
    terminal of each fixed text, `patterns` the regular expression of each other terminal, most particular first.
    """

    def __init__(
        self,
        states: list[dict[str, int]],
        rules: list[Rule],
        keywords: dict[str, str],
        patterns: dict[str, str],
        *,
        start: int,
        end: int,
    ) -> None:
        self.states = states
        self.rules = rules
        self.keywords = keywords
        self.patterns = patterns
        self.start = start
        self.end = end
        self._known: dict[str, tuple[str, ...]] = {}

    @cached_property
    def _matchers(self) -> list[tuple[str, re.Pattern[str]]]:
        return [(name, re.compile(pattern)) for name, pattern in self.patterns.items()]

    @cached_property
    def words(self) -> dict[str, str]:
        """The fixed text of each terminal that has one."""
        return {terminal: text for text, terminal in self.keywords.items()}

    @cached_property
    def openers(self) -> dict[str, set[str]]:
        """The words with which a statement of each list can begin."""
        found: dict[str, set[str]] = {}
        for state, actions in enumerate(self.states):
            if opened := self.list_after(state):
                found.setdefault(opened[0], set()).update(self.words[name] for name in actions if name in self.words)
        return found

    def terminals(self, token: Token) -> tuple[str, ...]:
        """Give every terminal that a token could be, the one to prefer first."""
        if token.shape == "newline":
            return (NEWLINE,)
        if token.shape == "end":
            return (END,)
        if token.shape in ("bad", "stuck"):
            return ()
        known = self._known.get(token.text)
        if known is None:
            keyword = self.keywords.get(token.text)
            known = (keyword,) if keyword else ()
            if token.shape != "mark":
                known += tuple(name for name, matcher in self._matchers if matcher.fullmatch(token.text))
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[token.text] = known
        return known

    def list_after(self, state: int) -> tuple[str, int] | None:
        """Give the list of statements that can begin in a state, by its symbol and the state after it."""
        for symbol, target in self.states[state].items():
            if symbol.startswith(_STATEMENTS):
                return symbol, target
        return None

    def can_take(self, stack: list[int], terminal: str) -> bool:
        """Say whether a terminal can really stand next: a state alone may promise more than its context allows."""
        stack = stack.copy()
        while True:
            if stack[-1] == self.end:
                return terminal == END
            action = self.states[stack[-1]].get(terminal)
            if action is None:
                return False
            if action >= 0:
                return True
            rule = self.rules[-1 - action]
            del stack[len(stack) - len(rule.symbols) :]
            stack.append(self.states[stack[-1]][rule.origin])
