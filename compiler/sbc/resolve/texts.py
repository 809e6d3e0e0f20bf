"""Which text a rule of a policy stands in: what analyses may know of the files, without seeing their syntax."""

from collections.abc import Iterable, Iterator

from sbc.diagnostics.span import Span
from sbc.record import Record
from sbc.resolve.modules import Modules
from sbc.syntax import tree


class NamedCall(Record):
    """A call that a rule names: its name, where it stands, and the rule."""

    call: str
    span: Span
    rule: Span


class RuleText(Record):
    """One text of rules: a profile, or a `rules` definition.

    `parts` are the spans of the text itself and of every `rules` definition that it includes, also indirectly.
    `rules` tells whether it has rules of its own; `named` are the calls that they name themselves, not by a group or a
    pattern.
    """

    name: str
    span: Span
    profile: bool
    stock: bool
    parts: tuple[Span, ...]
    rules: bool
    named: tuple[NamedCall, ...]

    def has(self, span: Span) -> bool:
        """Tell whether a span lies in the text itself."""
        return inside(span, self.span)

    def takes_in(self, span: Span) -> bool:
        """Tell whether a span lies in the text or in what it includes."""
        return any(inside(span, part) for part in self.parts)


def inside(span: Span, outer: Span) -> bool:
    """Tell whether a span lies in another."""
    return span.source is outer.source and outer.start <= span.start and span.end <= outer.end


def rule_texts(modules: Modules) -> tuple[RuleText, ...]:
    """Give every text of rules of the files read."""
    definitions: dict[str, list[tree.RulesDefinition]] = {}
    for module in modules:
        for item in module.tree.items:
            if isinstance(item, tree.RulesDefinition):
                definitions.setdefault(item.name.name, []).append(item)
    made: list[RuleText] = []
    for module in modules:
        for item in module.tree.items:
            if isinstance(item, tree.RulesDefinition | tree.Profile):
                made.append(_text(item, module.stock, definitions))
    return tuple(made)


def _text(
    item: tree.RulesDefinition | tree.Profile, stock: bool, definitions: dict[str, list[tree.RulesDefinition]]
) -> RuleText:
    statements = tuple(_flat(_body(item)))
    parts: dict[Span, None] = {item.span: None}
    todo = list(_included(statements))
    while todo:
        for definition in definitions.get(todo.pop(), []):
            if definition.span not in parts:
                parts[definition.span] = None
                todo += _included(tuple(_flat(definition.body)))
    named = tuple(
        NamedCall(call.text, call.span, statement.span)
        for statement in statements
        if isinstance(statement, tree.CallRule)
        for call in statement.calls
        if isinstance(call, tree.Word) and "*" not in call.text
    )
    profile = isinstance(item, tree.Profile)
    name = item.name.text if isinstance(item, tree.Profile) else item.name.name
    rules = any(isinstance(statement, tree.CallRule) for statement in statements)
    return RuleText(name, item.span, profile, stock, tuple(parts), rules, named)


def _body(item: tree.RulesDefinition | tree.Profile) -> Iterator[tree.SyscallStatement]:
    if isinstance(item, tree.RulesDefinition):
        yield from item.body
        return
    for block in item.blocks:
        if block.keyword.text == "syscalls":
            for statement in block.body or ():
                if isinstance(statement, tree.SyscallStatement):
                    yield statement


def _flat(statements: Iterable[tree.SyscallStatement]) -> Iterator[tree.SyscallStatement]:
    for statement in statements:
        yield statement
        if isinstance(statement, tree.OnAbis):
            yield from _flat(statement.body)


def _included(statements: Iterable[tree.SyscallStatement]) -> Iterator[str]:
    return (s.rules.name for s in statements if isinstance(s, tree.Include))
