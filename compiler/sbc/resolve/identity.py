"""The `identity` block: ids and the host name."""

import re
from typing import cast

from sbc.diagnostics.catalogue import blocks as problems
from sbc.diagnostics.diagnostic import Reporter
from sbc.policy.policy import Override
from sbc.policy.process import IdentityKey, IdentityValue, IdRange
from sbc.policy.values import ParamValue
from sbc.resolve.chain import Level
from sbc.resolve.inherit import Entry, inherited, refuse_repeats
from sbc.resolve.origins import origin_of
from sbc.resolve.params import Params
from sbc.resolve.systems import opened
from sbc.syntax import tree

_MAX_ID = 0xFFFFFFFE
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOSTNAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_MAX_HOSTNAME = 64
"""`__NEW_UTS_LEN` (`include/uapi/linux/utsname.h`)."""


def lower_identity(
    levels: list[Level], params: Params, overrides: list[Override], reporter: Reporter
) -> tuple[IdentityValue, ...]:
    """Give the policy of the `identity` blocks of a chain."""
    written = [level.blocks["identity"] for level in levels if "identity" in level.blocks]
    stated = [_read(block, params, reporter) for block in written]
    return tuple(entry.value for entry in inherited(stated, overrides))


def _read(block: tree.Block, params: Params, reporter: Reporter) -> list[Entry[IdentityValue]]:
    found: list[Entry[IdentityValue]] = []
    for one, on in opened(block.body or (), reporter):
        statement = cast("tree.ValueStatement", one)
        key = cast("IdentityKey", statement.key.text)
        value = _hostname(statement, params, reporter) if key == "hostname" else _id(statement, reporter)
        if value is not None:
            origin = origin_of("identity", statement, on)
            found.append(Entry((f"`{key}`",), origin, IdentityValue(key, value, origin)))
    refuse_repeats(found, reporter)
    return found


def _hostname(statement: tree.ValueStatement, params: Params, reporter: Reporter) -> str | ParamValue | None:
    value = statement.value
    if isinstance(value, tree.ParamRef):
        given = params.typed(value, "text")
        default = params.default_of(given.name) if given else None
        if isinstance(default, str) and not _is_hostname(default):
            reporter.add(problems.HostNameValue(value.span, default))
        return given
    if not isinstance(value, tree.Text):
        reporter.add(problems.ValueKind(value.span, "hostname", 'a string, like `"sandbox"`'))
        return None
    if not _is_hostname(value.value):
        reporter.add(problems.HostNameValue(value.span, value.value))
    return value.value


def _is_hostname(name: str) -> bool:
    return len(name) <= _MAX_HOSTNAME and _HOSTNAME.fullmatch(name) is not None


def _id(statement: tree.ValueStatement, reporter: Reporter) -> int | IdRange | None:
    key, value = statement.key.text, statement.value
    if isinstance(value, tree.Number):
        if not 0 <= value.value <= _MAX_ID:
            reporter.add(problems.IdRangeWrong(value.span, value.text))
        return value.value
    if isinstance(value, tree.Range) and key == "host-user":
        first, last = (cast("tree.Number", end.terms[0]).value for end in (value.low, value.high))
        if not 0 <= first <= last <= _MAX_ID:
            reporter.add(problems.IdRangeWrong(value.span, value.span.text))
        return IdRange(first, last)
    wanted = "a number or a range, like `60000..60099`" if key == "host-user" else "a number"
    reporter.add(problems.ValueKind(value.span, key, wanted))
    return None
