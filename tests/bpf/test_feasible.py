"""Feasibility of intervals of one word under several masks, against counting."""

from hypothesis import given
from hypothesis import strategies as st

from sbc.backends.bpf.feasible import feasible, guess
from sbc.backends.bpf.fields import bits_of_range, next_in

BITS = 6
small = st.integers(0, (1 << BITS) - 1)
intervals = st.tuples(small, small, small).map(lambda three: (three[0], *sorted(three[1:])))


@given(st.lists(intervals, min_size=1, max_size=4).map(tuple))
def test_feasible_says_whether_some_word_fits(parts: tuple[tuple[int, int, int], ...]) -> None:
    fits = any(all(low <= word & mask <= high for mask, low, high in parts) for word in range(1 << BITS))
    assert feasible(parts) == fits
    assert guess(parts) in {fits, None}


@given(st.integers(1, (1 << BITS) - 1), st.integers(0, (1 << BITS) + 3))
def test_the_next_submask(mask: int, bound: int) -> None:
    submasks = [value for value in range(bound, 1 << BITS) if value & ~mask == 0]
    assert next_in(mask, bound) == (submasks[0] if submasks else mask + 1)


@given(small, small)
def test_the_bits_of_a_range(one: int, two: int) -> None:
    low, high = sorted((one, two))
    bits = 0
    for value in range(low, high + 1):
        bits |= value
    assert bits_of_range(low, high) == bits
