"""The `proc` block: entries of the sandbox's own /proc that are protected."""

import re
from typing import cast

from sbc.diagnostics.catalogue import files as problems
from sbc.diagnostics.catalogue.blocks import NothingNamed, StatedAgain
from sbc.diagnostics.diagnostic import Reporter
from sbc.policy.filesystem import ProcRule
from sbc.policy.origin import Origin
from sbc.policy.policy import Override
from sbc.resolve.chain import Level
from sbc.resolve.groups import Content, Groups
from sbc.resolve.inherit import Entry, inherited
from sbc.resolve.modules import Module
from sbc.resolve.origins import origin_of
from sbc.resolve.spelled import rest_of
from sbc.resolve.systems import opened, systems_of
from sbc.syntax import tree

_PROCESS = re.compile(r"(?:[0-9]+|self|thread-self)(?:/|$)")
"""What belongs to one process: it comes and goes."""

READ_ONLY = ("bus", "fs", "irq", "sys", "sysrq-trigger")
HIDDEN = (
    *("acpi", "asound", "kcore", "keys", "kmsg", "latency_stats", "sched_debug", "scsi", "timer_list"),
    "timer_stats",
)
"""What a profile without a `proc` block gets: the masks of the container engines."""


def lower_proc(
    levels: list[Level], groups: Groups, overrides: list[Override], reporter: Reporter
) -> tuple[ProcRule, ...]:
    """Give the policy of the `proc` blocks of a chain."""
    written = [(level.module, level.blocks["proc"]) for level in levels if "proc" in level.blocks]
    if not written:
        origin = Origin("proc", "no `proc` block")
        read_only = [ProcRule("read-only", entry, origin) for entry in READ_ONLY]
        return (*read_only, *(ProcRule("hide", entry, origin) for entry in HIDDEN))
    stated = [_read(module, block, groups, reporter) for module, block in written]
    return tuple(entry.value for entry in inherited(stated, overrides))


def _read(module: Module, block: tree.Block, groups: Groups, reporter: Reporter) -> list[Entry[ProcRule]]:
    found: list[Entry[ProcRule]] = []
    by_entry: dict[str, list[ProcRule]] = {}
    for one, on in opened(block.body or (), reporter):
        statement = cast("tree.ProcStatement", one)
        origin = origin_of("proc", statement, on)
        for name in _names(statement, module, groups, reporter):
            rule = ProcRule(statement.verb, name, origin)
            if not _repeated(rule, by_entry.setdefault(name, []), reporter):
                found.append(Entry((name,), origin, rule))
                by_entry[name].append(rule)
    return found


def _names(statement: tree.ProcStatement, module: Module, groups: Groups, reporter: Reporter) -> list[str]:
    found: list[str] = []
    told = False
    for entry in statement.entries:
        if isinstance(entry, tree.Word):
            if _PROCESS.match(entry.text):
                reporter.add(problems.ProcPath(entry.span, entry.text))
                told = True
            else:
                found.append(entry.text)
            continue
        content = Content("paths", (entry,)) if isinstance(entry, tree.Path) else groups.content(module, entry, "paths")
        told = told or content.told
        for path in (one for one in content.members if isinstance(one, tree.Path)):
            name = _below_proc(path, reporter)
            if name is not None:
                found.append(name)
            else:
                reporter.add(problems.ProcPath(entry.span, path.span.text))
                told = True
    if not found and not told:
        reporter.add(NothingNamed(statement.span))
    return found


def _below_proc(path: tree.Path, reporter: Reporter) -> str | None:
    if path.base is not None:
        return None
    rest = rest_of(path.rest, path.span, reporter)
    if rest is None or not rest.startswith("/proc/"):
        return None
    name = rest.removeprefix("/proc/")
    return None if _PROCESS.match(name) else name


def _repeated(rule: ProcRule, earlier: list[ProcRule], reporter: Reporter) -> bool:
    for other in earlier:
        first = other.origin.span
        if first is not None and systems_of(rule.origin.on) & systems_of(other.origin.on):
            if rule.access != other.access:
                reporter.add(problems.ProcConflict(rule.origin.span, rule.entry, first))
            else:
                reporter.add(StatedAgain(rule.origin.span, f"`/proc/{rule.entry}`", first))
            return True
    return False
