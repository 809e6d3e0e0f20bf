"""What the automaton cannot take -> what the author is told, in the words of the language."""

from sbc.diagnostics.catalogue.syntax import CannotStandHere
from sbc.diagnostics.diagnostic import Reporter
from sbc.diagnostics.span import Source, Span
from sbc.syntax.driver import Driver


class Complaints:
    """Tells each token that cannot stand where it is."""

    def __init__(self, source: Source, reporter: Reporter) -> None:
        self.source = source
        self.reporter = reporter

    def __call__(self, driver: Driver) -> bool:
        """Report the driver's token; say whether to go on."""
        token = driver.tokens[driver.at]
        exp = tuple(t for t in driver.tables.states[driver.states[-1]])
        self.reporter.add(CannotStandHere(Span(self.source, token.start, token.end), repr(token.text), exp))
        return True
