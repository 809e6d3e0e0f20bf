"""Policies made by hand, as the front end would make them."""

from typing import Literal

from sbc.diagnostics.span import Source, Span
from sbc.policy.conditions import ALWAYS, Condition
from sbc.policy.filesystem import Access, Devices, DevicesKind, Files, PathRule, ProcRule, RootKind, StartIn, Tmp
from sbc.policy.network import LocalPort, Network, UnixSocket
from sbc.policy.origin import Block, Origin, System
from sbc.policy.policy import Policy
from sbc.policy.process import Environment, IdentityKey, IdentityValue, Limit
from sbc.policy.seatbelt import SbplDefault, SbplFilter, SbplImport, SbplRule, SbplString, SbplWord, Seatbelt
from sbc.policy.syscalls import AbiRules, FilterPolicy, Rule, Syscalls
from sbc.policy.values import Count, Param, ParamValue, PathValue, Size
from sbc_runtime.action import ALLOW, KILL_PROCESS, Verdict
from sbc_runtime.arch import ARCHES


def origin(block: Block, text: str, on: System | None = None) -> Origin:
    source = Source("test.sbx", text)
    return Origin(block, text, Span(source, 0, len(text)), on=on)


def path(text: str) -> PathValue:
    """Read `/a/b`, `~/a` or `${name}/a`."""
    if text.startswith("~"):
        return PathValue("home", text[1:])
    if text.startswith("${"):
        base, _, rest = text[2:].partition("}")
        return PathValue(base, rest)
    return PathValue(None, text)


def rule(
    access: Access,
    where: str,
    place: str | None = None,
    on: System | None = None,
    *,
    optional: bool = False,
    noexec: bool = False,
) -> PathRule:
    text = f"{access} {where}" + (f" as {place}" if place else "") + (" optional" if optional else "")
    moved = path(place) if place else None
    return PathRule(access, path(where), origin("files", text, on), moved, optional, noexec)


def read(where: str, place: str | None = None, on: System | None = None, *, optional: bool = False) -> PathRule:
    return rule("read", where, place, on, optional=optional)


def write(where: str, place: str | None = None, on: System | None = None) -> PathRule:
    return rule("write", where, place, on)


def hide(where: str, on: System | None = None, *, optional: bool = False) -> PathRule:
    return rule("hide", where, None, on, optional=optional)


def tmp(where: str, size: Size | None = None, inodes: Count | None = None, on: System | None = None) -> Tmp:
    return Tmp(path(where), size, inodes, origin("files", f"tmp {where}", on))


def files(
    *rules: PathRule,
    root: Literal["private", "host"] = "host",
    tmps: tuple[Tmp, ...] = (),
    devices: Devices | None = "minimal",
    start_in: str | None = None,
) -> Files:
    kind = (DevicesKind(devices, origin("files", f"devices {devices}")),) if devices else ()
    start = (StartIn(path(start_in), origin("files", f"start-in {start_in}")),) if start_in else ()
    return Files((RootKind(root, origin("files", f"root {root}")),), rules, tmps, kind, start, origin("files", "files"))


def network(
    mode: Literal["none", "host"] = "none", *allowances: LocalPort | UnixSocket, listed: bool = False
) -> Network:
    return Network(mode, allowances, origin("network", f"network {mode}"), listed or bool(allowances))


def connect(port: int | None) -> LocalPort:
    return LocalPort("connect", port, origin("network", f"connect localhost:{port or '*'}"))


def bind(port: int | None) -> LocalPort:
    return LocalPort("bind", port, origin("network", f"bind localhost:{port or '*'}"))


def unix(where: str) -> UnixSocket:
    return UnixSocket(path(where), origin("network", f"unix {where}"))


def where(name: str, *arguments: str | int | SbplWord, inner: tuple[SbplFilter, ...] = ()) -> SbplFilter:
    """Make a filter of the `seatbelt` block; `str` stands for a string."""
    return SbplFilter(name, tuple(SbplString(a) if isinstance(a, str) else a for a in arguments), inner)


def sbpl(action: Literal["allow", "deny"], operations: str, *filters: SbplFilter) -> SbplRule:
    text = " ".join([action, operations, *(f.name for f in filters)])
    return SbplRule(action, tuple(operations.split()), filters, origin("seatbelt", text))


def imported(name: str) -> SbplImport:
    return SbplImport(name, origin("seatbelt", f"import {name}"))


def seatbelt(default: Literal["allow", "deny"] | None = None, *statements: SbplRule | SbplImport) -> Seatbelt:
    said = origin("seatbelt", f"default {default}") if default else Origin("seatbelt", "no seatbelt block")
    return Seatbelt(SbplDefault(default or "deny", said), statements, said)


def identified(key: IdentityKey, value: int | str | ParamValue) -> IdentityValue:
    return IdentityValue(key, value, origin("identity", f"{key} {value}"))


def no_filter() -> Syscalls:
    return Syscalls((), origin("syscalls", "syscalls none"))


def filtered(
    *rules: tuple[int, str, Verdict] | tuple[int, str, Verdict, Condition], default: Verdict = ALLOW
) -> Syscalls:
    """Make a filter for x86-64 of (number, call, verdict[, condition])."""
    made = tuple(
        Rule(number, call, verdict, origin("syscalls", f"{verdict.action.word} {call}"), (*rest, ALWAYS)[0])
        for number, call, verdict, *rest in rules
    )
    said = origin("syscalls", f"default {default.action.word}")
    abi = AbiRules(ARCHES["x86_64"], made, default, said)
    return Syscalls((FilterPolicy((abi,), KILL_PROCESS, said),), origin("syscalls", "syscalls"))


def policy(
    made: Files | None = None,
    net: Network | None = None,
    *,
    name: str = "test",
    params: tuple[Param, ...] = (),
    syscalls: Syscalls | None = None,
    proc: tuple[ProcRule, ...] = (),
    environment: Environment | None = None,
    identity: tuple[IdentityValue, ...] = (),
    limits: tuple[Limit, ...] = (),
    block: Seatbelt | None = None,
) -> Policy:
    """Make a policy; what is not given is the contract's default. Every statement is listed, by its block."""
    made = made or files()
    net = net or network()
    block = block or seatbelt()
    calls = syscalls or filtered()
    environment = environment or Environment()
    listed = [calls.origin]
    listed += [one.origin for part in (made.roots, made.rules, made.tmps, made.devices, made.start_in) for one in part]
    listed += [one.origin for one in proc]
    listed += [net.origin, *(one.origin for one in net.allowances)]
    listed += [one.origin for one in (*environment.patterns, *environment.variables)]
    listed += [one.origin for one in (*identity, *limits)]
    listed += [block.default.origin, *(one.origin for one in block.statements)]
    return Policy(name, "", params, calls, made, proc, net, environment, identity, limits, block, (), (), tuple(listed))


TMP = "/tmp"
WORKTREE = Param("worktree", "dir")
WORKDIR = Param("workdir", "dir")


def gate() -> Policy:
    """Make what `profiles/gate.sbx` says of files and the network."""
    made = files(
        read("/"),
        write("${worktree}"),
        *(write(p, on="macos") for p in (TMP, "/private/tmp", "${tmpdir}", "/private/var/folders")),
        read("${worktree}/.git", optional=True),
        read("${worktree}/node_modules", optional=True),
        tmps=(tmp(TMP, 1 << 30, 262144, on="linux"),),
        devices="standard",
    )
    return policy(made, name="gate", params=(WORKTREE,), block=seatbelt("allow"))


def agent_check() -> Policy:
    """Make what `profiles/agent-check.sbx` says, its calls left out."""
    made = files(
        *(read(p, optional=True) for p in ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/alternatives")),
        write("${workdir}", "/work"),
        root="private",
        tmps=(tmp(TMP, 512 << 20, 65536),),
        start_in="/work",
    )
    identity = (identified("user", 1000), identified("group", 1000), identified("host-user", 65534))
    identity += (identified("hostname", "sandbox"),)
    proc = (
        *(ProcRule("read-only", entry, origin("proc", f"read-only {entry}")) for entry in ("bus", "sys", "fs")),
        *(ProcRule("hide", entry, origin("proc", f"hide {entry}")) for entry in ("kcore", "acpi", "timer_list")),
    )
    limits = (Limit("wall", 600_000, origin("limits", "wall 10min")),)
    return policy(made, name="agent-check", params=(WORKDIR,), identity=identity, proc=proc, limits=limits)
