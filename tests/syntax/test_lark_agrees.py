"""Our automaton takes what lark's own parser takes: the tables and the lexer lose nothing of the grammar."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

from sbc.diagnostics.diagnostic import Reporter
from sbc.diagnostics.span import Source
from sbc.syntax.parser import parse
from sbc.syntax.tables import grammar_text
from tests.syntax.derive import SLOW, texts
from tests.syntax.helpers import shipped

if TYPE_CHECKING:
    from lark import Lark, Token


class _Lines:
    """Drops newlines inside parentheses, as the language does."""

    always_accept = ("_NL",)

    def process(self, stream: "Iterator[Token]") -> "Iterator[Token]":
        depth = 0
        for token in stream:
            depth += (token.type == "LPAR") - (token.type == "RPAR")
            if token.type != "_NL" or not depth:
                yield token


@cache
def _lark() -> "Lark":
    from lark import Lark

    return Lark(grammar_text(), parser="lalr", lexer="contextual", maybe_placeholders=False, postlex=_Lines())


def _lark_takes(text: str) -> bool:
    from lark.exceptions import UnexpectedInput

    try:
        _lark().parse(text)  # pyright: ignore[reportUnknownMemberType]
    except UnexpectedInput:
        return False
    return True


@pytest.mark.parametrize("path", shipped(), ids=lambda path: path.name)
def test_shipped_files(path: Path) -> None:
    assert _lark_takes(path.read_text("utf-8"))


@settings(max_examples=150, suppress_health_check=SLOW)
@given(texts())
def test_derived_texts(text: str) -> None:
    assert _lark_takes(text)
    assert parse(Source("x.sbx", text), Reporter()) is not None
