"""The analyses, in the order in which they report. A new one: one function, one line here, one catalogue entry."""

from collections.abc import Callable, Iterable

from sbc.analysis import (
    clone3_fallback,
    dead_rules,
    default_allow,
    foreign_abi,
    io_uring,
    needed_calls,
    newer_calls,
    overrides,
    seatbelt_words,
    siblings,
    start_folder,
)
from sbc.analysis.subject import Subject
from sbc.diagnostics.diagnostic import Diagnostic

Check = Callable[[Subject], Iterable[Diagnostic]]

CHECKS: tuple[Check, ...] = (
    seatbelt_words.check,
    dead_rules.check,
    default_allow.check,
    foreign_abi.check,
    newer_calls.check,
    clone3_fallback.check,
    io_uring.check,
    siblings.check,
    needed_calls.check,
    start_folder.check,
    overrides.check,
)

ERRORS: tuple[Check, ...] = (seatbelt_words.check, dead_rules.check)
"""Those that find errors, and not only lints and notes."""
