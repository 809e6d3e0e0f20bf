"""The derived `process` block: no signal to and no information about processes outside the sandbox."""

from collections.abc import Iterator

from sbc.backends.seatbelt.families import PROCESSES, TASKS
from sbc.backends.seatbelt.rules import SbRule
from sbc.backends.seatbelt.sexpr import Word, form

_SELF = form("target", Word("self"))
_SAME = form("target", Word("same-sandbox"))
_OUTSIDE = form("require-not", form("require-any", _SELF, _SAME))


def rules() -> Iterator[SbRule]:
    """Give the rules: bare ones for what has no target, filtered ones that no filtered rule before can undo."""
    yield SbRule("deny", PROCESSES, note="processes outside: no signal to them, nothing about them")
    yield SbRule("deny", (*PROCESSES, *TASKS), (_OUTSIDE,))
    yield SbRule("allow", PROCESSES, (_SELF, _SAME))
