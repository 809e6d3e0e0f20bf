"""The files that a profile is made from: the main file and everything that it uses, each read once."""

import os
from collections.abc import Iterator
from pathlib import Path

from sbc import data
from sbc.diagnostics.catalogue import modules as problems
from sbc.diagnostics.diagnostic import Reporter
from sbc.diagnostics.span import Source, Span
from sbc.policy.policy import Policy, SourceFile
from sbc.syntax import tree
from sbc.syntax.parser import parse
from sbc.syntax.reading import read_source, source_digest
from sbc.syntax.stored import load as load_stored

MAX_DEPTH = 32
MAX_FILES = 200


_STOCK: dict[str, tree.SourceTree] = {}
"""The trees of the stock library that this process has read: where many files are compiled, each is read once."""


def _stock_tree(source: Source) -> tree.SourceTree | None:
    """Give the stored tree of a file of the stock library, which must be of this very text."""
    known = _STOCK.get(source.name)
    if known is None or known.span.source != source:
        known = load_stored(source)
        if known is not None:
            _STOCK[source.name] = known
    return known


class Module:
    """One file: its tree, and the files that it uses directly, in the order written.

    Compared by identity: a file is one module, by whatever path it is reached.
    """

    def __init__(self, source: Source, syntax: tree.SourceTree, stock: bool) -> None:
        self.source = source
        self.tree = syntax
        self.stock = stock
        self.uses: list[Module] = []

    @property
    def name(self) -> str:
        """The name of the file in outputs."""
        return self.source.name


class Modules:
    """All files of one compilation; files of the stock library can be added when a default needs one."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter
        self._by_file: dict[str, Module | None] = {}
        self._open: list[tuple[str, str]] = []
        self.main: Module | None = None
        self.checked: set[str] = set()
        """The profiles of the main file that were lowered, so that each is for its errors only once."""
        self.others: list[Policy] = []
        """What those are that nobody asked for: for the errors that analyses find."""

    def load_main(self, path: Path) -> None:
        """Read the file that is compiled, and what it uses."""
        self.main = self._load(path, path.name, None, stock=False)

    def stock(self, name: str) -> "Module | None":
        """Give a file of the stock library, also where no file uses it."""
        return self._load(data.stock_path(name), f"<{name}>", None, stock=True)

    def stock_library(self) -> "Iterator[Module]":
        """Give every file of the stock library, used or not: for the help of an error."""
        for name in _stock_names():
            module = self.stock(name)
            if module is not None:
                yield module

    def sources(self) -> tuple[SourceFile, ...]:
        """Give the name and digest of every file read, main file first."""
        return tuple(
            SourceFile(module.name, source_digest(module.source))
            for module in self._by_file.values()
            if module is not None
        )

    def digests(self) -> dict[str, str]:
        """Give the digest of every file read, by its real path."""
        found = {path: module for path, module in self._by_file.items() if module is not None}
        return {path: source_digest(module.source) for path, module in found.items()}

    def __iter__(self) -> Iterator[Module]:
        return iter([module for module in self._by_file.values() if module is not None])

    def _load(self, path: Path, name: str, use: Span | None, *, stock: bool) -> Module | None:
        """Read one file once; None where it cannot be read or parsed, which has then been told."""
        key = self._key(path, name, use)
        if key is None:
            return None
        if key in self._by_file:
            self._check_cycle(key, name, use)
            return self._by_file[key]
        if use is not None and self._too_many(use):
            return None
        self._by_file[key] = None
        source = read_source(path, name, self._reporter)
        if source is None:
            return None
        syntax = (_stock_tree(source) if stock else None) or self._parse(source)
        if syntax is None:
            return None
        module = Module(source, syntax, stock)
        self._by_file[key] = module
        self._open.append((key, name))
        for item in syntax.items:
            if isinstance(item, tree.Use):
                self._use(module, path, item)
        self._open.pop()
        return module

    def _parse(self, source: Source) -> tree.SourceTree | None:
        # A reporter of its own: the parser gives no tree where an error, also of another file, was told before.
        parsing = Reporter()
        syntax = parse(source, parsing)
        for diagnostic in parsing.diagnostics:
            self._reporter.add(diagnostic)
        return syntax

    def _key(self, path: Path, name: str, use: Span | None) -> str | None:
        """Give what identifies the file on disk, links resolved; None where a `use` leads nowhere."""
        if use is None:
            return os.path.realpath(path)
        try:
            real = os.path.realpath(path, strict=True)
        except OSError as error:
            self._reporter.add(problems.UseNotFound(use, name, _reason(error)))
            return None
        except ValueError:
            self._reporter.add(problems.UseNotFound(use, name, "the path contains NUL"))
            return None
        if not os.path.isfile(real):  # noqa: PTH113 (a Path made from it would be made for this alone)
            self._reporter.add(problems.UseNotFound(use, name, "it is not a regular file"))
            return None
        return real

    def _check_cycle(self, key: str, name: str, use: Span | None) -> None:
        keys = [opened for opened, _ in self._open]
        if use is not None and key in keys:
            chain = tuple(spelled for _, spelled in self._open[keys.index(key) :])
            self._reporter.add(problems.UseCycle(use, (*chain, name)))

    def _too_many(self, use: Span) -> bool:
        if len(self._by_file) >= MAX_FILES:
            self._reporter.add(problems.TooManyFiles(use, f"{MAX_FILES} files"))
        elif len(self._open) >= MAX_DEPTH:
            self._reporter.add(problems.TooManyFiles(use, f"{MAX_DEPTH} levels of `use`"))
        else:
            return False
        return True

    def _use(self, module: Module, path: Path, use: tree.Use) -> None:
        target = use.target
        if isinstance(target, tree.StockRef):
            used = self._use_stock(target)
        elif os.path.isabs(target.value) or not target.value:  # noqa: PTH117 (a string is asked about, not a file)
            self._reporter.add(problems.AbsoluteUse(target.span, target.value))
            return
        else:
            # Named by the text alone: names in outputs do not depend on where links lead.
            name = os.path.normpath(os.path.join(os.path.dirname(module.name), target.value))  # noqa: PTH118, PTH120
            used = self._load(path.parent / target.value, name, target.span, stock=module.stock)
        if used is not None and used is not module and used not in module.uses:
            module.uses.append(used)

    def _use_stock(self, target: tree.StockRef) -> Module | None:
        path = data.stock_path(target.name)
        if not path.is_file():
            known = _stock_names()
            listed = ", ".join(f"`<{name}>`" for name in known)
            self._reporter.add(
                problems.UnknownStock(
                    target.span, target.name, self._reporter.closest(target.name, known, "stock"), listed
                )
            )
            return None
        return self._load(path, f"<{target.name}>", target.span, stock=True)


def _stock_names() -> list[str]:
    """Give the names of the stock library's files."""
    return sorted(found.stem for found in (data.profiles_folder() / "lib").glob("*.sbx"))


def _reason(error: OSError) -> str:
    """Say why a file cannot be found, without the machine's own paths."""
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    return (error.strerror or "it cannot be read").lower()


def load(path: Path, reporter: Reporter) -> Modules:
    """Read the file at `path` and everything that it uses; `Failed` with every error found."""
    modules = Modules(reporter)
    modules.load_main(path)
    reporter.end_stage()
    return modules


def profile_names(modules: Modules) -> tuple[str, ...]:
    """Give the names of the main file's profiles, in its order."""
    items = modules.main.tree.items if modules.main is not None else ()
    return tuple(item.name.text for item in items if isinstance(item, tree.Profile))
