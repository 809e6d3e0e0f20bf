"""Text -> tokens: the shapes of the language, cut by the longest match, before the parser says what each is.

A token knows only its shape (a bare word, a path, a string, ...); which terminal of the grammar it is depends on what
the parser can take (`automaton.py`). So `64kib` is one wrong word, never `64` and `kib`, and no state needs a regular
expression of its own.
"""

import re
from typing import Any, Literal, NamedTuple

Shape = Literal["word", "path", "string", "group", "stock", "mark", "newline", "stuck", "bad", "end"]


class Token(NamedTuple):
    """A piece of the text; `end` stands once, after the last.

    No rule takes a `bad` token (no piece of the language) or a `stuck` one (a word, path or string that touches the one
    before).
    """

    shape: Shape
    text: str
    start: int
    end: int


_SHAPES = re.compile(
    r"""
      (?P<blank>    [ \t]+ | \#[^\n\r]* | \r(?=\n) )
    | (?P<word>     -?[A-Za-z0-9_*] (?: [A-Za-z0-9_*-] | \.(?!\.) )* )
    | (?P<newline>  \n (?: [ \t]*+ (?:\#[^\n\r]*+)? \r?\n )*+ )
    | (?P<mark>     == | != | <= | >= | \.\. | ;[; \t]* | [{}(),:=&|+>] | <(?![A-Za-z0-9_./-]+>) )
    | (?P<group>    @[A-Za-z0-9_-]* )
    | (?P<path>     (?: / | ~ | \$\{[^\s{}]*\} ) (?: \$\{[^\s{}]*\} | [^\s;,{}] )*+ )
    | (?P<string>   " (?: [^"\\\n\r]++ | \\[^\n\r] )*+ " )
    | (?P<stock>    < [A-Za-z0-9_./-]+ > )
    | (?P<bad>      "[^\n\r]* | [^\s;,{}"] [^\s;,{}]* | . )
    """,
    re.VERBOSE | re.DOTALL,
)

_STICKY = frozenset({"word", "path", "string", "group", "stock", "bad"})


def tokens_of(text: str) -> list[Token]:
    """Cut `text` into tokens, in order; every character is in one of them, in a blank or in a comment."""
    found: list[Token] = []
    sticky_end = -1
    append = found.append
    for match in _SHAPES.finditer(text):
        shape: Any = match.lastgroup
        if shape != "blank":
            start, end = match.span()
            if shape == "mark" and text[start] == ";":  # a run of them is one token, so that `;;;;...` costs little
                append(Token(shape, ";", start, start + 1))
            elif shape in _STICKY:
                append(Token("stuck" if start == sticky_end else shape, match.group(), start, end))
                sticky_end = end
            else:
                append(Token(shape, match.group(), start, end))
    append(Token("end", "", len(text), len(text)))
    return found
