"""The sections about system calls: which call gets which verdict on which ABI, and the rules on arguments."""

from collections.abc import Iterator

from sbc.backends.docs.blocks import (
    Block,
    Bullets,
    Code,
    Group,
    Inline,
    Mark,
    Paragraph,
    Section,
    Subhead,
    Table,
    Text,
    code,
    codes,
    joined,
    plain,
    prose,
    reason,
    why,
)
from sbc.backends.docs.words import condition_words, exactly, verdict_words
from sbc.kernel.numbers import numbers
from sbc.policy.conditions import ALWAYS, Condition
from sbc.policy.origin import Origin
from sbc.policy.policy import Policy
from sbc.policy.syscalls import AbiRules, FilterPolicy, Rule


def summary(policy: Policy) -> Section:
    """Say which ABIs there are filters for, and what decides where no rule does."""
    filters = policy.syscalls.filters
    if not filters:
        said = (
            Text("There is no filter: every system call is allowed ("),
            Code(policy.syscalls.origin.text),
            Text(")."),
        )
        return Section("summary", "Filters", (Paragraph(said),))
    by_words: dict[Inline, list[Inline]] = {}
    for one in filters:
        name = codes(tuple(abi.arch.name for abi in one.abis), " with ")
        by_words.setdefault(_undecided(one), []).append(name)
    items = [(*joined(names, "; "), Text(": "), *words) for words, names in by_words.items()]
    return Section("summary", "Filters", (Bullets(tuple(items)),))


def _undecided(one: FilterPolicy) -> Inline:
    """Say what becomes of the calls that no rule decides."""
    first = one.abis[0]
    default = verdict_words(first.default, first.default_origin, one.name)
    made: list[Inline] = [(Text("a call that no rule decides "), *default)]
    for newer in dict.fromkeys((abi.newer.verdict, abi.newer.origin) for abi in one.abis if abi.newer is not None):
        made.append((Text("a newer one ("), Code(newer[1].text), Text(") "), *verdict_words(*newer, one.name)))
    made.append((Text("a call by any other ABI "), *verdict_words(one.foreign, one.foreign_origin, one.name)))
    return (*joined(made, "; "), Text("."))


def _abis(policy: Policy) -> tuple[AbiRules, ...]:
    return tuple(abi for one in policy.syscalls.filters for abi in one.abis)


def _reached(abi: AbiRules) -> Iterator[Rule]:
    """Give the rules that can decide: those after an unconditional rule for the same number cannot."""
    decided: set[int] = set()
    for rule in abi.rules:
        if rule.number not in decided:
            yield rule
        if rule.condition == ALWAYS:
            decided.add(rule.number)


class _Statement:
    """One statement with its calls: the number of each under each ABI."""

    def __init__(self, verdict: Inline) -> None:
        self.verdict = verdict
        self.calls: dict[str, dict[str, int]] = {}
        self.conditions: dict[str, Condition] = {}


def _statements(policy: Policy, conditional: bool) -> dict[Origin, _Statement]:
    """Collect the reachable rules of each statement, in the order in which they are tried."""
    found: dict[Origin, _Statement] = {}
    for abi in _abis(policy):
        name = abi.arch.name
        for rule in _reached(abi):
            if (rule.condition != ALWAYS) is not conditional:
                continue
            if rule.origin not in found:
                found[rule.origin] = _Statement(verdict_words(rule.verdict, rule.origin, name))
            statement = found[rule.origin]
            statement.calls.setdefault(rule.call, {})[name] = rule.number
            statement.conditions[name] = rule.condition
    return found


def calls(policy: Policy) -> Section:
    """Give a table for each verdict: the calls with their numbers, by statement, with its reason."""
    abis = tuple(abi.arch.name for abi in _abis(policy))
    by_verdict: dict[Inline, list[Group]] = {}
    for origin, statement in _statements(policy, conditional=False).items():
        rows = tuple((code(call), *_cells(call, found, abis)) for call, found in statement.calls.items())
        by_verdict.setdefault(statement.verdict, []).append(Group(prose(why(origin)), rows))
    blocks: list[Block] = []
    for verdict, groups in by_verdict.items():
        count = sum(len(group.rows) for group in groups)
        blocks.append(Subhead(_title(verdict, count)))
        blocks.append(
            Table(("Call", *abis), tuple(groups), "Why" if any(group.note for group in groups) else "", matrix=True)
        )
    if any(cell[0] == _OTHER for block in blocks if isinstance(block, Table) for cell in _all_cells(block)):
        blocks.append(Paragraph((_OTHER, Text(": the ABI has the call, and another rule or the default decides."))))
    return Section("calls", "Calls", tuple(blocks))


_OTHER = Mark("other", "other")


def _title(verdict: Inline, count: int) -> Inline:
    first = verdict[0].text.removeprefix("is ")
    counted = f": {count} call" if count == 1 else f": {count} calls"
    return (Text(first[0].upper() + first[1:]), *verdict[1:], Text(counted))


def _all_cells(table: Table) -> Iterator[Inline]:
    return (cell for group in table.groups for row in group.rows for cell in row)


def _cells(call: str, found: dict[str, int], abis: tuple[str, ...]) -> Iterator[Inline]:
    for abi in abis:
        if abi in found:
            yield plain(str(found[abi]))
        elif call in numbers(abi):
            yield (_OTHER,)
        else:
            yield (Mark("absent", "absent"),)


def arguments(policy: Policy) -> Section:
    """Say each rule on arguments in words, with its reason and the exact test."""
    abis = tuple(abi.arch.name for abi in _abis(policy))
    items = tuple(
        _argument_rule(origin, statement, abis) for origin, statement in _statements(policy, conditional=True).items()
    )
    return Section("arguments", "Rules on arguments", (Bullets(items),) if items else ())


def _argument_rule(origin: Origin, statement: _Statement, abis: tuple[str, ...]) -> Inline:
    made: list[Inline] = [codes(tuple(statement.calls)), plain(" "), statement.verdict]
    made.append(condition_words(origin) or (Text(": "), Code(origin.text)))
    made.append(plain("."))
    made.append(reason(origin))
    tests: dict[str, list[str]] = {}
    for abi, condition in statement.conditions.items():
        tests.setdefault(exactly(condition), []).append(abi)
    said = [(Code(test), *_where(on, abis)) for test, on in tests.items()]
    return joined([*made, plain(" Exactly: "), joined(said, "; "), plain(".")], "")


def _where(on: list[str], abis: tuple[str, ...]) -> Inline:
    return () if tuple(on) == abis else (Text(" on "), *codes(on))
