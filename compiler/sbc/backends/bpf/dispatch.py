"""Dispatch: which ABI, then which number.

Every number of an audit architecture belongs to one cell, unassigned and foreign ones included: x32's interval, where
it is not joined, is one more cell of x86-64, and costs one comparison. Neighbours that lead to the same place join:

    deny EPERM { 101 103 104 }     0: allow | 101: EPERM | 102: allow | 103: EPERM | 105: allow | 2^30: kill
    default allow             ->
"""

from collections.abc import Iterator

from sbc.backends.bpf.arguments import Guarded, arguments
from sbc.backends.bpf.code import Code, Return
from sbc.backends.bpf.fields import FULL, Field
from sbc.backends.bpf.leaves import Cell
from sbc.backends.bpf.search import search
from sbc.policy.conditions import ALWAYS
from sbc.policy.syscalls import AbiRules, FilterPolicy, Rule
from sbc.record import Record
from sbc_runtime.action import ALLOW
from sbc_runtime.arch import LAST_NUMBER
from sbc_runtime.instruction import OFFSET_ARCH, OFFSET_NR

WEIGHT_ARGUMENTS = 64
WEIGHT_DENIED = 4
WEIGHT_DEFAULT = 1
WEIGHT_ALLOWED = 0
"""How much each kind of call is run. Since Linux 5.11 the kernel answers calls that are always allowed from a bitmap,
without running the filter; of the others programs make those with checked arguments (socket, clone) most."""

FIRST_ABI = 64
"""The weight of the first ABI, the machine's own, beside 1 for another."""


class Called(Record):
    """A call of one ABI: its name for people and its code."""

    name: str
    node: int


class Dispatch:
    """The code of a whole filter."""

    def __init__(self, code: Code, policy: FilterPolicy) -> None:
        self.code = code
        self.policy = policy
        self.calls: list[Called] = []

    def build(self) -> int:
        """Give the code that decides every call."""
        foreign = self.code.ret(self.policy.foreign.ret())
        audits = list(dict.fromkeys(abi.arch.audit for abi in self.policy.abis))
        weights = {audit: 1 if place else FIRST_ABI for place, audit in enumerate(audits)}
        cells = [Cell(0, foreign, 0)]
        for audit in sorted(audits):
            if cells[-1].start == audit:
                cells.pop()
            cells.append(Cell(audit, self._numbers(audit, foreign), weights[audit]))
            if audit < FULL:
                cells.append(Cell(audit + 1, foreign, 0))
        return search(self.code, Field(OFFSET_ARCH), cells)

    def _numbers(self, audit: int, foreign: int) -> int:
        """Give the code for one audit architecture, which one or more ABIs share."""
        cells: list[Cell] = []
        start = 0
        for abi in sorted(
            (abi for abi in self.policy.abis if abi.arch.audit == audit), key=lambda a: a.arch.first_number
        ):
            if start < abi.arch.first_number:
                cells.append(Cell(start, foreign, WEIGHT_DEFAULT))
            cells.extend(self._cells(abi))
            start = abi.arch.last_number + 1
        if start <= LAST_NUMBER:
            cells.append(Cell(start, foreign, WEIGHT_DEFAULT))
        return search(self.code, Field(OFFSET_NR), cells)

    def _cells(self, abi: AbiRules) -> Iterator[Cell]:
        """Give the cells of one ABI: each number that a rule names, and what is between them."""
        by_number: dict[int, list[Rule]] = {}
        for rule in abi.rules:
            if abi.arch.first_number <= rule.number <= abi.arch.last_number:
                by_number.setdefault(rule.number, []).append(rule)
        cuts = {abi.arch.first_number: 0, **dict.fromkeys(by_number, 0)}
        cuts.update((number + 1, 0) for number in by_number if number < abi.arch.last_number)
        if abi.newer is not None:
            low, high = max(abi.newer.low, abi.arch.first_number), min(abi.newer.high, abi.arch.last_number)
            if low <= high:
                cuts[low] = 0
                if high < abi.arch.last_number:
                    cuts[high + 1] = 0
        for start in sorted(cuts):
            newer = abi.newer is not None and abi.newer.low <= start <= abi.newer.high
            verdict = abi.newer.verdict if abi.newer is not None and newer else abi.default
            if start in by_number:
                yield self._call(by_number[start], verdict.ret(), abi)
            else:
                node = self.code.ret(verdict.ret())
                yield Cell(start, node, WEIGHT_ALLOWED if verdict == ALLOW else WEIGHT_DEFAULT)

    def _call(self, rules: list[Rule], otherwise: int, abi: AbiRules) -> Cell:
        """Give the cell of a number that rules name."""
        guarded: list[Guarded] = []
        for rule in rules:
            if rule.condition == ALWAYS:
                otherwise = rule.verdict.ret()
                break
            guarded.append(Guarded(rule.condition, rule.verdict.ret()))
        node = arguments(self.code, guarded, otherwise, abi.arch.byte_order) if guarded else self.code.ret(otherwise)
        first = self.code.nodes[node]
        weight = WEIGHT_ARGUMENTS
        if isinstance(first, Return):
            weight = WEIGHT_ALLOWED if first.value == ALLOW.ret() else WEIGHT_DENIED
        self.calls.append(Called(rules[0].call, node))
        return Cell(rules[0].number, node, weight)
