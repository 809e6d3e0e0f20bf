"""What no statement may show, replace or open on Linux: the host's processes, devices and sysfs.

The sandbox has a /proc and a /dev of its own. The host's must not be seen under any name: processes outside would be
within reach, and entries such as `/proc/sys/kernel/core_pattern` act on the whole machine. So a path of the host at or
below /proc or /dev is refused, a place of the sandbox there is, and `/`, which holds both, keeps its name. The host's
sysfs may be read, never written. What parameters and links lead to is for the loader, by the same rules.
"""

from collections.abc import Callable, Iterable, Iterator

from sbc.diagnostics.catalogue import files as problems
from sbc.diagnostics.diagnostic import Diagnostic, Reporter
from sbc.policy.filesystem import PathRule, Tmp
from sbc.policy.network import LocalPort, Network
from sbc.policy.origin import Origin
from sbc.policy.values import PathValue

ROOT = PathValue(None, "/")
PROC = PathValue(None, "/proc")
DEV = PathValue(None, "/dev")
SYS = PathValue(None, "/sys")

DefaultOf = Callable[[str], "int | str | None"]
"""Gives the default of a declared parameter."""


def refuse_reserved(rules: Iterable[PathRule], tmps: Iterable[Tmp], default_of: DefaultOf, reporter: Reporter) -> None:
    """Tell the statements that would show, replace or open what is reserved."""
    told: dict[Diagnostic, None] = {}
    for rule in rules:
        told.update(dict.fromkeys(_of_rule(rule, default_of)))
    for tmp in tmps:
        if tmp.origin.on != "macos":
            told.update(dict.fromkeys(_of_place(_known(tmp.path, default_of), tmp.origin)))
    for one in told:
        reporter.add(one)


def refuse_reserved_sockets(network: Network, reporter: Reporter) -> None:
    """Tell the sockets of the network list that would be shown inside /proc."""
    for one in network.allowances:
        if not isinstance(one, LocalPort) and one.origin.on != "macos" and PROC.covers(one.path):
            reporter.add(problems.HostFolder(one.origin.span, str(one.path), "/proc", ""))


def sysfs_rules(rules: Iterable[PathRule]) -> Iterator[PathRule]:
    """Give the rule that keeps /sys read-only where all of the host is writable."""
    on_linux = [rule for rule in rules if rule.origin.on != "macos"]
    if any(rule.path == SYS for rule in on_linux):
        return
    for rule in on_linux:
        if rule.path == ROOT and rule.access == "write":
            text = f"/sys stays read-only (`{rule.origin.text}`)"
            yield PathRule("read", SYS, Origin("files", text, rule.origin.span, on="linux"), optional=True)


def _of_rule(rule: PathRule, default_of: DefaultOf) -> Iterator[Diagnostic]:
    span = rule.origin.span
    if rule.access == "hide" and rule.path == ROOT:
        yield problems.HiddenRoot(span)
    if rule.origin.on == "macos":
        return
    path = _known(rule.path, default_of)
    if PROC.covers(path):
        hint = "/".join(path.parts[1:]) if rule.access == "hide" else ""
        yield problems.HostFolder(span, str(rule.path), "/proc", hint)
    elif DEV.covers(path) and (rule.access != "hide" or path == DEV):
        yield problems.HostFolder(span, str(rule.path), "/dev", "")
    elif rule.place is not None:
        yield from _of_place(rule.place, rule.origin)
    if SYS.covers(path) and rule.access == "write":
        yield problems.WritableSysfs(span, str(rule.path))
    if path == ROOT and rule.seen_as not in (ROOT, rule.path):
        yield problems.MovedRoot(span, str(rule.seen_as))


def _of_place(place: PathValue, origin: Origin) -> Iterator[Diagnostic]:
    for folder in (PROC, DEV):
        if folder.covers(place):
            yield problems.OwnFolder(origin.span, str(place), str(folder))


def _known(path: PathValue, default_of: DefaultOf) -> PathValue:
    """Give a path with the default of the parameter that it begins with, where it has one."""
    default = None if path.base is None else default_of(path.base)
    if not isinstance(default, str):
        return path
    return PathValue(None, "/" + "/".join(part for part in (default + path.rest).split("/") if part))
