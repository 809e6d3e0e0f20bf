"""Reads the text of a question: `socket(AF_ALG, SOCK_RAW, 0)`, `clone(flags=CLONE_NEWUSER)`, `nr 41`."""

import re

from sbc.diagnostics.suggest import closest
from sbc.diagnostics.visible import shortened
from sbc.kernel.numbers import all_calls
from sbc.record import Record

MAX_ARGS = 6
MAX_DIGITS = 24
"""More than any number of 64 bits has in hexadecimal, octal or decimal; longer texts are never read as numbers."""

_CALL = re.compile(r"\s*(?:nr\s+)?(?P<call>-?\w+)\s*(?:\((?P<args>.*)\))?\s*", re.S)
_NUMBER = re.compile(r"-?(0[xX][0-9A-Fa-f]+|0o[0-7]+|(?P<octal>0[0-7]+)|0|[1-9][0-9]*)")
_NAME = re.compile(r"[A-Za-z_]\w*")
_NAMED = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)(.*)", re.S)
_UNKNOWN = re.compile(r"_|\?|\.\.\.")
_TEXT = re.compile(r'"[^"]*"')
"""A string stands for its address, which nobody knows."""


class QuestionError(Exception):
    """The question cannot be answered as it stands; `help` says what may have been meant."""

    def __init__(self, message: str, help: str | None = None) -> None:  # noqa: A002 (the word that reports use)
        super().__init__(message)
        self.help = help


class Asked(Record):
    """One argument of the question: its name or else its place, and the terms that are OR-ed; no terms: unknown."""

    name: str | None
    place: int
    terms: tuple[str | int, ...]


class CallQuestion(Record):
    """A call by name or by number, and what was said of its arguments."""

    call: str | int
    args: tuple[Asked, ...]


def read_number(text: str) -> int | None:
    """Read a number as C or the language spells it (`0755` and `0o755` are octal); None where the text is none."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    return int(text, 8 if match["octal"] else 0) if len(text) <= MAX_DIGITS else 1 << 64


def read_call(text: str) -> CallQuestion:
    """Read a question about a call; `QuestionError` where it is none."""
    match = _CALL.fullmatch(text)
    if match is None:
        raise QuestionError(
            f"`{shortened(text.strip())}` is not a call", "write it as in C: `socket(AF_INET, SOCK_STREAM, 0)`"
        )
    word = match["call"]
    call: str | int = word
    if (number := read_number(word)) is not None:
        call = number
    if isinstance(call, int) and not -(1 << 31) <= call < 1 << 32:
        raise QuestionError(f"{shortened(word)} does not fit the 32 bits of a call's number")
    if isinstance(call, str) and call not in all_calls():
        near = closest(call, all_calls())
        raise QuestionError(f"unknown system call `{shortened(call)}`", f"did you mean `{near}`?" if near else None)
    given = _TEXT.sub("_", match["args"] or "")
    parts = given.split(",") if given.strip() else []
    if len(parts) > MAX_ARGS:
        raise QuestionError(f"a call has at most {MAX_ARGS} arguments, here are {len(parts)}")
    return CallQuestion(call, tuple(_asked(place, part) for place, part in enumerate(parts)))


def _asked(place: int, part: str) -> Asked:
    named = _NAMED.fullmatch(part)
    name, value = (named[1], named[2]) if named else (None, part)
    if not value.strip():
        what = f"`{name}`" if name else f"argument {place + 1}"
        raise QuestionError(f"{what} has no value", "write `_` for any value")
    if _UNKNOWN.fullmatch(value.strip()):
        return Asked(name, place, ())
    return Asked(name, place, tuple(_term(term.strip()) for term in value.split("|")))


def _term(text: str) -> str | int:
    if (value := read_number(text)) is not None:
        if not -(1 << 63) <= value < 1 << 64:
            raise QuestionError(f"{shortened(text)} does not fit the 64 bits of a register")
        return value
    if _NAME.fullmatch(text):
        return 0 if text == "NULL" else text
    raise QuestionError(
        f"`{shortened(text)}` is not a value", "write numbers, constants, `A | B`, or `_` for any value"
    )
