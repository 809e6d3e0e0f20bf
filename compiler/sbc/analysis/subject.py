"""What an analysis looks at."""

from collections.abc import Iterator

from sbc.analysis.calls import Calls
from sbc.policy.origin import Origin
from sbc.policy.policy import Policy
from sbc.resolve.texts import RuleText


class Subject:
    """A policy, and the texts that its rules stand in."""

    def __init__(self, policy: Policy, texts: tuple[RuleText, ...]) -> None:
        self.policy = policy
        self.texts = texts
        self._calls = [Calls(abi) for filter_ in policy.syscalls.filters for abi in filter_.abis]

    def calls(self) -> Iterator[Calls]:
        """Give the calls of every ABI of the policy."""
        return iter(self._calls)

    def written(self, origin: Origin) -> bool:
        """Tell whether the profile's author wrote a statement, or the stock library's, or nobody did."""
        return origin.file is not None and not origin.file.startswith("<")
