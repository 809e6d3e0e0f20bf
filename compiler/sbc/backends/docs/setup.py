"""The sections about what is set up around the process: paths, network, environment, identity, limits."""

from sbc.backends.docs import units
from sbc.backends.docs.blocks import (
    Block,
    Bullets,
    Code,
    Inline,
    Paragraph,
    Section,
    Text,
    code,
    codes,
    joined,
    plain,
    reason,
    table,
    why,
)
from sbc.policy.filesystem import DevicesKind, PathRule, ProcRule, RootKind, StartIn, Tmp
from sbc.policy.network import LocalPort
from sbc.policy.origin import Origin
from sbc.policy.policy import Policy
from sbc.policy.process import IdRange, Limit
from sbc.policy.values import ParamValue

_ROOTS = {
    "private": "private: only what is listed exists",
    "host": "the host's tree, read-only unless listed",
}
_DEVICES = {
    "none": "none",
    "minimal": "null, zero, full, random, urandom and a private shm",
    "standard": "null, zero, full, random, urandom, tty, a private shm and private pseudo-terminals",
    "host": "the host's",
}
_SYSTEMS = {"linux": "Linux", "macos": "macOS"}
_NETWORKS = {
    "none": "None: nothing leaves the sandbox.",
    "host": "The host's network.",
}
_LIMITS = {
    "wall": ("time", "by the clock"),
    "cpu": ("time", "of processor"),
    "memory": ("size", "resident memory of all its processes"),
    "processes": ("count", "tasks at once"),
    "open-files": ("count", "open files of each process"),
    "file-size": ("size", "each file written"),
    "output": ("size", "of each output stream"),
    "core-size": ("size", "each core dump"),
}


def files(policy: Policy) -> Section:
    """Tell which paths may be used for what."""
    block = policy.files
    facts: list[Inline] = []
    for one in (*block.roots, *block.devices, *block.start_in):
        facts.append((*_fact(one), *_on(one.origin), Text("."), *reason(one.origin)))
    rows = [_path_row(rule) for rule in block.rules] + [_tmp_row(tmp) for tmp in block.tmps]
    reasons = [why(one.origin) for one in (*block.rules, *block.tmps)]
    blocks: list[Block] = []
    if facts:
        blocks.append(Bullets(tuple(facts)))
    if rows:
        blocks.append(table(("Path", "Access", "Options", "System"), rows, reasons))
    return Section("files", "Files", tuple(blocks))


def _fact(one: RootKind | DevicesKind | StartIn) -> Inline:
    match one:
        case RootKind():
            return plain(f"The root is {_ROOTS[one.kind]}")
        case DevicesKind():
            return plain(f"Devices: {_DEVICES[one.kind]}")
        case StartIn(path=None):
            return plain(
                "The command starts in the caller's folder where that is visible, else in the first written one"
            )
        case StartIn(path=path):
            return Text("The command starts in "), Code(str(path))


def _path_row(rule: PathRule) -> tuple[Inline, ...]:
    options: list[Inline] = []
    if rule.place is not None:
        options.append((Text("seen as "), Code(str(rule.place))))
    if rule.optional:
        options.append(plain("skipped when missing"))
    if rule.noexec:
        options.append(plain("nothing executable"))
    if rule.identity is not None:
        options.append((Text("identity "), Code(rule.identity)))
    return (
        code(str(rule.path)),
        plain(rule.access),
        joined(options),
        _system(rule.origin),
    )


def _tmp_row(tmp: Tmp) -> tuple[Inline, ...]:
    options: list[Inline] = []
    if tmp.size is not None:
        options.append((Text("at most "), *_amount(tmp.size, "size")))
    if tmp.inodes is not None:
        options.append((*_amount(tmp.inodes, "count"), Text(" inodes")))
    if tmp.noexec:
        options.append(plain("nothing executable"))
    return (
        code(str(tmp.path)),
        plain("private, empty"),
        joined(options),
        _system(tmp.origin),
    )


def proc(policy: Policy) -> Section:
    """Tell which entries of /proc are protected, where the running kernel has them."""
    found: dict[tuple[str, Origin], list[str]] = {}
    for rule in policy.proc:
        found.setdefault((rule.access, rule.origin), []).append(_entry(rule))
    words = {"read-only": "Read-only: ", "hide": "Hidden: "}
    items = tuple(
        (Text(words[access]), *codes(entries), *_on(origin), Text("."), *reason(origin))
        for (access, origin), entries in found.items()
    )
    return Section("proc", "Masked paths of /proc", (Bullets(items),) if items else ())


def _entry(rule: ProcRule) -> str:
    return f"/proc/{rule.entry}"


def network(policy: Policy) -> Section:
    """Tell what may be reached."""
    block = policy.network
    first: Inline = (*plain(_NETWORKS[block.mode]), *reason(block.origin))
    if block.listed:
        first = (*first, Text(" Only this is allowed:" if block.mode == "host" else " But this is allowed:"))
    items: list[Inline] = []
    for one in block.allowances:
        if isinstance(one, LocalPort):
            said: Inline = (Text(f"{one.verb} "), Code(f"localhost:{one.port or '*'}"))
        else:
            said = (Text("connect to the socket "), Code(str(one.path)))
        items.append((*said, *_on(one.origin), *reason(one.origin)))
    return Section("network", "Network", (Paragraph(first), *([Bullets(tuple(items))] if items else [])))


def environment(policy: Policy) -> Section:
    """Tell which variables the command gets."""
    block = policy.environment
    items: list[Inline] = []
    for verb, said in (("keep", "Kept: "), ("drop", "Dropped, in any case of letters, also where kept: ")):
        found: dict[Origin, list[str]] = {}
        for pattern in block.patterns:
            if pattern.verb == verb:
                found.setdefault(pattern.origin, []).append(pattern.pattern)
        items += [
            (Text(said), *codes(patterns), *_on(origin), Text("."), *reason(origin))
            for origin, patterns in found.items()
        ]
    for one in block.variables:
        value = _amount(one.value, "text")
        items.append(
            (
                Text("Set "),
                Code(one.name),
                Text(" to "),
                *value,
                *_on(one.origin),
                Text("."),
                *reason(one.origin),
            )
        )
    if not items:
        items.append(plain("Empty."))
    return Section("environment", "Environment", (Bullets(tuple(items)),))


def identity(policy: Policy) -> Section:
    """Tell who the command runs as."""
    rows: list[tuple[Inline, ...]] = []
    for one in policy.identity:
        value: Inline
        if isinstance(one.value, IdRange):
            value = plain(f"{one.value.first} to {one.value.last}, one for each run")
        else:
            value = _amount(one.value, "text" if isinstance(one.value, str) else "count")
        rows.append((plain(one.key), (*value, *_on(one.origin))))
    if not rows:
        said = plain("The caller's ids; 65534 where root calls.")
        return Section("identity", "Identity", (Paragraph(said),))
    return Section(
        "identity", "Identity", (table(("Name", "Value"), rows, [why(one.origin) for one in policy.identity]),)
    )


def limits(policy: Policy) -> Section:
    """Tell the limits in the units that people use."""
    rows = [_limit_row(limit) for limit in policy.limits]
    made = table(("Limit", "Value", "Of what"), rows, [why(limit.origin) for limit in policy.limits])
    return Section("limits", "Limits", (made,) if rows else ())


def containment(policy: Policy) -> Section:
    """Tell whether a sandbox is required."""
    origin = policy.containment
    said = "Required: nothing is run where no sandbox can be made, and no option or variable switches it off."
    blocks = () if origin is None else (Paragraph((*plain(said), *reason(origin))),)
    return Section("containment", "Containment", blocks)


def _limit_row(limit: Limit) -> tuple[Inline, ...]:
    kind, what = _LIMITS[limit.key]
    value = (*_amount(limit.value, kind), *_on(limit.origin))
    return plain(limit.key), value, plain(what)


def _amount(value: int | str | ParamValue, kind: str) -> Inline:
    if isinstance(value, ParamValue):
        return code(f"${{{value.name}}}")
    if isinstance(value, str):
        return code(value) if value else plain("nothing")
    units_of = {"size": units.size, "time": units.duration}.get(kind, str)
    return plain(units_of(value))


def _system(origin: Origin) -> Inline:
    """Name the only system that a statement is for; empty: it is for all."""
    return () if origin.on is None else plain(f"{_SYSTEMS[origin.on]} only")


def _on(origin: Origin) -> Inline:
    return () if origin.on is None else (Text(f" (on {_SYSTEMS[origin.on]})"),)
