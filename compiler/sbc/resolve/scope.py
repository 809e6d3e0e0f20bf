"""Which definition a name means, seen from a file.

A file sees what it defines and what the files that it uses directly define; among these a name is defined once. What
those files use in turn is seen only where nothing nearer has the name, so that a definition added to a library file
never changes or breaks a file that has its own. A definition's own names are looked up from the file it stands in.
"""

from sbc.diagnostics.catalogue import groups as group_problems
from sbc.diagnostics.catalogue.modules import UnknownProfile
from sbc.diagnostics.diagnostic import Reporter
from sbc.diagnostics.span import Span
from sbc.diagnostics.suggest import closest
from sbc.resolve.modules import Module, Modules
from sbc.syntax import tree

Marked = tree.Group | tree.RulesDefinition


class Found:
    """A definition and the file that it stands in."""

    __slots__ = ("module", "node")

    def __init__(self, node: "Marked | tree.Profile", module: Module) -> None:
        self.node = node
        self.module = module

    @property
    def span(self) -> Span:
        """Where the name is defined."""
        return self.node.name.span


def key_of(node: "Marked | tree.Profile") -> str:
    """Give the name as it is written: marks and all, so that `@x` and a profile `x` are two names."""
    return node.name.text if isinstance(node, tree.Profile) else f"@{node.name.name}"


def what_of(node: "Marked | tree.Profile") -> str:
    """Say what kind of thing a definition is."""
    if isinstance(node, tree.Profile):
        return "the profile"
    return "the group" if isinstance(node, tree.Group) else "the rules"


class Scopes:
    """Looks names up; tells each problem once."""

    def __init__(self, modules: Modules, reporter: Reporter) -> None:
        self.modules = modules
        self._reporter = reporter
        self._own: dict[Module, dict[str, Found]] = {}
        self._near: dict[Module, dict[str, Found]] = {}

    def own(self, module: Module) -> dict[str, Found]:
        """Give what a file itself defines."""
        if module not in self._own:
            self._own[module] = {}
            for item in module.tree.items:
                if not isinstance(item, tree.Use):
                    self._define(self._own[module], Found(item, module))
        return self._own[module]

    def near(self, module: Module) -> dict[str, Found]:
        """Give what a file and the files that it uses directly define."""
        if module not in self._near:
            self._near[module] = dict(self.own(module))
            for used in module.uses:
                for found in self.own(used).values():
                    self._define(self._near[module], found)
        return self._near[module]

    def _define(self, names: dict[str, Found], found: Found) -> None:
        key = key_of(found.node)
        first = names.setdefault(key, found)
        if first is not found and first.node is not found.node:
            self._reporter.add(group_problems.DuplicateName(found.span, what_of(found.node), key, first.span))

    def find(self, module: Module, key: str, span: Span) -> Found | None:
        """Find a definition; None where there is none, or more than one equally near, which is then told."""
        if key in (near := self.near(module)):
            return near[key]
        seen = {module, *module.uses}
        level = list(module.uses)
        while level:
            level = list(dict.fromkeys(used for one in level for used in one.uses if used not in seen))
            seen.update(level)
            here = [found[key] for one in level if key in (found := self.own(one))]
            if len(here) > 1:
                self._reporter.add(group_problems.AmbiguousName(span, key, tuple(found.span for found in here)))
            if here:
                return here[0]
        return None

    def marked(self, module: Module, ref: tree.GroupRef) -> Found | None:
        """Find what `@name` means; tells where it means nothing."""
        found = self.find(module, f"@{ref.name}", ref.span)
        if found is None:
            known = (name[1:] for name in self.near(module) if name.startswith("@"))
            near = self._reporter.closest(ref.name, known, module.name)
            elsewhere = self._stock_with(ref.name)
            if near is None and elsewhere is None:
                stock = (name[1:] for one in self.modules.stock_library() for name in self.own(one) if name[0] == "@")
                near = self._reporter.closest(ref.name, stock, "the stock library")
                elsewhere = self._stock_with(near) if near is not None else None
            self._reporter.add(group_problems.UnknownGroup(ref.span, ref.name, near, elsewhere))
        return found

    def rules(self, module: Module, ref: tree.GroupRef) -> Found | None:
        """Find the `rules` that `include @name` means; tells where it means none."""
        found = self.marked(module, ref)
        if found is not None and isinstance(found.node, tree.Group):
            self._reporter.add(group_problems.RulesAsGroup(ref.span, ref.name, False, found.span))
            return None
        return found

    def profile(self, module: Module, word: tree.Word) -> Found | None:
        """Find the profile that `extends NAME` means; tells where there is none."""
        found = self.find(module, word.text, word.span)
        if found is None:
            known = [name for name in self.near(module) if not name.startswith("@")]
            self._reporter.add(unknown_profile(word.span, word.text, known))
        return found

    def _stock_with(self, name: str) -> str | None:
        """Name the file of the stock library that defines `@name`."""
        for module in self.modules.stock_library():
            if f"@{name}" in self.own(module):
                return module.name
        return None


def unknown_profile(span: Span | None, name: str, known: list[str]) -> UnknownProfile:
    """Make the error about a profile that does not exist."""
    return UnknownProfile(span, name, closest(name, known))
