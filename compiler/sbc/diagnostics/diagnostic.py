"""What a diagnostic is, and how the stages collect them."""

from enum import Enum
from typing import ClassVar

from sbc.diagnostics.span import Span
from sbc.diagnostics.suggest import Suggestions
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


MAX_TOLD = 100
"""So many errors of a file are told in full, and so many lints, and so many notes."""


class Reporter:
    """Collects diagnostics, so that a stage tells all its errors at once."""

    def __init__(self) -> None:
        self._seen: dict[Diagnostic, None] = {}
        self._failed = False
        self.closest = Suggestions()
        """What a mistyped word was meant to be, for the first of them."""

    def add(self, diagnostic: Diagnostic) -> None:
        """Record a diagnostic; the same one twice is told once."""
        self._seen[diagnostic] = None
        self._failed = self._failed or diagnostic.severity is Severity.ERROR

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Everything recorded so far, in order; of a kind that one file has very much of, the first and a count."""
        if len(self._seen) <= MAX_TOLD:
            return tuple(self._seen)
        from sbc.diagnostics.catalogue.many import many_more  # noqa: PLC0415 (the catalogue is made of diagnostics)

        told: list[Diagnostic] = []
        counts: dict[tuple[str, Severity], int] = {}
        for diagnostic in self._seen:
            if diagnostic.span is not None:
                key = diagnostic.span.source.name, diagnostic.severity
                counts[key] = counts.get(key, 0) + 1
                if counts[key] > MAX_TOLD:
                    continue
            told.append(diagnostic)
        more = ((*key, count - MAX_TOLD) for key, count in counts.items() if count > MAX_TOLD)
        return (*told, *(many_more(file, severity, MAX_TOLD, count) for file, severity, count in more))

    @property
    def failed(self) -> bool:
        """Whether an error was recorded."""
        return self._failed

    def end_stage(self) -> None:
        """Raise `Failed` with everything recorded where an error is among it."""
        if self._failed:
            raise Failed(self.diagnostics)
