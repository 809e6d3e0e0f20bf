"""What a mistyped word was probably meant to be."""

from collections.abc import Iterable


def closest(word: str, candidates: Iterable[str]) -> str | None:
    """Give the candidate that `word` is most likely a slip for, or None where none is near.

    Near is at most one edit in three letters (one in words of three to five, none in shorter ones except for case); an
    edit is a letter added, lost, changed or swapped with its neighbour. Of equally near ones the first in order of the
    alphabet wins, one with the same letters in other case before all.
    """
    folded = _folded(word)
    limit = len(word) // 3
    best: tuple[int, int, str] | None = None
    for candidate in candidates:
        if candidate == word:
            continue
        other = _folded(candidate)
        most = limit if best is None else min(limit, best[0])
        if abs(len(other) - len(folded)) > most:
            continue
        edits = 0 if other == folded else _edits(folded, other, most)
        if edits <= most:
            found = (edits, 0 if other[:1] == folded[:1] else 1, candidate)
            best = found if best is None else min(best, found)
    return best[2] if best else None


def _folded(word: str) -> str:
    return word.lower().replace("-", "_")


def _edits(a: str, b: str, limit: int) -> int:
    """Count the edits between two words, exactly up to `limit`, else as more than that (optimal string alignment)."""
    while a and b and a[-1] == b[-1]:
        a, b = a[:-1], b[:-1]
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    a, b = a[start:], b[start:]
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        older, before = before, row
        row = [i]
        for j, y in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
    return row[-1]
