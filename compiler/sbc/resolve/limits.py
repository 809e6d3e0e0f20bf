"""The `limits` block."""

from typing import cast

from sbc.diagnostics.catalogue import blocks as problems
from sbc.diagnostics.diagnostic import Reporter
from sbc.policy.origin import Origin
from sbc.policy.policy import Override
from sbc.policy.process import Limit, LimitKey
from sbc.policy.values import ParamType, ParamValue
from sbc.record import Record
from sbc.resolve.chain import Level
from sbc.resolve.inherit import Entry, inherited, refuse_repeats
from sbc.resolve.origins import origin_of
from sbc.resolve.params import Params
from sbc.resolve.systems import opened
from sbc.syntax import tree

_MOST = (1 << 63) - 1


class _Kind(Record):
    """One kind of limit: the node that says it, the parameters that can, and words for people."""

    node: type[tree.Size | tree.Duration | tree.Number]
    param: ParamType
    wanted: str


_TIME = _Kind(tree.Duration, "duration", "a time, like `10min`")
_BYTES = _Kind(tree.Size, "size", "a size, like `512MiB`")
_COUNT = _Kind(tree.Number, "integer", "a number")

_KINDS: dict[LimitKey, _Kind] = {
    "wall": _TIME,
    "cpu": _TIME,
    "memory": _BYTES,
    "processes": _COUNT,
    "open-files": _COUNT,
    "file-size": _BYTES,
    "output": _BYTES,
    "core-size": _BYTES,
}


def lower_limits(
    levels: list[Level], params: Params, overrides: list[Override], reporter: Reporter
) -> tuple[Limit, ...]:
    """Give the policy of the `limits` blocks of a chain; without any, no core files and no other limit."""
    written = [level.blocks["limits"] for level in levels if "limits" in level.blocks]
    if not written:
        return (Limit("core-size", 0, Origin("limits", "no `limits` block")),)
    stated = [_read(block, params, reporter) for block in written]
    return tuple(entry.value for entry in inherited(stated, overrides))


def _read(block: tree.Block, params: Params, reporter: Reporter) -> list[Entry[Limit]]:
    found: list[Entry[Limit]] = []
    for one, on in opened(block.body or (), reporter):
        statement = cast("tree.ValueStatement", one)
        key = cast("LimitKey", statement.key.text)
        value = _value(key, statement, params, reporter)
        if value is not None:
            origin = origin_of("limits", statement, on)
            found.append(Entry((f"the limit `{key}`",), origin, Limit(key, value, origin)))
    refuse_repeats(found, reporter)
    return found


def _value(
    key: LimitKey, statement: tree.ValueStatement, params: Params, reporter: Reporter
) -> int | ParamValue | None:
    kind, written = _KINDS[key], statement.value
    if isinstance(written, tree.ParamRef):
        value = params.typed(written, kind.param)
        if value is not None and params.default_of(value.name) == 0 and key != "core-size":
            reporter.add(problems.LimitZero(written.span, key))
        return value
    if key == "core-size" and isinstance(written, tree.Number) and written.value == 0:
        return 0
    if not isinstance(written, kind.node):
        reporter.add(problems.ValueKind(written.span, key, kind.wanted))
        return None
    if written.value == 0 and key != "core-size":
        reporter.add(problems.LimitZero(written.span, key))
    elif written.value > _MOST:
        reporter.add(problems.LimitRange(written.span, key))
    return written.value
