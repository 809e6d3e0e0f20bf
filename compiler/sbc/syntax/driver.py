"""Runs the automaton over tokens: shifts, reduces, and after an error goes on at the next statement."""

from collections.abc import Callable
from typing import Any

from sbc.syntax.automaton import BODIES, NEWLINE, OUTERMOST, Tables
from sbc.syntax.lexer import Token

MAX_ERRORS = 30
"""So many errors of a file are told."""


class Driver:
    """One run over the tokens of one file.

    `build(action, values, start, end)` makes the value of each rule; `complain(driver)` is told of each token that
    cannot stand where it is (`tokens[at]`) and says whether to go on.
    """

    def __init__(
        self,
        tables: Tables,
        tokens: list[Token],
        build: Callable[[str, list[Any], int, int], Any],
        complain: Callable[["Driver"], bool],
    ) -> None:
        self.tables = tables
        self.tokens = tokens
        self.at = 0
        self.states = [tables.start]
        self.values: list[Any] = [None]
        self.firsts = [0]  # the first token of each symbol on the stack
        self._build = build
        self._complain = complain
        self._rules = [(rule, rule.kept()) for rule in tables.rules]
        self._parentheses = 0
        self._last_end = 0
        self._bodies: list[bool] = []  # for each open brace, whether its end ends a statement
        self._ended = False  # the last token closed such a brace

    def run(self) -> object:
        """Give the value of the whole text; None after an error."""
        tables, tokens, states = self.tables, self.tokens, self.states
        good = True
        while True:
            token = tokens[self.at]
            if token.shape == "newline" and self._parentheses:
                self.at += 1
                continue
            terminals = tables.terminals(token)
            while True:  # reduce until the token can be shifted
                actions = tables.states[states[-1]]
                action = None
                for terminal in terminals:
                    if (action := actions.get(terminal)) is not None:
                        break
                if action is None or action >= 0:
                    break
                self._reduce(-1 - action)
                if states[-1] == tables.end and token.shape == "end":
                    return self.values[-1] if good else None
            if action is not None:
                self._shift(token, action)
                continue
            if self._ended:  # the brace that closes a body or group ends its statement, also with more on the line
                action = self._newline()
                if action is not None:
                    self._push(token, action)
                    continue
            good = False
            if not (self._complain(self) and self._recover()):
                return None

    def _newline(self) -> int | None:
        """Reduce as at a newline; give the state after it, or None where a newline cannot stand."""
        self._ended = False
        while (action := self.tables.states[self.states[-1]].get(NEWLINE)) is not None and action < 0:
            self._reduce(-1 - action)
        return action

    def _shift(self, token: Token, state: int) -> None:
        self._last_end = token.end
        self._ended = False
        if token.shape == "mark":
            self._parentheses += (token.text == "(") - (token.text == ")")
            if token.text == "{":
                self._bodies.append(False)
            elif token.text == "}" and self._bodies:
                self._ended = self._bodies.pop()
        self._push(token, state)
        self.at += 1

    def _push(self, token: Token, state: int) -> None:
        self.states.append(state)
        self.values.append(token)
        self.firsts.append(self.at)

    def _reduce(self, number: int) -> None:
        rule, kept = self._rules[number]
        values = self.values
        children: list[Any] = []
        for place, melts in kept:
            value = values[place]
            if not melts:
                children.append(value)
            elif children:
                children += value
            else:  # a list grows in place, so that a long one costs no copies
                children = value
        if rule.origin in BODIES:
            self._bodies[-1] = True
        first = self.at
        if count := len(rule.symbols):
            first = self.firsts[-count]
            del values[-count:], self.states[-count:], self.firsts[-count:]
        self.states.append(self.tables.states[self.states[-1]][rule.origin])
        self.firsts.append(first)
        if rule.action:
            values.append(self._build(rule.action, children, self.tokens[first].start, self._last_end))
        else:
            values.append(children)

    # ---- after an error ------------------------------------------------------------------------------------------

    def _recover(self) -> bool:
        """Drop the statement that is wrong and stand at its end; False where nothing is left to read."""
        if self.tokens[self.at].shape == "end":
            return False
        self._parentheses = 0
        begun, outermost = self._unwind()
        depth = 0
        for token in self.tokens[begun : self.at]:
            if token.shape == "mark":
                depth += (token.text == "{") - (token.text == "}")
        if depth > 0:
            del self._bodies[-depth:]
        self._ended = False
        while (token := self.tokens[self.at]).shape != "end":
            if token.shape == "mark":
                if token.text == "{":
                    depth += 1
                elif token.text == "}":
                    if depth == 0 and not outermost:
                        break
                    depth = max(depth - 1, 0)
                elif token.text == ";" and depth == 0:
                    break
            elif token.shape == "newline" and depth == 0:
                break
            self.at += 1
        return True

    def _unwind(self) -> tuple[int, bool]:
        """Pop to the innermost list of statements.

        Gives the token at which the wrong statement began, and whether the list is the file's own.
        """
        symbol, height, begun = self.innermost()
        del self.states[height:], self.values[height:], self.firsts[height:]
        opened = self.tables.list_after(self.states[-1])
        if opened:  # the wrong statement is the first
            self.states.append(opened[1])
            self.values.append([])
            self.firsts.append(begun)
        return begun, symbol == OUTERMOST

    def innermost(self) -> tuple[str, int, int]:
        """Give the innermost list of statements: its symbol, the stack's height up to it, the token after it."""
        states = self.states
        for height in range(len(states), 0, -1):
            opened = self.tables.list_after(states[height - 1])
            if opened is None:
                continue
            symbol, state = opened
            if height < len(states) and states[height] == state:
                height += 1  # noqa: PLW2901 - some statements of it are read
            return symbol, height, self.firsts[height] if height < len(states) else self.at
        raise AssertionError("a file is a list of statements")
