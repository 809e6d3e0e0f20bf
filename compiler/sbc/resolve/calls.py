"""The statements of the `syscalls` blocks of a chain, in the order in which they are tried, with where each holds."""

from collections.abc import Iterator, Sequence

from sbc.diagnostics.catalogue import groups as group_problems
from sbc.diagnostics.catalogue import names, verdicts
from sbc.diagnostics.catalogue.blocks import NeverApplies
from sbc.diagnostics.diagnostic import Reporter
from sbc.diagnostics.span import Span
from sbc.record import Record
from sbc.resolve.groups import MAX_NESTING, Groups
from sbc.resolve.modules import Module
from sbc.resolve.scope import Scopes
from sbc.syntax import tree
from sbc_runtime.arch import ARCHES

EVERYWHERE = frozenset(ARCHES)
MAX_RULES = 200_000
"""So many rules a profile may have, one for each call on each ABI: 40 on each call of ten ABIs."""

_BLOCK = "the `syscalls` block"
_ON = "an `on` block"


class PlacedRule(Record):
    """A rule, the ABIs that `on` leaves it, the file that it stands in, and the calls that it names."""

    node: tree.CallRule
    abis: frozenset[str]
    module: Module
    calls: tuple[tree.Word, ...]


class PlacedNewer(Record):
    """A `newer` statement, the ABIs that `on` leaves it, and the level of the chain that it belongs to."""

    node: tree.NewerThan
    abis: frozenset[str]
    level: int


def _once(written: "Sequence[tree.Word | tree.GroupRef]") -> "Iterator[tree.Word | tree.GroupRef]":
    """Give what a rule names, each spelling at its first place."""
    seen: set[tuple[bool, str]] = set()
    for one in written:
        key = (False, one.text) if isinstance(one, tree.Word) else (True, one.name)
        if key not in seen:
            seen.add(key)
            yield one


class Statements:
    """Walks `syscalls` bodies, includes and `on` blocks opened."""

    def __init__(self, scopes: Scopes, groups: Groups, reporter: Reporter) -> None:
        self.rules: list[PlacedRule] = []
        self.newer: list[PlacedNewer] = []
        self.single: dict[tuple[int, str], tree.AbiList | tree.ForeignAbi | tree.DefaultVerdict] = {}
        self.order: dict[int, tree.SyscallStatement] = {}
        """Every statement met, each once, by identity."""
        self._scopes = scopes
        self._groups = groups
        self._reporter = reporter
        self._open: list[tree.RulesDefinition] = []
        self._depth = 0
        self._walked: dict[tuple[int, int], frozenset[str]] = {}
        self._included: set[int] = set()
        self._newer_on: dict[tuple[int, str], tree.NewerThan] = {}
        self._calls: dict[int, tuple[tree.Word, ...]] = {}
        self._named_calls = 0

    def another(self) -> "Statements":
        """Give an empty one with the same names."""
        return Statements(self._scopes, self._groups, self._reporter)

    def includes(self, rules: tree.RulesDefinition) -> bool:
        """Tell whether a `rules` definition was walked."""
        return id(rules) in self._included

    def block(self, body: tuple[tree.SyscallStatement, ...], module: Module, level: int) -> None:
        """Walk the body of a `syscalls` block."""
        for statement in body:
            self._statement(statement, EVERYWHERE, module, level, _BLOCK)

    def _statement(
        self, statement: tree.SyscallStatement, abis: frozenset[str], module: Module, level: int, where: str
    ) -> None:
        if not isinstance(statement, tree.OnAbis | tree.Include):
            self.order.setdefault(id(statement), statement)
        match statement:
            case tree.CallRule():
                self.rules.append(PlacedRule(statement, abis, module, self._named(statement, module)))
            case tree.OnAbis():
                self._on(statement, abis, module, level, where)
            case tree.Include():
                self.include(statement.rules, module, abis, level)
            case tree.NewerThan():
                self._newer(statement, abis, level)
            case tree.AbiList():
                self._single("abi", "the ABI list", statement, level, where)
            case tree.ForeignAbi():
                self._single("foreign-abi", "`foreign-abi`", statement, level, where)
            case tree.DefaultVerdict():
                self._single("default", "`default`", statement, level, where)

    def _on(self, on: tree.OnAbis, abis: frozenset[str], module: Module, level: int, where: str) -> None:
        named = frozenset(self.known_abis(on.abis))
        inner = abis & named
        if where == _ON and named and not inner:
            self._reporter.add(NeverApplies(on.span, " ".join(sorted(named)), " ".join(sorted(abis))))
        if self._too_deep(on.span):
            return
        self._depth += 1
        for one in on.body:
            self._statement(one, inner, module, level, _ON)
        self._depth -= 1

    def _too_deep(self, span: Span) -> bool:
        if self._depth < MAX_NESTING:
            return False
        self._reporter.add(group_problems.DeepNames(span, MAX_NESTING))
        return True

    def include(self, ref: tree.GroupRef, module: Module, abis: frozenset[str], level: int) -> None:
        """Walk the rules that `include @name` means."""
        found = self._scopes.rules(module, ref)
        if found is None or not isinstance(found.node, tree.RulesDefinition):
            return
        if any(found.node is node for node in self._open):
            chain = [node.name.name for node in self._open]
            start = next(at for at, node in enumerate(self._open) if node is found.node)
            self._reporter.add(group_problems.NameCycle(ref.span, (*chain[start:], ref.name)))
            return
        if self._too_deep(ref.span):
            return
        done = self._walked.get((level, id(found.node)), frozenset())
        if abis <= done:  # what the profile included before decides all that it would
            return
        self._walked[level, id(found.node)] = done | abis
        self._included.add(id(found.node))
        self._open.append(found.node)
        self._depth += 1
        for statement in found.node.body:
            self._statement(statement, abis, found.module, level, "`rules`")
        self._depth -= 1
        self._open.pop()

    def _single(
        self,
        key: str,
        what: str,
        statement: "tree.AbiList | tree.ForeignAbi | tree.DefaultVerdict",
        level: int,
        where: str,
    ) -> None:
        """Keep a statement that stands once in a block, and nowhere else."""
        if where != _BLOCK:
            self._reporter.add(verdicts.Misplaced(statement.span, key, where))
            return
        first = self.single.setdefault((level, key), statement)
        if first is not statement:
            self._reporter.add(verdicts.StatedTwice(statement.span, what, first.span))

    def _newer(self, statement: tree.NewerThan, abis: frozenset[str], level: int) -> None:
        stated = [first for abi in sorted(abis) if (first := self._newer_on.get((level, abi))) is not None]
        for first in dict.fromkeys(one.span for one in stated if one is not statement):
            self._reporter.add(verdicts.StatedTwice(statement.span, "`newer than`", first))
        for abi in abis:
            self._newer_on.setdefault((level, abi), statement)
        if len(stated) < len(abis):
            self.newer.append(PlacedNewer(statement, abis, level))

    def _named(self, rule: tree.CallRule, module: Module) -> tuple[tree.Word, ...]:
        """Give the calls that a rule names, groups and patterns opened, each once."""
        key = id(rule)
        if self._named_calls > MAX_RULES:
            return ()
        if key not in self._calls:
            found: dict[str, tree.Word] = {}
            told = False
            for written in _once(rule.calls):
                if isinstance(written, tree.GroupRef):
                    content = self._groups.content(module, written, "system calls")
                    words = [tree.Word(one.text, written.span) for one in content.members if isinstance(one, tree.Word)]
                    told = told or content.told
                else:
                    words = self._groups.calls_named(written)
                    told = told or not words
                for word in words:
                    found.setdefault(word.text, word)
            self._named_calls += len(found)
            if self._named_calls > MAX_RULES:
                self._reporter.add(verdicts.TooManyRules(rule.span, MAX_RULES))
                found = {}
            elif not found and not told:
                self._reporter.add(verdicts.NoCalls(rule.span))
            self._calls[key] = tuple(found.values())
        return self._calls[key]

    def known_abis(self, words: tuple[tree.Word, ...]) -> list[str]:
        """Give the ABIs that words name; tells the unknown and the repeated ones."""
        found: dict[str, Span] = {}
        for word in words:
            if word.text not in ARCHES:
                near = self._reporter.closest(word.text, ARCHES)
                self._reporter.add(names.UnknownAbi(word.span, word.text, near, ", ".join(ARCHES)))
            elif word.text in found:
                self._reporter.add(verdicts.RepeatedAbi(word.span, word.text, found[word.text]))
            else:
                found[word.text] = word.span
        return list(found)
