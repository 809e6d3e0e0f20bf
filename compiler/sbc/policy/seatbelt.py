"""The `seatbelt` block: SBPL rules that no other block derives, in SBPL's own names."""

from typing import Literal

from sbc.policy.origin import Origin
from sbc.record import Record


class SbplFilter(Record):
    """A filter: its name, its literal arguments (words and strings kept apart), and the filters inside it.

    `require-all`, `require-any` and `require-not` hold `inner` filters; others hold `arguments`.
    """

    name: str
    arguments: "tuple[SbplWord | SbplString | int, ...]" = ()
    inner: "tuple[SbplFilter, ...]" = ()


class SbplWord(Record):
    """A bare word of SBPL (`ip`, `SYMLINK`)."""

    text: str


class SbplString(Record):
    """A string of SBPL, unquoted."""

    value: str


class SbplRule(Record):
    """`allow` or `deny` of some operations where any of the filters matches; no filter: a bare rule."""

    action: Literal["allow", "deny"]
    operations: tuple[str, ...]
    filters: tuple[SbplFilter, ...]
    origin: Origin


class SbplImport(Record):
    """`(import "name")`."""

    path: str
    origin: Origin


class SbplDefault(Record):
    """`(allow default)` or `(deny default)`."""

    action: Literal["allow", "deny"]
    origin: Origin


class Seatbelt(Record):
    """The block: what the file says, in its order; `default` is the contract's deny where it says nothing."""

    default: SbplDefault
    statements: tuple[SbplRule | SbplImport, ...]
    origin: Origin
