"""How much a profile may take, so that a hostile one ends soon.

The largest public profile (148 KB) takes 11,000 steps and makes 600 rules.
"""

from typing import Final

from sbc.diagnostics.catalogue.sbpl import SbplBudget
from sbc.diagnostics.span import Span
from sbc.seatbelt.refuse import refused

MAX_SOURCE: Final = 1 << 20
"""Bytes of one text; `sandbox-exec` takes no longer one either."""

MAX_NESTING: Final = 500
"""Lists within lists, as written."""

MAX_STEPS: Final = 400_000
"""Evaluations of one profile."""

MAX_DEPTH: Final = 10_000
"""Evaluations that wait for another one."""

MAX_CELLS: Final = 1_000_000
"""Items of lists, characters of strings and filters that functions make."""

MAX_WORK: Final = 10_000_000
"""Items and characters that are only looked at, over and over."""

MAX_RULES: Final = 50_000

MAX_FILES: Final = 64
"""Texts that one profile imports, one after another or within each other."""

MAX_IMPORTED: Final = 4 * MAX_SOURCE
"""Characters of all of them."""


class Budget:
    """What one profile has taken so far."""

    def __init__(self) -> None:
        self._steps = 0
        self._cells = 0
        self._work = 0
        self._files = 0
        self._imported = 0

    def step(self, at: Span, depth: int) -> None:
        """Count an evaluation."""
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise refused(SbplBudget(at, "steps", MAX_STEPS))
        if depth > MAX_DEPTH:
            raise refused(SbplBudget(at, "evaluations within each other", MAX_DEPTH))

    def cells(self, at: Span, count: int) -> None:
        """Count memory, before it is taken."""
        self._cells += count
        if self._cells > MAX_CELLS:
            raise refused(SbplBudget(at, "items and characters", MAX_CELLS))

    def work(self, at: Span, count: int) -> None:
        """Count what is looked at."""
        self._work += count
        if self._work > MAX_WORK:
            raise refused(SbplBudget(at, "items and characters looked at", MAX_WORK))

    def file(self, at: Span, size: int) -> None:
        """Count an imported text."""
        self._files += 1
        self._imported += size
        if self._imported > MAX_IMPORTED:
            raise refused(SbplBudget(at, "imported characters", MAX_IMPORTED))
        if self._files > MAX_FILES:
            raise refused(SbplBudget(at, "imported files", MAX_FILES))
