"""Groups: what kind of things one holds, and its members in order, with the groups inside it opened."""

from typing import Literal, cast

from sbc.diagnostics.catalogue import groups as group_problems
from sbc.diagnostics.catalogue import names as problems
from sbc.diagnostics.catalogue.params import GroupParam
from sbc.diagnostics.diagnostic import Reporter
from sbc.diagnostics.span import Span
from sbc.kernel import constants as kernel_constants
from sbc.kernel.numbers import all_calls, expand_glob
from sbc.policy.values import BUILT_IN
from sbc.record import Record
from sbc.resolve.modules import Module
from sbc.resolve.scope import Found, Scopes
from sbc.syntax import tree

Kind = Literal["system calls", "constants", "paths"]


MAX_NESTING = 100
"""How deep groups, and `rules` with their `on` blocks, may contain each other."""

Thing = tree.Word | tree.Number | tree.Constant | tree.Path
"""A member that is no group: a call or constant, a number, several OR-ed, a path."""


class Content(Record):
    """A group opened: its kind (None: it is empty) and its members, each once.

    `told`: some of it is wrong, which has been told; that it is empty then says nothing new.
    """

    kind: Kind | None
    members: tuple[Thing, ...]
    told: bool = False


_TOLD = Content(None, (), True)


class Groups:
    """Opens groups; each is checked and opened once."""

    def __init__(self, scopes: Scopes, reporter: Reporter) -> None:
        self._scopes = scopes
        self._reporter = reporter
        self._opened: dict[int, Content] = {}
        self._open: list[tree.Group] = []

    def content(self, module: Module, ref: tree.GroupRef, wanted: Kind) -> Content:
        """Give what the group that `ref` names holds; tells where that cannot stand here."""
        found = self._scopes.marked(module, ref)
        if found is None:
            return _TOLD
        if not isinstance(found.node, tree.Group):
            self._reporter.add(group_problems.RulesAsGroup(ref.span, ref.name, True, found.span))
            return _TOLD
        content = self.open(found)
        if content.kind is not None and content.kind != wanted:
            self._reporter.add(group_problems.WrongGroupKind(ref.span, ref.name, content.kind, wanted, found.span))
            return _TOLD
        return content

    def open(self, found: Found) -> Content:
        """Open a group's definition."""
        group = cast("tree.Group", found.node)
        key = id(group)
        if key not in self._opened:
            self._open.append(group)
            self._opened[key] = self._read(found.module, group)
            self._open.pop()
        return self._opened[key]

    def _read(self, module: Module, group: tree.Group) -> Content:
        kind: Kind | None = None
        first: Span | None = None
        mixed: set[Kind] = set()
        told = False
        members: dict[tuple[str, str], Thing] = {}
        for member in group.members:
            part = self._part(module, member)
            told = told or part.told
            if part.kind is None:
                continue
            if kind is None or first is None:
                kind, first = part.kind, member.span
            elif part.kind != kind:
                if part.kind not in mixed:  # once for each kind: the rest says nothing new
                    self._reporter.add(group_problems.MixedGroup(member.span, group.name.name, part.kind, kind, first))
                mixed.add(part.kind)
                told = True
                continue
            for one in part.members:
                members.setdefault(_identity(one), one)
        return Content(kind, tuple(members.values()), told)

    def _part(self, module: Module, member: Thing | tree.GroupRef) -> Content:
        match member:
            case tree.GroupRef():
                return self._inner(module, member)
            case tree.Path():
                if member.base is not None and member.base not in BUILT_IN:
                    self._reporter.add(GroupParam(member.span, member.base))
                return Content("paths", (member,))
            case tree.Number():
                return Content("constants", (member,))
            case tree.Constant():
                parts = [self._constant(term) for term in member.terms if isinstance(term, tree.Word)]
                return Content("constants", (member,)) if all(parts) else _TOLD
            case tree.Word():
                return self._word(member)

    def _inner(self, module: Module, ref: tree.GroupRef) -> Content:
        found = self._scopes.marked(module, ref)
        if found is None:
            return _TOLD
        if not isinstance(found.node, tree.Group):
            self._reporter.add(group_problems.RulesAsGroup(ref.span, ref.name, True, found.span))
            return _TOLD
        if len(self._open) > MAX_NESTING:
            self._reporter.add(group_problems.DeepNames(ref.span, MAX_NESTING))
            return _TOLD
        if any(found.node is group for group in self._open):
            start = next(at for at, group in enumerate(self._open) if group is found.node)
            chain = [group.name.name for group in self._open[start:]]
            self._reporter.add(group_problems.NameCycle(ref.span, (*chain, ref.name)))
            return _TOLD
        return self.open(found)

    def _word(self, word: tree.Word) -> Content:
        """Tell a call from a constant by what the kernel knows; an unknown word by its case."""
        if word.text in all_calls() or "*" in word.text:
            return Content("system calls", tuple(self.calls_named(word)))
        if kernel_constants.family_of(word.text) is not None:
            return Content("constants", (word,))
        if word.text.isupper():
            near = closest_constant(word.text, self._reporter)
            self._reporter.add(problems.UnknownConstant(word.span, word.text, near))
        else:
            self._unknown_call(word)
        return _TOLD

    def _constant(self, word: tree.Word) -> bool:
        """Tell whether a word names a constant; one that does not is told."""
        if kernel_constants.family_of(word.text) is not None:
            return True
        near = closest_constant(word.text, self._reporter)
        self._reporter.add(problems.UnknownConstant(word.span, word.text, near))
        return False

    def calls_named(self, word: tree.Word) -> list[tree.Word]:
        """Give the calls that a name or a pattern of names means, as words at its place."""
        if "*" in word.text:
            found = expand_glob(word.text)
            if not found:
                stem = word.text.replace("*", "")
                near = self._reporter.closest(stem, all_calls(), "calls")
                self._reporter.add(problems.EmptyGlob(word.span, word.text, near))
            return [tree.Word(call, word.span) for call in found]
        if word.text not in all_calls():
            self._unknown_call(word)
            return []
        return [word]

    def _unknown_call(self, word: tree.Word) -> None:
        near = self._reporter.closest(word.text, all_calls(), "calls")
        self._reporter.add(problems.UnknownCall(word.span, word.text, near))


def closest_constant(name: str, reporter: Reporter) -> str | None:
    """Give the constant of any family that a misspelt one may have meant."""
    known = (one for family in kernel_constants.families() for one in kernel_constants.members(family))
    return reporter.closest(name, known, "constants")


def _identity(member: Thing) -> tuple[str, str]:
    match member:
        case tree.Word():
            return "word", member.text
        case tree.Number():
            return "number", str(member.value)
        case tree.Constant():
            return "constant", member.span.text
        case tree.Path():
            return member.base or "", member.rest
