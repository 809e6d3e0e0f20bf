"""The node table: reduced ordered decision diagrams over the bits of `seccomp_data`, with verdicts as terminals.

A diagram is the number of its root. Equal nodes are stored once and a node whose branches agree is never made, so two
diagrams of one table mean the same function exactly where they are the same number (Bryant, "Graph-based algorithms
for Boolean function manipulation", 1986). Sets of inputs are diagrams with the terminals `FALSE` and `TRUE`.
"""

from sbc.decision.words import VARIABLES
from sbc_runtime.action import Verdict

FALSE = 0
TRUE = 1

NODE_BUDGET = 500_000
"""Nodes that a table may hold; every real filter needs a few thousand."""

_STEPS_PER_NODE = 2


class TooComplex(Exception):
    """The diagram would take more nodes or steps than the budget: nothing is known about what it stands for.

    `call` names the system call at which it happened, `number` is its number; None where that is not known.
    """

    def __init__(self, what: str, number: int | None = None, call: str | None = None) -> None:
        place = f" at `{call}`" if call else f" at call number {number}" if number is not None else ""
        super().__init__(f"too complex to prove{place}: {what}")
        self.what = what
        self.number = number
        self.call = call


class Table:
    """The nodes, and the one operation on them: if-then-else.

    `variable[n]`, `low[n]` and `high[n]` are what node `n` asks for and where it goes on 0 and on 1; a terminal's
    variable is `VARIABLES`, and its branches are itself.
    """

    def __init__(self, budget: int = NODE_BUDGET) -> None:
        self.variable = [VARIABLES, VARIABLES]
        self.low = [FALSE, TRUE]
        self.high = [FALSE, TRUE]
        self.verdicts: dict[int, Verdict] = {}
        self._budget = budget
        self._nodes: dict[tuple[int, int, int], int] = {}
        self._terminals: dict[Verdict, int] = {}
        self._chosen: dict[tuple[int, int, int], int] = {}

    def __len__(self) -> int:
        return len(self.variable)

    def terminal(self, verdict: Verdict) -> int:
        """Give the diagram that is this verdict everywhere, as the kernel takes it (`Verdict.of_ret`)."""
        found = self._terminals.get(verdict)
        if found is not None:
            return found
        normal = Verdict.of_ret(verdict.ret())
        if normal != verdict:
            self._terminals[verdict] = self.terminal(normal)
            return self._terminals[verdict]
        number = self._append(VARIABLES, 0, 0)
        self.low[number] = self.high[number] = number
        self._terminals[verdict] = number
        self.verdicts[number] = verdict
        return number

    def node(self, variable: int, low: int, high: int) -> int:
        """Give the diagram that is `low` where `variable` is 0 and `high` where it is 1; both ask for later ones."""
        if low == high:
            return low
        key = (variable, low, high)
        found = self._nodes.get(key)
        if found is None:
            found = self._nodes[key] = self._append(variable, low, high)
        return found

    def _append(self, variable: int, low: int, high: int) -> int:
        number = len(self.variable)
        if number >= self._budget:
            raise TooComplex(f"the decision diagram has more than {self._budget:,} nodes")
        self.variable.append(variable)
        self.low.append(low)
        self.high.append(high)
        return number

    def choose(self, condition: int, then: int, other: int) -> int:
        """Give the diagram that is `then` on the set `condition` and `other` outside it (Bryant's if-then-else)."""
        if condition == TRUE or then == other:
            return then
        if condition == FALSE:
            return other
        if then == TRUE and other == FALSE:
            return condition
        key = (condition, then, other)
        found = self._chosen.get(key)
        if found is not None:
            return found
        if len(self._chosen) >= self._budget * _STEPS_PER_NODE:
            raise TooComplex(f"combining decision diagrams takes more than {len(self._chosen):,} steps")
        variable, low, high = self.variable, self.low, self.high
        of_condition, of_then, of_other = variable[condition], variable[then], variable[other]
        first = min(of_condition, of_then, of_other)
        condition_low = condition_high = condition
        if of_condition == first:
            condition_low, condition_high = low[condition], high[condition]
        then_low = then_high = then
        if of_then == first:
            then_low, then_high = low[then], high[then]
        other_low = other_high = other
        if of_other == first:
            other_low, other_high = low[other], high[other]
        made = self.node(
            first,
            self.choose(condition_low, then_low, other_low),
            self.choose(condition_high, then_high, other_high),
        )
        self._chosen[key] = made
        return made

    def both(self, left: int, right: int) -> int:
        """Give the intersection of two sets."""
        return self.choose(left, right, FALSE)

    def either(self, left: int, right: int) -> int:
        """Give the union of two sets."""
        return self.choose(left, TRUE, right)

    def outside(self, inner: int) -> int:
        """Give the complement of a set."""
        return self.choose(inner, FALSE, TRUE)
