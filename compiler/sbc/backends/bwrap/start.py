"""What bubblewrap itself needs of the filter.

It loads the filter in the process that becomes the command and in its init, and both go on from there: the one to
`execve`, the other to wait for it and to tell its status by `write`, where an errno goes unnoticed and a signal ends
it (tried with 0.8 and 0.11; `tests/targets/test_bwrap_run.py` tries it again).
"""

from collections.abc import Iterator

from sbc.diagnostics.catalogue.targets import SandboxCannotStart
from sbc.policy.conditions import ALWAYS
from sbc.policy.origin import Origin
from sbc.policy.policy import Policy
from sbc.policy.syscalls import AbiRules
from sbc_runtime.action import Action

_PASSES = frozenset({Action.ALLOW, Action.LOG})
_SURVIVES = frozenset({*_PASSES, Action.ERRNO, Action.TRACE, Action.NOTIFY})

NEEDED = {"execve": _PASSES, "wait4": _PASSES, "write": _SURVIVES}
"""The calls, each with the actions that leave bubblewrap working."""


def check(policy: Policy) -> Iterator[SandboxCannotStart]:
    """Give every needed call that a filter denies whatever its arguments."""
    told: set[tuple[str, Origin]] = set()
    for one in policy.syscalls.filters:
        # bubblewrap runs under the filter's first ABI, the native one.
        abi = one.abis[0]
        for call, fine in NEEDED.items():
            denied = _stopped_by(abi, call, fine)
            if denied is not None and (call, denied) not in told:
                told.add((call, denied))
                yield SandboxCannotStart(denied.span, call, denied.text)


def _stopped_by(abi: AbiRules, call: str, fine: frozenset[Action]) -> Origin | None:
    """Give what surely stops a call under an ABI, whatever its arguments, if anything does."""
    first: Origin | None = None
    for rule in abi.rules:
        if rule.call != call:
            continue
        if rule.verdict.action in fine:
            return None
        first = first or rule.origin
        if rule.condition == ALWAYS:
            return first
    return None if abi.default.action in fine else first or abi.default_origin
