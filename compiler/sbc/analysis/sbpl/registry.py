"""The lints of SBPL, in the order in which they report. A new one: one function, one line here, one catalogue entry."""

from collections.abc import Callable, Iterable

from sbc.analysis.sbpl import (
    alternatives,
    bare_denies,
    dead_rules,
    going_round,
    network,
    outside_default,
    paths,
    patterns,
    shadowed_denies,
    tokens,
    whole,
)
from sbc.analysis.sbpl.subject import Subject
from sbc.diagnostics.diagnostic import Diagnostic

Check = Callable[[Subject], Iterable[Diagnostic]]

CHECKS: tuple[Check, ...] = (
    whole.no_default,
    outside_default.check,
    shadowed_denies.check,
    dead_rules.check,
    bare_denies.check,
    alternatives.check,
    paths.check,
    patterns.unsafe,
    patterns.unanchored,
    patterns.dots,
    tokens.check,
    network.local_outbound,
    network.denied_sockets,
    going_round.moved,
    going_round.siblings,
    whole.root_folder,
    whole.leaving,
    whole.parameters,
)
