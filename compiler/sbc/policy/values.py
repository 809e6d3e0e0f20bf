"""Values that are known only when the sandbox starts, and paths that may begin with one."""

from typing import Literal

from sbc.record import Record

ParamType = Literal["dir", "file", "path", "text", "size", "duration", "integer"]

BUILT_IN = ("home", "tmpdir", "cwd")
"""Parameters that every profile has; the loader fills them in."""


class ParamValue(Record):
    """The value of the parameter `name`, filled in by the loader as a whole value, never spliced into text."""

    name: str


class Param(Record):
    """A declared parameter. Sizes are bytes, durations milliseconds; a path default is an absolute spelled path."""

    name: str
    type: ParamType
    default: "int | str | None" = None
    reason: str = ""


class PathValue(Record):
    """A path: `base` names the parameter that it begins with (None: absolute), `rest` what follows.

    `rest` is normalised: it is empty or starts with `/`, with no trailing slash, `//`, `.`, `..` or NUL; with no
    base it is never empty (the root is `/`). `~` is the base `home`.
    """

    base: str | None
    rest: str

    def __str__(self) -> str:
        return f"${{{self.base}}}{self.rest}" if self.base else self.rest

    @property
    def parts(self) -> tuple[str, ...]:
        """The components after the base."""
        return tuple(part for part in self.rest.split("/") if part)

    @property
    def depth(self) -> tuple[int, int]:
        """The sort key of the compiler's order: a path that starts with a parameter is deeper than any literal one."""
        return (1 if self.base else 0, len(self.parts))

    def covers(self, other: "PathValue") -> bool:
        """Tell whether `other` is this path or below it, as far as spelled paths tell."""
        return self.base == other.base and other.parts[: len(self.parts)] == self.parts


Size = int | ParamValue
"""Bytes."""

Duration = int | ParamValue
"""Milliseconds."""

Count = int | ParamValue
