"""Conditions: the author's words to tests on bits, for one call on one ABI."""

import re

from sbc.diagnostics.catalogue import conditions as problems
from sbc.diagnostics.diagnostic import Reporter
from sbc.kernel import constants
from sbc.policy.conditions import NEVER, Condition
from sbc.resolve import bits
from sbc.resolve.bits import all_of, any_of, negated
from sbc.resolve.groups import Groups
from sbc.resolve.modules import Module
from sbc.resolve.subjects import Operand, Place, operand_of
from sbc.resolve.values import Atom, Values
from sbc.syntax import tree

_WORD = re.compile(r"\w+")

Test = tree.Compare | tree.Member | tree.MaskEqual | tree.Has


class Lowering:
    """Lowers the condition of one rule for one call on one ABI.

    A wrong test is told and stands for one that never holds: the stage ends with its errors, and the rest of the
    condition is still looked at.
    """

    def __init__(self, module: Module, groups: Groups, place: Place, reporter: Reporter) -> None:
        self._values = Values(module, groups, place, reporter)
        self._place = place
        self._reporter = reporter

    def guard(self, guard: tree.Guard) -> Condition:
        """`when C`, or its opposite `unless C`."""
        condition = self.condition(guard.condition)
        return negated(condition) if guard.word == "unless" else condition

    def condition(self, written: tree.Condition) -> Condition:
        """Lower a condition."""
        match written:
            case tree.Conjunction():
                return all_of([self.condition(operand) for operand in written.operands])
            case tree.Disjunction():
                return any_of([self.condition(operand) for operand in written.operands])
            case tree.Negation():
                return self._negation(written)
            case _:
                return self._test(written)

    def _negation(self, written: tree.Negation) -> Condition:
        """`not C`; a long row of them without recursion, for nothing else bounds it."""
        operand, odd = written.operand, True
        while isinstance(operand, tree.Negation):
            operand, odd = operand.operand, not odd
        condition = self.condition(operand)
        return negated(condition) if odd else condition

    def _test(self, test: Test) -> Condition:
        operand = operand_of(test.subject, self._place, self._reporter)
        if operand is None:
            return NEVER
        if operand.pointer and not self._is_null_test(test):
            self._reporter.add(problems.PointerTest(test.span, operand.name, self._place.call))
            return NEVER
        self._values.written = frozenset(_WORD.findall(test.span.text))
        match test:
            case tree.Compare():
                return self._compare(test, operand)
            case tree.Member():
                return self._member(test, operand)
            case tree.MaskEqual():
                return self._mask_equal(test, operand)
            case tree.Has():
                return self._has(test, operand)

    def _is_null_test(self, test: Test) -> bool:
        if not isinstance(test, tree.Compare) or test.operator not in ("==", "!="):
            return False
        first = test.value.terms[0]
        return len(test.value.terms) == 1 and isinstance(first, tree.Number) and first.value == 0

    def _compare(self, test: tree.Compare, operand: Operand) -> Condition:
        value = self._values.ored(test.value, operand, mask=False)
        if value is None or (test.operator not in ("==", "!=") and not self._orderable(test.value, value, operand)):
            return NEVER
        return bits.ordered(operand.register, test.operator, value)

    def _orderable(self, written: tree.Constant, value: int, operand: Operand) -> bool:
        """Check that a value is one of a signed type, where order is that of the type."""
        register = operand.register
        if not register.signed or value <= register.highest:
            return True
        self._reporter.add(problems.SignedRange(written.span, value, register.width, operand.name))
        return False

    def _member(self, test: tree.Member, operand: Operand) -> Condition:
        if isinstance(test.values, tree.Range):
            return self._range(test.values, operand)
        values = self._values.listed(test.values, operand)
        return NEVER if values is None else bits.among(operand.register, values)

    def _range(self, written: tree.Range, operand: Operand) -> Condition:
        ends: list[int] = []
        for end in (written.low, written.high):
            value = self._values.ored(end, operand, mask=False)
            if value is not None and self._orderable(end, value, operand):
                ends.append(value if operand.register.signed else value & operand.register.full)
        if len(ends) < 2:
            return NEVER
        low, high = ends
        if low > high:
            self._reporter.add(problems.InvertedRange(written.span, low, high))
            return NEVER
        return bits.between(operand.register, low, high)

    def _mask_equal(self, test: tree.MaskEqual, operand: Operand) -> Condition:
        mask = self._values.ored(test.mask, operand, mask=True)
        value = self._values.ored(test.value, operand, mask=False)
        if mask is None or value is None:
            return NEVER
        mask, value = mask & operand.register.full, value & operand.register.full
        if mask == 0:
            self._reporter.add(problems.EmptyMask(test.mask.span))
            return NEVER
        if value & ~mask:
            self._reporter.add(problems.OutsideMask(test.value.span, value, mask))
            return NEVER
        return bits.masked(operand.register, mask, value)

    def _has(self, test: tree.Has, operand: Operand) -> Condition:
        parts = test.bits.members if isinstance(test.bits, tree.SetOf) else (test.bits,)
        if not parts:
            self._reporter.add(problems.EmptySet(test.bits.span))
            return NEVER
        values = [self._values.ored(part, operand, mask=True) for part in parts]
        total = 0
        for value in values:
            if value is None:
                return NEVER
            total |= value & operand.register.full
        if total == 0:
            self._reporter.add(problems.NoBits(test.bits.span, test.subject.name, test.bits.span.text))
            return NEVER
        if test.quantifier == "any":
            self._check_single(test.subject.name, parts)
        return bits.has(operand.register, test.quantifier, total)

    def _check_single(self, subject: str, parts: tuple[tree.Constant, ...]) -> None:
        """Refuse named constants of several bits under `has any`: one of the bits would do, which is not meant."""
        known = constants.constants(self._place.abi)
        for term in (term for part in parts for term in part.terms):
            if isinstance(term, tree.Word):
                value = known[term.text]
                if value & (value - 1):
                    self._reporter.add(problems.SeveralBits(term.span, subject, term.text, value))
            elif isinstance(term, tree.GroupRef):
                members = self._values.members(term)
                for member in (one for part in members for one in _terms(part)):
                    if isinstance(member, tree.Word) and (value := known[member.text]) & (value - 1):
                        problem = problems.SeveralBitsInGroup(term.span, subject, term.name, member.text, member.span)
                        self._reporter.add(problem)


def _terms(member: "Atom | tree.Constant") -> "tuple[Atom | tree.GroupRef, ...]":
    return member.terms if isinstance(member, tree.Constant) else (member,)
