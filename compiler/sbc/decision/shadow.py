"""Rules that can never decide, because the rules above them have decided wherever they would hold: computed exactly."""

from sbc.decision.policy_road import diagram_of_condition
from sbc.decision.table import FALSE, Table, TooComplex
from sbc.policy.conditions import ALWAYS
from sbc.policy.syscalls import AbiRules, Rule
from sbc.record import Record


class Undecided(Record):
    """A rule that never decides under one ABI.

    `covered_by` are the rules that decide where it holds, in order. Empty: its condition holds for no call, or the ABI
    has no such number.
    """

    rule: Rule
    covered_by: tuple[Rule, ...]


def undecided_rules(abi: AbiRules) -> tuple[Undecided, ...]:
    """Give the rules that never decide under an ABI, in their order; `TooComplex` names the call."""
    by_number: dict[int, list[tuple[int, Rule]]] = {}
    for index, rule in enumerate(abi.rules):
        by_number.setdefault(rule.number, []).append((index, rule))
    found: list[tuple[int, Undecided]] = []
    for number, rules in by_number.items():
        if not abi.arch.first_number <= number <= abi.arch.last_number:
            found += [(index, Undecided(rule, ())) for index, rule in rules]
        elif len(rules) > 1 or not _surely_decides(rules[0][1]):
            found += _of_one_number(rules)
    return tuple(undecided for _, undecided in sorted(found, key=lambda pair: pair[0]))


def _surely_decides(rule: Rule) -> bool:
    """Tell without a diagram that a rule with nothing above it decides: it has no condition."""
    return rule.condition == ALWAYS


def _of_one_number(rules: list[tuple[int, Rule]]) -> list[tuple[int, Undecided]]:
    table = Table()
    found: list[tuple[int, Undecided]] = []
    deciding: list[tuple[Rule, int]] = []
    decided = FALSE
    for index, rule in rules:
        try:
            held = diagram_of_condition(table, rule.condition)
            own = table.choose(decided, FALSE, held)
            if own == FALSE:
                covering = tuple(above for above, part in deciding if table.both(held, part) != FALSE)
                found.append((index, Undecided(rule, covering)))
            else:
                deciding.append((rule, own))
                decided = table.either(decided, held)
        except TooComplex as error:
            raise TooComplex(error.what, rule.number, rule.call) from None
    return found
