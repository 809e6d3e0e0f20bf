"""What a diagnostic is, and how the stages collect them."""

from enum import Enum
from typing import ClassVar

from sbc.diagnostics.span import Span
from sbc.record import Record


class Severity(Enum):
    """How grave a diagnostic is: an error ends the stage (exit 2), a lint makes `check` exit 1, a note does neither."""

    ERROR = "error"
    LINT = "lint"
    NOTE = "note"


class Label(Record):
    """A range of a source with a few words about it; `text` may be empty."""

    span: Span
    text: str = ""


class Diagnostic(Record):
    """One thing to tell the author of a profile.

    Each kind is a subclass with a stable `code` (`SBX203`), fields for what varies, and methods for its words: lower
    case, backticks around what the author wrote, no full stop, never the name of a grammar terminal. The subclass's
    docstring is what `sbc explain CODE` prints: what the rule is, why, and an example that is right.
    `span` is None only where there is no text to point at (a file that cannot be read).
    """

    code: ClassVar[str] = ""
    severity: ClassVar[Severity] = Severity.ERROR

    span: Span | None

    def title(self) -> str:
        """Say what is wrong in one line."""
        raise NotImplementedError

    def label(self) -> str:
        """Give the few words that stand beside the caret; may be empty."""
        return ""

    def secondary(self) -> tuple[Label, ...]:
        """Give other places that matter, also in other files."""
        return ()

    def help(self) -> str | None:
        """Say what to do about it, where that can be said."""
        return None


class Failed(Exception):
    """A stage could not go on; carries every diagnostic that it and the stages before it made."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__("; ".join(f"{d.code}: {d.title()}" for d in diagnostics if d.severity is Severity.ERROR))
        self.diagnostics = diagnostics


class Reporter:
    """Collects diagnostics, so that a stage tells all its errors at once."""

    def __init__(self) -> None:
        self._seen: dict[Diagnostic, None] = {}

    def add(self, diagnostic: Diagnostic) -> None:
        """Record a diagnostic; the same one twice is told once."""
        self._seen[diagnostic] = None

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Everything recorded so far, in order."""
        return tuple(self._seen)

    @property
    def failed(self) -> bool:
        """Whether an error was recorded."""
        return any(d.severity is Severity.ERROR for d in self._seen)

    def end_stage(self) -> None:
        """Raise `Failed` with everything recorded where an error is among it."""
        if self.failed:
            raise Failed(self.diagnostics)
