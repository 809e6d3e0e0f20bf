"""From statements to origins: what the policy remembers of the text that it comes from."""

import re

from sbc.diagnostics.span import Span
from sbc.policy.origin import Block, Origin, System
from sbc.syntax import tree

_PIECES = re.compile(
    r'"(?:[^"\\\n\r]|\\[^\n\r])*"'  # strings and paths keep their blanks and hashes
    r"|(?:/|~|\$\{[^\s{}]*\})[^\s;,{}]*"
    r"|(?P<gap>(?:\s|\#[^\n\r]*)+)"
)


def one_line(text: str, separator: str = " ") -> str:
    """Give a statement on one line, without comments; a line's end becomes `separator`."""
    if "\n" not in text and "#" not in text and "  " not in text:
        return text

    def piece(match: re.Match[str]) -> str:
        gap = match.group("gap")
        if gap is None:
            return match.group()
        before, after = text[: match.start()][-1:], text[match.end() :][:1]
        return separator if "\n" in gap and before not in "{;" and after not in "};" else " "

    return _PIECES.sub(piece, text).strip()


def origin_of(block: Block, statement: tree.Statement | tree.ParamDeclaration, on: System | None = None) -> Origin:
    """Give the origin of a statement."""
    separator = "; " if isinstance(statement, tree.SeatbeltRule) else " "
    return Origin(block, one_line(statement.span.text, separator), statement.span, statement.reason, on)


def block_origin(block: Block, written: tree.Block) -> Origin:
    """Give the origin of a block as such: its keyword and mode, not its body."""
    end: Span = written.mode.span if written.mode else written.keyword.span
    span = written.keyword.span.to(end)
    return Origin(block, one_line(span.text), span, written.reason)
