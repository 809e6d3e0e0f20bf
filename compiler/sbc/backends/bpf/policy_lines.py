"""The policy's own lines for a listing: which statements a verdict and a call's test come from."""

from sbc.backends.bpf.names import Lines
from sbc.policy.origin import Origin
from sbc.policy.syscalls import FilterPolicy
from sbc_runtime.action import Verdict

_LONGEST = 60


def lines_of(policy: FilterPolicy) -> Lines:
    """Give the statements behind a filter: for each verdict all that give it, for each call those that name it."""
    verdicts: dict[Verdict, dict[Origin, None]] = {}
    calls: dict[tuple[int, int], dict[Origin, None]] = {}
    for abi in policy.abis:
        for rule in abi.rules:
            verdicts.setdefault(rule.verdict, {})[rule.origin] = None
            calls.setdefault((abi.arch.audit, rule.number), {})[rule.origin] = None
        verdicts.setdefault(abi.default, {})[abi.default_origin] = None
        if abi.newer is not None:
            verdicts.setdefault(abi.newer.verdict, {})[abi.newer.origin] = None
    verdicts.setdefault(policy.foreign, {})[policy.foreign_origin] = None
    return Lines(
        {verdict: _said(list(origins)) for verdict, origins in verdicts.items()},
        {call: _said(list(origins)) for call, origins in calls.items()},
    )


def _said(origins: list[Origin]) -> str:
    """Give the first statement, with the number of further ones."""
    first = origins[0]
    text = first.text if len(first.text) <= _LONGEST else f"{first.text[: _LONGEST - 4]} ..."
    further = f" and {len(origins) - 1} more" if len(origins) > 1 else ""
    return f"{first.where()}: {text}{further}"
