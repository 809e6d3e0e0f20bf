"""The variables of the diagrams: the words of `struct seccomp_data`, in a fixed order, most significant bit first.

`arch` and `nr` come first, since every filter asks for them first; then each argument, high half before low half, so
that 64-bit order is lexical order; the instruction pointer, which policies never ask for, comes last. The variable of
bit `b` (31 is the most significant) of word `w` is `32 * w + 31 - b`.
"""

from typing import NamedTuple

BITS = 32
ARCH = 0
NR = 1
_FIRST_ARG = 2
IP_HIGH = 14
IP_LOW = 15
WORDS = 16

VARIABLES = BITS * WORDS
"""The number of variables; it also stands for the level of a terminal, which is below all of them."""

WORD_MASK = 0xFFFFFFFF

NAMES = ("arch", "nr", *(f"args[{arg}].{half}" for arg in range(6) for half in ("hi", "lo")), "ip.hi", "ip.lo")
"""The name of each word."""


def high_word(arg: int) -> int:
    """Give the word that holds the high half of argument 0..5."""
    return _FIRST_ARG + 2 * arg


def low_word(arg: int) -> int:
    """Give the word that holds the low half of argument 0..5."""
    return _FIRST_ARG + 2 * arg + 1


class MaskedWord(NamedTuple):
    """The word `word` of the input, AND `mask` (never 0)."""

    word: int
    mask: int


class Input(NamedTuple):
    """One `struct seccomp_data`: `audit` is its `arch`, `number` its `nr`, both as unsigned words."""

    audit: int
    number: int
    args: tuple[int, ...]
    ip: int = 0

    def words(self) -> tuple[int, ...]:
        """Give the value of each word, in the order of the variables."""
        halves = [half for value in self.args for half in (value >> BITS & WORD_MASK, value & WORD_MASK)]
        return (self.audit, self.number, *halves, self.ip >> BITS & WORD_MASK, self.ip & WORD_MASK)


def input_of_words(words: list[int] | tuple[int, ...]) -> Input:
    """Give the input whose words these are."""
    args = tuple(words[high_word(arg)] << BITS | words[low_word(arg)] for arg in range(6))
    return Input(words[ARCH], words[NR], args, words[IP_HIGH] << BITS | words[IP_LOW])
