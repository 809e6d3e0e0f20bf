"""The code of a filter before layout: a graph without loops of tests and returns, each kept once.

A node is a number; a node's successors have smaller numbers. Equal nodes are one node, so equal tails of code are
shared whoever made them: the same argument check of two calls, the rest of two rule lists, every return. Loads are
not nodes: `assemble` puts them where the accumulator does not hold the field yet.
"""

from typing import NamedTuple

from sbc.backends.bpf.fields import FULL, Field
from sbc_runtime.instruction import JEQ, JGE, JGT, JSET


class Return(NamedTuple):
    """Ends the filter with a 32-bit return value."""

    value: int


class Test(NamedTuple):
    """Compares a field with `k` by a jump operation and goes on at `yes` or `no`."""

    field: Field
    op: int
    k: int
    yes: int
    no: int


Node = Return | Test

OPERATIONS = (JEQ, JGE, JGT, JSET)


class Code:
    """The graph. Nodes are made from the returns up."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._known: dict[Node, int] = {}

    def _add(self, node: Node) -> int:
        known = self._known.get(node)
        if known is None:
            known = self._known[node] = len(self.nodes)
            self.nodes.append(node)
        return known

    def ret(self, value: int) -> int:
        """Give the node that returns `value`."""
        return self._add(Return(value))

    def test(self, field: Field, op: int, k: int, yes: int, no: int) -> int:
        """Give a node that tests `field`; simpler code with the same meaning where there is some.

        Neighbouring bit tests of one word become one:

                  jset 0x7e000000, deny, next
            next: jset 0x20000, deny, allow       ->       jset 0x7e020000, deny, allow
        """
        if yes == no:
            return yes
        if op == JSET:
            if field.mask != FULL:
                return self.test(Field(field.offset), JSET, k & field.mask, yes, no)
            after = self.nodes[no]
            if isinstance(after, Test) and after.op == JSET and after.field == field and after.yes == yes:
                return self.test(field, JSET, k | after.k, yes, after.no)
        return self._add(Test(field, op, k, yes, no))

    def reachable(self, root: int) -> list[int]:
        """Give the nodes that `root` leads to, itself first, each before its successors."""
        seen = {root}
        stack = [root]
        while stack:
            node = self.nodes[stack.pop()]
            if isinstance(node, Test):
                for successor in (node.yes, node.no):
                    if successor not in seen:
                        seen.add(successor)
                        stack.append(successor)
        return sorted(seen, reverse=True)
