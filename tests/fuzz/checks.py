"""What must hold of every text whatever."""

from sbc.diagnostics.diagnostic import Reporter
from sbc.diagnostics.render import render_all, to_json
from sbc.diagnostics.span import Source, Span
from sbc.syntax import stored
from sbc.syntax.formatter import format_source
from sbc.syntax.parser import parse_tokens
from tests.syntax.helpers import meaning

NAMES_OF_THE_GRAMMAR = ("__ANON", "$END", "_NL", "_items", "GLOB", "LBRACE", "SEMICOLON")


def check(text: str, *, forms: bool = True) -> bool:
    """Parse a text and check what comes of it; say whether it is a profile. `forms`: format and store it as well."""
    reporter = Reporter()
    source = Source("fuzz.sbx", text)
    parsed = parse_tokens(source, reporter)
    assert (parsed is None) == bool(reporter.diagnostics)
    shown = render_all(reporter.diagnostics)
    assert all(character.isprintable() or character == "\n" for character in shown)
    for diagnostic in reporter.diagnostics:
        assert isinstance(diagnostic.span, Span)
        assert 0 <= diagnostic.span.start <= diagnostic.span.end <= len(text)
        words = " ".join([diagnostic.title(), diagnostic.label(), diagnostic.help() or ""])
        assert not any(name in words and name not in text for name in NAMES_OF_THE_GRAMMAR), words
        to_json(diagnostic)
    if parsed is not None and forms:
        formatted = format_source(text)
        again = parse_tokens(Source("fuzz.sbx", formatted), Reporter())
        assert again is not None
        assert meaning(again.tree) == meaning(parsed.tree)
        assert format_source(formatted) == formatted
        assert stored.decode(stored.encode(parsed.tree), source) == parsed.tree
    return parsed is not None
