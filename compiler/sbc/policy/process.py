"""The `environment`, `identity` and `limits` blocks: what the runtime sets up for the process."""

from typing import Literal

from sbc.policy.origin import Origin
from sbc.policy.values import ParamValue
from sbc.record import Record


class Pattern(Record):
    """A pattern on variable names: `*` stands for any run of characters; `drop` ignores case."""

    verb: Literal["keep", "drop"]
    pattern: str
    origin: Origin


class SetVariable(Record):
    """Gives a variable a value; wins over `keep` and `drop`."""

    name: str
    value: str | ParamValue
    origin: Origin


class Environment(Record):
    """Empty, then `keep`, then `drop`, then `set`."""

    patterns: tuple[Pattern, ...] = ()
    variables: tuple[SetVariable, ...] = ()


class IdRange(Record):
    """Host ids `first..last`, both ends in: one for each concurrent run."""

    first: int
    last: int


IdentityKey = Literal["user", "group", "host-user", "host-group", "hostname"]


class IdentityValue(Record):
    """One id, range of ids (`host-user` only) or the host name."""

    key: IdentityKey
    value: int | IdRange | str | ParamValue
    origin: Origin


LimitKey = Literal["wall", "cpu", "memory", "processes", "open-files", "file-size", "output", "core-size"]


class Limit(Record):
    """One limit: `wall` and `cpu` in milliseconds, sizes in bytes, counts as they are."""

    key: LimitKey
    value: int | ParamValue
    origin: Origin
