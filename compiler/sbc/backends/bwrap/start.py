"""What bubblewrap itself needs of the filter.

It loads the filter in the process that becomes the command and in its init, and both go on from there: the one to
`execve`, the other to wait for it, to tell its status and to end.
"""

from collections.abc import Iterator

from sbc.diagnostics.catalogue.targets import SandboxCannotStart
from sbc.policy.conditions import ALWAYS
from sbc.policy.origin import Origin
from sbc.policy.policy import Policy
from sbc.policy.syscalls import AbiRules
from sbc_runtime.action import Action

NEEDED = ("execve", "wait4", "write", "exit_group")

_PASSES = frozenset({Action.ALLOW, Action.LOG})


def check(policy: Policy) -> Iterator[SandboxCannotStart]:
    """Give every needed call that a filter denies whatever its arguments."""
    told: set[tuple[str, Origin]] = set()
    for one in policy.syscalls.filters:
        # bubblewrap runs under the filter's first ABI, the native one.
        abi = one.abis[0]
        for call in NEEDED:
            denied = _denied_by(abi, call)
            if denied is not None and (call, denied) not in told:
                told.add((call, denied))
                yield SandboxCannotStart(denied.span, call, denied.text)


def _denied_by(abi: AbiRules, call: str) -> Origin | None:
    """Give what surely denies a call under an ABI, if anything does."""
    first: Origin | None = None
    for rule in abi.rules:
        if rule.call != call:
            continue
        if rule.verdict.action in _PASSES:
            return None
        first = first or rule.origin
        if rule.condition == ALWAYS:
            return first
    return None if abi.default.action in _PASSES else first or abi.default_origin
