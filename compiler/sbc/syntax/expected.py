"""What the automaton cannot take -> what the author is told, in the words of the language."""

import re

from sbc.diagnostics.catalogue.syntax import (
    BadCharacter,
    BadName,
    BadNumber,
    CannotStandHere,
    ClosesNothing,
    NotClosed,
    StringNotClosed,
    StuckTogether,
    TooManyErrors,
    UnknownWord,
)
from sbc.diagnostics.diagnostic import Diagnostic, Reporter
from sbc.diagnostics.span import Source, Span
from sbc.diagnostics.suggest import closest
from sbc.diagnostics.visible import shortened
from sbc.syntax.automaton import OUTERMOST
from sbc.syntax.driver import MAX_ERRORS, Driver
from sbc.syntax.lexer import Token
from sbc.syntax.scene import Scene
from sbc.syntax.vocabulary import SPOKEN, unit_meant


class Complaints:
    """Tells each token that cannot stand where it is, up to a number of them."""

    def __init__(self, source: Source, reporter: Reporter) -> None:
        self.source = source
        self.reporter = reporter
        self._count = 0

    def __call__(self, driver: Driver) -> bool:
        """Report the driver's token; say whether to go on."""
        token = driver.tokens[driver.at]
        self._count += 1
        if self._count > MAX_ERRORS:
            self.reporter.add(TooManyErrors(self._span(token), MAX_ERRORS))
            return False
        self.reporter.add(self._diagnostic(driver, token))
        return True

    def _span(self, token: Token) -> Span:
        return Span(self.source, token.start, token.end)

    def _diagnostic(self, driver: Driver, token: Token) -> Diagnostic:
        if token.shape in ("bad", "stuck"):
            return self._no_token(driver, token)
        symbol, _, begun = driver.innermost()
        opened = _innermost_open(driver.tokens[begun : driver.at])
        if token.shape == "end":
            opened = _innermost_open(driver.tokens)
            if opened:
                return NotClosed(self._span(opened), opened.text, self._span(token))
        elif opened and opened.text == "(" and (token.text == "}" or driver.tokens[driver.at - 1].shape == "newline"):
            return NotClosed(self._span(opened), opened.text, self._span(token))
        elif opened is None and (token.text == ")" or (token.text == "}" and symbol == OUTERMOST)):
            return ClosesNothing(self._span(token), token.text)
        if token.shape == "group" and not driver.tables.terminals(token):
            return BadName(self._span(token), token.text, "group")
        if token.shape == "stock" and not driver.tables.terminals(token):
            return BadName(self._span(token), token.text, "stock file")
        return self._misplaced(driver, token)

    # ---- what is no token ----------------------------------------------------------------------------------------

    def _no_token(self, driver: Driver, token: Token) -> Diagnostic:
        if token.text.startswith('"') and not re.fullmatch(r'"(?:[^"\\\n\r]|\\[^\n\r])*"', token.text):
            return StringNotClosed(self._span(token))
        if token.shape == "stuck":
            before = driver.tokens[driver.at - 1]
            return StuckTogether(self._span(token), before.text, token.text)
        advice = None
        if token.text[0] in "?[]":
            advice = f"text with `{token.text[0]}` goes into a string"
        elif token.text[0] == "'":
            advice = 'strings stand in `"`'
        elif token.text[0] == "$":
            advice = "a parameter is written `${name}`"
        elif token.text[0] == "\r":
            advice = "a carriage return stands only before a newline"
        return BadCharacter(Span(self.source, token.start, token.start + 1), token.text[0], advice)

    # ---- a good token at a wrong place ---------------------------------------------------------------------------

    def _misplaced(self, driver: Driver, token: Token) -> Diagnostic:
        scene = Scene(driver)
        if token.shape == "word":
            known = set(driver.tables.terminals(token)) - {"HOST"}
            if token.text[0].isdigit() and (named := scene.named()):
                return BadName(self._span(token), shortened(token.text), named)
            if token.text[0].isdigit() and not known:
                return BadNumber(self._span(token), shortened(token.text), unit_meant(token.text))
            role = scene.role()
            suggestion = closest(token.text, scene.words)
            if role or suggestion:
                advice = None if suggestion else scene.elsewhere(token.text)
                word = shortened(token.text)
                return UnknownWord(
                    self._span(token), word, role or "known here", tuple(scene.words), suggestion, advice
                )
        found = SPOKEN.get(token.shape) or f"`{shortened(token.text)}`"
        return CannotStandHere(self._span(token), found, scene.choices(), scene.advice(token))


def _innermost_open(tokens: list[Token]) -> Token | None:
    """Give the innermost bracket that some tokens open and do not close."""
    opened: list[Token] = []
    for token in tokens:
        if token.shape == "mark":
            if token.text in "{(":
                opened.append(token)
            elif token.text in "})" and opened:
                opened.pop()
    return opened[-1] if opened else None
