"""The system call policy of one filter, and its literal meaning."""

from sbc.policy.conditions import ALWAYS, Condition, holds
from sbc.policy.origin import Origin
from sbc.record import Record
from sbc_runtime.action import Verdict
from sbc_runtime.arch import Arch


class Rule(Record):
    """Gives `verdict` to the call with `number` where `condition` holds; `call` is its name, for people."""

    number: int
    call: str
    verdict: Verdict
    origin: Origin
    condition: Condition = ALWAYS


class Newer(Record):
    """The second default: replaces `default` for the numbers `low..high`, both ends in, that no rule decides."""

    low: int
    high: int
    verdict: Verdict
    origin: Origin


class AbiRules(Record):
    """What holds under one ABI: `rules` in the order in which they are tried, then `newer`, then `default`."""

    arch: Arch
    rules: tuple[Rule, ...]
    default: Verdict
    default_origin: Origin
    newer: Newer | None = None


class FilterPolicy(Record):
    """What one filter must decide: the ABIs joined in it, and the verdict on every other ABI.

    A number of an audit architecture in the filter that belongs to none of its ABIs (x32's, where x32 is not joined)
    is foreign too. The filter is named after the first ABI. All its ABIs are of one kernel and one byte order.
    """

    abis: tuple[AbiRules, ...]
    foreign: Verdict
    foreign_origin: Origin

    @property
    def name(self) -> str:
        """The name of the filter: its first ABI's."""
        return self.abis[0].arch.name

    def rules_for(self, audit: int, number: int) -> AbiRules | None:
        """Give the ABI that a call enters by, or None where it is foreign."""
        for abi in self.abis:
            if abi.arch.audit == audit and abi.arch.first_number <= number <= abi.arch.last_number:
                return abi
        return None


class Decision(Record):
    """A verdict and what decided it: a rule, or `by` one of `default`, `newer`, `foreign-abi`."""

    verdict: Verdict
    origin: Origin
    rule: Rule | None = None
    by: str = "rule"


def decide(policy: FilterPolicy, audit: int, number: int, args: tuple[int, ...]) -> Decision:
    """Read the policy literally for one call: the meaning that every filter is held to.

    `audit` and `number` are `seccomp_data.arch` and `.nr` as unsigned words, `args` six 64-bit register values.
    """
    abi = policy.rules_for(audit, number)
    if abi is None:
        return Decision(policy.foreign, policy.foreign_origin, by="foreign-abi")
    for rule in abi.rules:
        if rule.number == number and holds(rule.condition, args):
            return Decision(rule.verdict, rule.origin, rule)
    if abi.newer is not None and abi.newer.low <= number <= abi.newer.high:
        return Decision(abi.newer.verdict, abi.newer.origin, by="newer")
    return Decision(abi.default, abi.default_origin, by="default")


class Syscalls(Record):
    """The `syscalls` block: one policy for each filter; none at all is `syscalls none`, which reports say out loud."""

    filters: tuple[FilterPolicy, ...]
    origin: Origin
