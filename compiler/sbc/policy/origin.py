"""Where in the profile a part of the policy comes from."""

from typing import Literal

from sbc.diagnostics.span import Span
from sbc.record import Record

Block = Literal[
    "syscalls", "files", "proc", "network", "environment", "identity", "limits", "process", "seatbelt", "containment"
]
"""The blocks of a profile; `process` is derived, never written."""

System = Literal["linux", "macos"]


class Origin(Record):
    """A statement of the profile.

    `text` is the statement on one line, without its reason; `reason` the `##` lines above it (empty: none).
    `span` is None for what no statement says: the contract's defaults, whose `text` then says so (`no network block`).
    `on` limits the statement to one operating system.
    """

    block: Block
    text: str
    span: Span | None = None
    reason: str = ""
    on: System | None = None

    @property
    def file(self) -> str | None:
        """The name of the file, as outputs give it."""
        return self.span.source.name if self.span else None

    @property
    def line(self) -> int | None:
        """The line, from 1."""
        return self.span.line if self.span else None

    def where(self) -> str:
        """Give `file:line`, or `default` for what no statement says."""
        return f"{self.file}:{self.line}" if self.span else "default"

    def __hash__(self) -> int:
        return hash((self.block, self.text, self.span.start if self.span else -1))
