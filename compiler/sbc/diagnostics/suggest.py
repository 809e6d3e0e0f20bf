"""What a mistyped word was probably meant to be."""

from collections.abc import Iterable

MAX_SUGGESTIONS = 30
"""So many different words of a run are compared with the known ones; a file with more has another fault than slips."""


class Suggestions:
    """Looks for what words were meant to be: each word once, and not for ever."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], str | None] = {}
        self._words: set[str] = set()

    def __call__(self, word: str, candidates: Iterable[str], among: str = "") -> str | None:
        """Give the closest candidate; `among` names the list of candidates where a word may be looked up in several."""
        key = word, among
        if key not in self._found:
            if word not in self._words and len(self._words) >= MAX_SUGGESTIONS:
                return None
            self._words.add(word)
            self._found[key] = closest(word, candidates)
        return self._found[key]


_LONGEST = 100
"""No known word is as long as this."""


def closest(word: str, candidates: Iterable[str]) -> str | None:
    """Give the candidate that `word` is most likely a slip for, or None where none is near.

    Near is at most one edit in three letters (one in words of three to five, none in shorter ones except for case); an
    edit is a letter added, lost, changed or swapped with its neighbour. Of equally near ones the first in order of the
    alphabet wins, one with the same letters in other case before all.
    """
    limit = len(word) // 3
    if len(word) > _LONGEST:
        return None
    folded = _folded(word)
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
