"""Reads the SBPL that this project ships: rules, words, ordinary strings, numbers and comments, and no more."""

import re

from sbc.backends.seatbelt.sexpr import List, Node, Text, Word

_TOKEN = re.compile(
    r"""(?P<skip>\s+|;[^\n]*) | (?P<open>\() | (?P<close>\)) | "(?P<text>(?:[^"\\]|\\.)*)" |
        (?P<number>-?\d+(?=[\s()]|$)) | (?P<word>[^\s()";]+)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


def read(source: str) -> tuple[Node, ...]:
    """Give the nodes of a text; `ValueError` where it is not of the form above."""
    stack: list[list[Node]] = [[]]
    position = 0
    while position < len(source):
        token = _TOKEN.match(source, position)
        if token is None:
            raise ValueError(f"unreadable at character {position}")
        position = token.end()
        match token.lastgroup:
            case "open":
                stack.append([])
            case "close":
                if len(stack) == 1:
                    raise ValueError(f"one `)` too many at character {position}")
                done = List(tuple(stack.pop()))
                stack[-1].append(done)
            case "text":
                stack[-1].append(Text(_ESCAPE.sub(_unescaped, token["text"])))
            case "number":
                stack[-1].append(int(token["number"]))
            case "word":
                stack[-1].append(Word(token["word"]))
            case _:
                pass
    if len(stack) != 1:
        raise ValueError("a `)` is missing at the end")
    return tuple(stack[0])


def _unescaped(found: re.Match[str]) -> str:
    if found[1] not in '"\\':
        raise ValueError(f"unsupported escape `{found[0]}`")
    return found[1]
