"""Guards: each lowered once for all calls that it looks at in the same way."""

from sbc.diagnostics.diagnostic import Reporter
from sbc.kernel.arguments import argument_families
from sbc.policy.conditions import Condition
from sbc.resolve.conditions import Lowering
from sbc.resolve.groups import Groups
from sbc.resolve.modules import Module
from sbc.resolve.subjects import Place, operand_of
from sbc.syntax import tree


class Guards:
    """Lowers guards; a rule on hundreds of calls with a large condition costs one lowering, not hundreds."""

    def __init__(self, groups: Groups, reporter: Reporter) -> None:
        self._groups = groups
        self._reporter = reporter
        self._subjects: dict[int, tuple[tree.Subject, ...]] = {}
        self._lowered: dict[tuple[object, ...], Condition] = {}

    def lower(self, guard: tree.Guard, module: Module, place: Place) -> Condition:
        """Give the condition for one call on one ABI."""
        operands = [operand_of(subject, place, self._reporter) for subject in self._subjects_of(guard)]
        families = [
            argument_families(place.call, operand.argument) if operand and operand.argument else None
            for operand in operands
        ]
        key = (id(guard), place.abi, *operands, *families)
        if key not in self._lowered:
            self._lowered[key] = Lowering(module, self._groups, place, self._reporter).guard(guard)
        return self._lowered[key]

    def _subjects_of(self, guard: tree.Guard) -> tuple[tree.Subject, ...]:
        """Give the arguments that a guard looks at, each spelling once."""
        key = id(guard)
        if key not in self._subjects:
            found: dict[tuple[str, str], tree.Subject] = {}
            todo: list[tree.Condition] = [guard.condition]
            while todo:
                condition = todo.pop()
                match condition:
                    case tree.Conjunction() | tree.Disjunction():
                        todo.extend(reversed(condition.operands))
                    case tree.Negation():
                        todo.append(condition.operand)
                    case _:
                        subject = condition.subject
                        found.setdefault((subject.name, subject.type.text if subject.type else ""), subject)
            self._subjects[key] = tuple(found.values())
        return self._subjects[key]
