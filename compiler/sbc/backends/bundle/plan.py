"""The plan of a policy: the blocks that the runtime sets up, in the bundle's own forms."""

from collections.abc import Iterable

from sbc.policy import network, process
from sbc.policy.filesystem import PathRule
from sbc.policy.origin import Origin
from sbc.policy.policy import Policy
from sbc.policy.values import ParamValue, PathValue
from sbc_runtime import plan as forms


def statement(origin: Origin) -> forms.Statement:
    """Give a statement as a bundle holds it."""
    return forms.Statement(origin.block, origin.file, origin.line, origin.text, origin.reason)


def plan(policy: Policy) -> forms.Plan:
    """Give the plan of a policy."""
    files = policy.files
    return forms.Plan(
        roots=tuple(forms.Setting(root.kind, root.origin.on, statement(root.origin)) for root in files.roots),
        rules=tuple(_rule(rule) for rule in compile_order(files.rules)),
        tmps=tuple(
            forms.Tmp(
                _path(tmp.path),
                _amount(tmp.size),
                _amount(tmp.inodes),
                tmp.noexec,
                tmp.origin.on,
                statement(tmp.origin),
            )
            for tmp in files.tmps
        ),
        devices=tuple(forms.Setting(one.kind, one.origin.on, statement(one.origin)) for one in files.devices),
        start_in=tuple(
            forms.StartIn(one.path and _path(one.path), one.origin.on, statement(one.origin)) for one in files.start_in
        ),
        proc=tuple(
            forms.ProcRule(rule.access, rule.entry, rule.origin.on, statement(rule.origin)) for rule in policy.proc
        ),
        network=_network(policy.network),
        environment=_environment(policy.environment),
        identity=tuple(_identity(one) for one in policy.identity),
        limits=tuple(
            forms.Limit(limit.key, _value(limit.value), limit.origin.on, statement(limit.origin))
            for limit in policy.limits
        ),
        containment=_containment(policy.containment),
    )


def _containment(origin: Origin | None) -> tuple[forms.Setting, ...]:
    return () if origin is None else (forms.Setting("required", origin.on, statement(origin)),)


def compile_order(rules: Iterable[PathRule]) -> tuple[PathRule, ...]:
    """Sort rules by the depth of the path that the sandbox sees, hide, read and write together.

    Equally deep ones are sorted by spelling, so that the order of the statements does not show.
    """
    return tuple(sorted(rules, key=lambda rule: (rule.seen_as.depth, str(rule.seen_as), str(rule.path))))


def _path(path: PathValue) -> forms.Path:
    return forms.Path(path.base, path.rest)


def _value(value: int | ParamValue) -> int | forms.ParamRef:
    return forms.ParamRef(value.name) if isinstance(value, ParamValue) else value


def _amount(value: int | ParamValue | None) -> int | forms.ParamRef | None:
    return None if value is None else _value(value)


def _rule(rule: PathRule) -> forms.PathRule:
    return forms.PathRule(
        access=rule.access,
        path=_path(rule.path),
        place=None if rule.place is None else _path(rule.place),
        optional=rule.optional,
        noexec=rule.noexec,
        identity=rule.identity,
        on=rule.origin.on,
        statement=statement(rule.origin),
    )


def _network(block: network.Network) -> forms.Network:
    allowances = tuple(
        forms.Allowance(one.verb, one.port, None, one.origin.on, statement(one.origin))
        if isinstance(one, network.LocalPort)
        else forms.Allowance("unix", None, _path(one.path), one.origin.on, statement(one.origin))
        for one in block.allowances
    )
    return forms.Network(block.mode, block.listed, allowances, statement(block.origin))


def _environment(block: process.Environment) -> forms.Environment:
    return forms.Environment(
        tuple(forms.Pattern(one.verb, one.pattern, one.origin.on, statement(one.origin)) for one in block.patterns),
        tuple(
            forms.Variable(
                one.name,
                forms.ParamRef(one.value.name) if isinstance(one.value, ParamValue) else one.value,
                one.origin.on,
                statement(one.origin),
            )
            for one in block.variables
        ),
    )


def _identity(one: process.IdentityValue) -> forms.Identity:
    value: int | str | forms.IdRange | forms.ParamRef
    if isinstance(one.value, ParamValue):
        value = forms.ParamRef(one.value.name)
    elif isinstance(one.value, process.IdRange):
        value = forms.IdRange(one.value.first, one.value.last)
    else:
        value = one.value
    return forms.Identity(one.key, value, one.origin.on, statement(one.origin))
