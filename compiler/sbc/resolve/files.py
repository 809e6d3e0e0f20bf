"""The `files` block: statements to path rules, inherited, checked and moved."""

from collections.abc import Callable
from typing import TypeVar, cast

from sbc.diagnostics.catalogue import files as problems
from sbc.diagnostics.catalogue.blocks import NothingNamed, ValueKind
from sbc.diagnostics.diagnostic import Reporter
from sbc.policy.filesystem import Devices, DevicesKind, Files, PathRule, RootKind, StartIn, Tmp
from sbc.policy.origin import Origin, System
from sbc.policy.policy import Override
from sbc.policy.values import ParamType, ParamValue
from sbc.record import Record
from sbc.resolve.chain import Level
from sbc.resolve.groups import Groups
from sbc.resolve.inherit import Entry, inherited, refuse_repeats
from sbc.resolve.modules import Module
from sbc.resolve.origins import block_origin, origin_of
from sbc.resolve.params import Params
from sbc.resolve.places import moved, refuse_shared_places
from sbc.resolve.repeats import distinct
from sbc.resolve.reserved import refuse_reserved, sysfs_rules
from sbc.resolve.systems import BOTH, on_of, opened, systems_of
from sbc.syntax import tree

Shown = PathRule | Tmp
Single = RootKind | DevicesKind | StartIn


class _Stated(Record):
    """What one profile's block says."""

    shown: list[Entry[Shown]]
    single: list[Entry[Single]]


class FilesLowering:
    """Lowers the `files` blocks of a chain of profiles."""

    def __init__(self, groups: Groups, params: Params, overrides: list[Override], reporter: Reporter) -> None:
        self._groups = groups
        self._params = params
        self._overrides = overrides
        self._reporter = reporter

    def lower(self, levels: list[Level]) -> Files | None:
        """Give the policy of the block; None where no profile has one, which has then been told."""
        written = [(level.module, level.blocks["files"]) for level in levels if "files" in level.blocks]
        if not written:
            name = levels[0].profile.name
            self._reporter.add(problems.NoFiles(name.span, name.text))
            return None
        stated = [self._read(module, block) for module, block in written]
        shown = [entry.value for entry in inherited([one.shown for one in stated], self._overrides)]
        single = [entry.value for entry in inherited([one.single for one in stated], self._overrides)]
        rules = moved(tuple(one for one in shown if isinstance(one, PathRule)))
        tmps = tuple(one for one in shown if isinstance(one, Tmp))
        refuse_shared_places(rules, tmps, self._reporter)
        refuse_reserved(rules, tmps, self._params.default_of, self._reporter)
        rules += tuple(sysfs_rules(rules))
        return Files(
            _with_default(tuple(one for one in single if isinstance(one, RootKind)), _default_root),
            rules,
            tmps,
            _with_default(tuple(one for one in single if isinstance(one, DevicesKind)), _default_devices),
            _with_default(tuple(one for one in single if isinstance(one, StartIn)), _default_start),
            block_origin("files", written[0][1]),
        )

    def _read(self, module: Module, block: tree.Block) -> _Stated:
        shown: list[Entry[Shown]] = []
        single: list[Entry[Single]] = []
        for statement, on in opened(block.body or (), self._reporter):
            origin = origin_of("files", statement, on)
            match statement:
                case tree.PathStatement():
                    shown.extend(self._paths(statement, module, origin))
                case tree.TmpStatement():
                    shown.extend(self._tmp(statement, origin))
                case tree.RootStatement():
                    kind = "host" if statement.kind.text == "host" else "private"
                    single.append(Entry(("`root`",), origin, RootKind(kind, origin)))
                case tree.DevicesStatement():
                    devices = DevicesKind(cast("Devices", statement.kind.text), origin)
                    single.append(Entry(("`devices`",), origin, devices))
                case tree.StartInStatement():
                    path = self._params.path(statement.path)
                    single.append(Entry(("`start-in`",), origin, StartIn(path, origin)))
                case _:
                    raise AssertionError(statement)
        refuse_repeats(single, self._reporter)
        return _Stated(distinct(shown, self._reporter), single)

    def _paths(self, statement: tree.PathStatement, module: Module, origin: Origin) -> list[Entry[Shown]]:
        written: list[tree.Path] = []
        told = False
        for path in statement.paths:
            if isinstance(path, tree.Path):
                written.append(path)
            else:
                content = self._groups.content(module, path, "paths")
                written.extend(one for one in content.members if isinstance(one, tree.Path))
                told = told or content.told
        if not written and not told:
            self._reporter.add(NothingNamed(statement.span))
        self._check_options(statement, len(written))
        place = self._params.path(statement.place) if statement.place and len(written) == 1 else None
        found: list[Entry[Shown]] = []
        for path in written:
            value = self._params.path(path)
            if value is None:
                continue
            identity = statement.identity.value if statement.identity else None
            rule = PathRule(statement.verb, value, origin, place, statement.optional, statement.noexec, identity)
            found.append(Entry((("path", value), ("place", rule.seen_as)), origin, rule))
        return found

    def _check_options(self, statement: tree.PathStatement, count: int) -> None:
        for option, written in (("as", statement.place), ("identity", statement.identity)):
            if written is None:
                continue
            if count > 1:
                self._reporter.add(problems.SeveralPaths(written.span, option))
            if statement.verb == "hide" or (statement.verb == "write" and option == "identity"):
                self._reporter.add(problems.HiddenPlace(written.span, statement.verb, option))

    def _tmp(self, statement: tree.TmpStatement, origin: Origin) -> list[Entry[Shown]]:
        path = self._params.path(statement.path)
        size = self._amount("size", statement.size, "a size, like `512MiB`", "size")
        inodes = self._amount("inodes", statement.inodes, "a number", "integer")
        if path is None:
            return []
        return [Entry((("place", path),), origin, Tmp(path, size, inodes, origin, statement.noexec))]

    def _amount(
        self, what: str, written: "tree.Size | tree.Number | tree.ParamRef | None", wanted: str, kind: ParamType
    ) -> int | ParamValue | None:
        if written is None:
            return None
        if isinstance(written, tree.ParamRef):
            value = self._params.typed(written, kind)
            if value is not None and self._params.default_of(value.name) == 0:
                self._reporter.add(problems.TmpBudget(written.span, what))
            return value
        if isinstance(written, tree.Number) and kind == "size":
            self._reporter.add(ValueKind(written.span, what, wanted))
        elif written.value == 0:
            self._reporter.add(problems.TmpBudget(written.span, what))
        return written.value


S = TypeVar("S", RootKind, DevicesKind, StartIn)


def _with_default(stated: tuple[S, ...], default: Callable[[System | None], S]) -> tuple[S, ...]:
    """Add the contract's default for the systems that no statement is for."""
    left = BOTH.difference(*(systems_of(one.origin.on) for one in stated))
    return (*stated, default(on_of(left))) if left else stated


def _default_root(on: System | None) -> RootKind:
    return RootKind("private", Origin("files", "no `root` statement", on=on))


def _default_devices(on: System | None) -> DevicesKind:
    return DevicesKind("minimal", Origin("files", "no `devices` statement", on=on))


def _default_start(on: System | None) -> StartIn:
    return StartIn(None, Origin("files", "no `start-in` statement", on=on))
