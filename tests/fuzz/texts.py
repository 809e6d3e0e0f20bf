"""Texts that are nearly profiles."""

from functools import cache
from random import Random

from sbc.syntax.lexer import tokens_of
from sbc.syntax.parser import tables
from tests.syntax.helpers import shipped

_ODD = [
    "\0", "\r", "\x1b[2J", "\u202e", "\ufeff", "\xe9", "\u65e5", "e\u0301", "\U0001f600", "\xa0", "\u2028", "\t",
    "'", "`", "\\", "\"", "${", "$", "..", "@", "<", ">", "<a>", "#", "##", "###", "//", "~", "~a", "*", "?", "[",
    "-1", "0x", "1e9", "64kb", "18446744073709551616", "9" * 5000, "\"\\u{110000}\"", "\"\\xff\"", "\"${a}\"",
    "{ }", "{{", "}}", "((", "))", ";;", ",,", "\n\n", "\r\n",
]  # fmt: skip


@cache
def _profiles() -> list[str]:
    return [path.read_text("utf-8") for path in shipped()]


@cache
def _vocabulary() -> list[str]:
    found = {token.text for text in _profiles() for token in tokens_of(text) if token.shape != "newline"}
    return sorted({*found, *tables().keywords, *_ODD} - {""})


def mutated(random: Random) -> str:
    """Give a shipped file with some faults: characters or tokens lost, doubled, swapped, or foreign ones put in."""
    text = random.choice(_profiles())
    if len(text) > 3000:  # a piece of it, so that a fault in it is soon tried
        start = random.randrange(len(text) - 2000)
        text = "sbx 1\n" + text[start : start + random.randrange(2000)]
    return mutate(text, random)


def mutate(text: str, random: Random) -> str:
    """Give a text with some faults."""
    for _ in range(random.choice([1, 1, 1, 2, 3, 8])):
        text = random.choice([_of_characters, _of_tokens])(text, random)
    return text


def _of_characters(text: str, random: Random) -> str:
    at = random.randrange(len(text) + 1)
    end = min(len(text), at + random.choice([0, 1, 1, 2, 5, 40]))
    new = random.choice(["", "", random.choice(_ODD), text[at:end] * 2, random.choice('{}();,\n"#/ \t\\$=:')])
    return text[:at] + new + text[end:]


def _of_tokens(text: str, random: Random) -> str:
    tokens = tokens_of(text)
    token, other = random.choice(tokens), random.choice(tokens)
    new = random.choice(["", token.text * 2, f"{token.text} {token.text}", other.text, random.choice(_vocabulary())])
    return text[: token.start] + new + text[token.end :]


def shuffled(random: Random) -> str:
    """Give words and marks of the language in any order, brackets mostly in pairs."""
    words = [random.choice(_vocabulary()) for _ in range(random.randrange(60))]
    for _ in range(random.randrange(6)):
        at = random.randrange(len(words) + 1)
        pair = random.choice(["{}", "{}", "{}", "()"])
        words.insert(at, pair[0])
        words.insert(random.randrange(at + 1, len(words) + 1), pair[1])
    head = random.choice(["", "sbx 1\n", "sbx 1\nprofile p {\n", "sbx 1\nrules @r {", "sbx 1\nprofile p { files {"])
    tail = "}" * head.count("{")
    return head + "".join(word + random.choice([" ", " ", " ", "\n", ""]) for word in words) + tail
