"""No text is answered with anything but a tree or diagnostics, and none takes long."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz.checks import check
from tests.fuzz.texts import mutated, shuffled
from tests.syntax.derive import SLOW

_MANY = settings(max_examples=200, suppress_health_check=SLOW)


@_MANY
@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_any_text(text: str) -> None:
    check(text)
    check("sbx 1\nprofile p {\n" + text)


@_MANY
@given(st.randoms(use_true_random=False))
def test_shipped_profiles_with_faults(random: object) -> None:
    from random import Random

    assert isinstance(random, Random)
    check(mutated(random))


@_MANY
@given(st.randoms(use_true_random=False))
def test_pieces_of_the_language_in_any_order(random: object) -> None:
    from random import Random

    assert isinstance(random, Random)
    check(shuffled(random))


_PIECES = (
    '{ } ( ) # ; a " < <a / ${ ${a} @ \\ é * .. . a. -1_ a_ a( "\\ {_} a_{ deny_EPERM_a; profile_p_{ ##_a↵ ##_a↵;_ '
    "↵ ↵⇥ ↤ _ ⇥ deny_EPERM_a↵ files_{_read_/a_}↵ a|↵ ,"
)
"""Separated by blanks, which in them are written `_`; arrows are newlines, tabs and carriage returns."""
_HEADS = ["", "sbx 1\n", "sbx 1\nrules @r { ", "sbx 1\ngroup @g { ", "sbx 1\nrules @r { deny EPERM a when ("]


def _pieces() -> list[str]:
    signs = {"_": " ", "↵": "\n", "⇥": "\t", "↤": "\r"}
    return ["".join(signs.get(letter, letter) for letter in piece) for piece in _PIECES.split()]


def _cost(head: str, piece: str, size: int) -> float:
    text = head + piece * (size // len(piece.encode()))
    begin = time.process_time()
    check(text, forms=False)
    return time.process_time() - begin


@pytest.mark.parametrize("piece", _pieces())
@pytest.mark.parametrize("head", _HEADS)
def test_long_texts_of_one_piece_end_soon(piece: str, head: str) -> None:
    assert _cost(head, piece, 1 << 16) < 1.5


@pytest.mark.slow
@pytest.mark.parametrize("piece", _pieces())
@pytest.mark.parametrize("head", _HEADS[2:4])
def test_a_mebibyte_of_one_piece_ends_soon(piece: str, head: str) -> None:
    assert _cost(head, piece, 1 << 20) < 24
