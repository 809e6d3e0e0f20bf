"""Values in conditions: constants as one ABI has them, ranges of what fits, and whether they belong to the argument."""

from collections.abc import Sequence

from sbc.diagnostics.catalogue import conditions, names
from sbc.diagnostics.diagnostic import Reporter
from sbc.kernel import constants
from sbc.kernel.arguments import argument_families
from sbc.resolve.groups import Groups, closest_constant
from sbc.resolve.modules import Module
from sbc.resolve.subjects import Operand, Place
from sbc.syntax import tree

Atom = tree.Word | tree.Number
"""A named constant or a number."""


class Values:
    """Evaluates the values of one rule for one call on one ABI."""

    def __init__(self, module: Module, groups: Groups, place: Place, reporter: Reporter) -> None:
        self._module = module
        self._groups = groups
        self.place = place
        self._reporter = reporter
        self.written: frozenset[str] = frozenset()
        """The names in the test at hand: none of them is what another one was meant to be."""

    def atom(self, atom: Atom, operand: Operand) -> int | None:
        """Give the value of a constant or number; None where there is none, which has then been told."""
        if isinstance(atom, tree.Number):
            return self._fitting(atom, atom.value, operand)
        value = constants.constants(self.place.abi).get(atom.text)
        family = constants.family_of(atom.text)
        if value is None:
            self._unknown(atom, family, operand)
            return None
        if operand.argument is not None and family is not None and not self._belongs(atom, family, operand):
            return None
        return self._fitting(atom, value, operand)

    def _unknown(self, atom: tree.Word, family: str | None, operand: Operand) -> None:
        if family is not None and family != constants.ERRNO:
            self._reporter.add(names.AbsentConstant(atom.span, atom.text, self.place.abi))
        elif family is None:
            near = self._near(atom.text, self._families(operand)) or closest_constant(atom.text, self._reporter)
            self._reporter.add(names.UnknownConstant(atom.span, atom.text, near))
        else:
            self._foreign(atom, operand)

    def _families(self, operand: Operand) -> tuple[str, ...] | None:
        if operand.argument is None:
            return None
        return argument_families(self.place.call, operand.argument)

    def _belongs(self, atom: tree.Word, family: str, operand: Operand) -> bool:
        """Check that a constant is of a family that the argument takes; one without a list takes any number."""
        allowed = self._families(operand)
        if allowed is None or family in allowed:
            return True
        self._foreign(atom, operand)
        return False

    def _foreign(self, atom: tree.Word, operand: Operand) -> None:
        kind = constants.constant_origin(atom.text)
        families = self._families(operand)
        suggestion = self._near(atom.text, families) or self._same_value(atom.text, families)
        argument = operand.argument or operand.name
        problem = names.ForeignConstant(atom.span, atom.text, self.place.call, argument, kind, suggestion)
        self._reporter.add(problem)

    def _near(self, name: str, families: tuple[str, ...] | None) -> str | None:
        """Give the constant of these families that a wrong one may have meant."""
        here = constants.constants(self.place.abi)
        found = (one for family in families or () for one in constants.members(family) if one in here)
        return self._reporter.closest(name, found, " ".join(families or ()))

    def _same_value(self, name: str, families: tuple[str, ...] | None) -> str | None:
        """Give the constant of these families that has a wrong one's value, or the next, and is not there already."""
        here = constants.constants(self.place.abi)
        if name not in here:
            return None
        least = here[name]
        taken = {here.get(word) for word in self.written if word != name}
        found = (one for family in families or () for one in constants.members(family) if one in here)
        return min(
            (one for one in found if here[one] >= least and here[one] not in taken),
            key=lambda one: (here[one], one),
            default=None,
        )

    def _fitting(self, atom: Atom, value: int, operand: Operand) -> int | None:
        if operand.register.accepts(value):
            return value
        self._reporter.add(conditions.ValueRange(atom.span, value, operand.register.width, operand.name))
        return None

    def ored(self, constant: tree.Constant, operand: Operand, *, mask: bool) -> int | None:
        """Give `A | B`; a group stands for the OR of its members where the value is a mask, else it is an error."""
        total = 0
        complete = True
        for term in constant.terms:
            if isinstance(term, tree.GroupRef):
                if not mask:
                    self._reporter.add(conditions.GroupAsValue(term.span, operand.name, term.name))
                    return None
                found = self.group(term, operand)
            else:
                one = self.atom(term, operand)
                found = None if one is None else [one]
            if found is None:
                complete = False
                continue
            for value in found:
                total |= value
        return total if complete else None

    def group(self, ref: tree.GroupRef, operand: Operand) -> list[int] | None:
        """Give the values of a group of constants."""
        values: Sequence[int | None] = [
            self.ored(member, operand, mask=False) if isinstance(member, tree.Constant) else self.atom(member, operand)
            for member in self.members(ref)
        ]
        found = [value for value in values if value is not None]
        return found if found and len(found) == len(values) else None

    def members(self, ref: tree.GroupRef) -> list[Atom | tree.Constant]:
        """Give the members of a group of constants, as written; tells where there is none."""
        content = self._groups.content(self._module, ref, "constants")
        if not content.members and not content.told:
            self._reporter.add(conditions.EmptySet(ref.span))
        return [member for member in content.members if not isinstance(member, tree.Path)]

    def listed(self, values: "tree.SetOf | tree.GroupRef", operand: Operand) -> list[int] | None:
        """Give the values of a set or group: each member one value, a group in a set all of its own."""
        if isinstance(values, tree.GroupRef):
            return self.group(values, operand)
        if not values.members:
            self._reporter.add(conditions.EmptySet(values.span))
            return None
        found: list[int] = []
        complete = True
        for member in values.members:
            only = member.terms[0]
            if len(member.terms) == 1 and isinstance(only, tree.GroupRef):
                part = self.group(only, operand)
            else:
                one = self.ored(member, operand, mask=False)
                part = None if one is None else [one]
            complete = complete and part is not None
            found.extend(part or ())
        return found if complete else None
