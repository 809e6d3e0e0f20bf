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
from sbc.policy.conditions import ALWAYS
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
    why = dict.fromkeys(origin.reason for origin in _deciding(one) if origin.reason)
    return (*joined(made, "; "), Text("."), *(part for text in why for part in (Text(" "), *prose(text))))


def _deciding(one: FilterPolicy) -> Iterator[Origin]:
    """Give the statements that decide where no rule does."""
    for abi in one.abis:
        yield abi.default_origin
        if abi.newer is not None:
            yield abi.newer.origin
    yield one.foreign_origin


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


def calls(policy: Policy) -> Section:
    """Give a table for each verdict: the calls with their numbers, by reason."""
    abis = tuple(abi.arch.name for abi in _abis(policy))
    by_verdict: dict[Inline, dict[str, dict[str, dict[str, int]]]] = {}
    for abi in _abis(policy):
        name = abi.arch.name
        origin: Origin | None = None
        rows: dict[str, dict[str, int]] = {}
        for rule in _reached(abi):
            if rule.condition == ALWAYS:
                if rule.origin is not origin:  # a statement's rules follow each other
                    origin = rule.origin
                    reasons = by_verdict.setdefault(verdict_words(rule.verdict, origin, name), {})
                    rows = reasons.setdefault(why(origin), {})
                # One row for a call that statements on different ABIs treat alike.
                rows.setdefault(rule.call, {})[name] = rule.number
    blocks: list[Block] = []
    for verdict, reasons in by_verdict.items():
        groups = tuple(
            Group(prose(reason_), tuple((code(call), *_cells(call, found, abis)) for call, found in named.items()))
            for reason_, named in reasons.items()
        )
        blocks.append(Subhead(_title(verdict, sum(len(group.rows) for group in groups))))
        note = "Why" if any(group.note for group in groups) else ""
        blocks.append(Table(("Call", *abis), groups, note, matrix=True))
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


class _ArgumentRule:
    """One statement with a condition: its verdict, its calls, and its condition under each ABI and for each call."""

    def __init__(self, verdict: Inline) -> None:
        self.verdict = verdict
        self.calls: dict[str, None] = {}
        self.tests: dict[str, dict[str, None]] = {}

    def add(self, rule: Rule, abi: str) -> None:
        self.calls[rule.call] = None
        self.tests.setdefault(exactly(rule.condition), {})[abi] = None


def arguments(policy: Policy) -> Section:
    """Say each rule on arguments in words, with its reason and the exact test."""
    abis = tuple(abi.arch.name for abi in _abis(policy))
    found: dict[Origin, _ArgumentRule] = {}
    for abi in _abis(policy):
        for rule in _reached(abi):
            if rule.condition != ALWAYS:
                if rule.origin not in found:
                    found[rule.origin] = _ArgumentRule(verdict_words(rule.verdict, rule.origin, abi.arch.name))
                found[rule.origin].add(rule, abi.arch.name)
    items = tuple(_argument_rule(origin, statement, abis) for origin, statement in found.items())
    return Section("arguments", "Rules on arguments", (Bullets(items),) if items else ())


def _argument_rule(origin: Origin, statement: _ArgumentRule, abis: tuple[str, ...]) -> Inline:
    words = condition_words(origin) or (Text(": "), Code(origin.text))
    made: list[Inline] = [codes(tuple(statement.calls)), plain(" "), statement.verdict, words, plain(".")]
    made.append(reason(origin))
    said = [(Code(test), *_where(tuple(on), abis)) for test, on in statement.tests.items()]
    return joined([*made, plain(" Exactly: "), joined(said, "; "), plain(".")], "")


def _where(on: tuple[str, ...], abis: tuple[str, ...]) -> Inline:
    return () if on == abis else (Text(" on "), *codes(on))
