"""Fields: the parts of `seccomp_data` that one comparison can look at.

A field is a 32-bit word under a mask. The plain word has the mask of all ones; `mode & 0xffff` (a 16-bit argument)
and `flags & O_ACCMODE` are fields of the same word. Only *submasks* (values with no bit outside the mask) occur in a
field, so cells of a field start at submasks: `x & 0x80` has the cells `0` and `0x80`, and nothing between.
"""

from typing import NamedTuple

FULL = 0xFFFFFFFF
"""The mask of the plain word."""


class Field(NamedTuple):
    """The word at `offset` in `seccomp_data`, under `mask`."""

    offset: int
    mask: int = FULL


def next_in(mask: int, bound: int) -> int:
    """Give the smallest submask of `mask` that is at least `bound`; `mask + 1` where there is none.

    With the mask 0b1010: 0 -> 0, 1 -> 0b10, 3 -> 0b1000, 9 -> 0b1010, 11 -> 11 (none).
    """
    outside = bound & ~mask
    if outside == 0 or bound > mask:
        return min(bound, mask + 1)
    upper = mask & -(1 << outside.bit_length())  # the mask above the highest bit that `bound` has and it has not
    return (((bound & upper) | ~upper) + 1) & upper


def bits_of_range(low: int, high: int) -> int:
    """Give the OR of all numbers from `low` to `high`, both ends in."""
    return high | ((1 << (low ^ high).bit_length()) - 1)
