"""Regular expressions."""

from collections.abc import Iterator

from sbc.analysis.sbpl.branches import bare_dots, branches
from sbc.analysis.sbpl.subject import Subject
from sbc.diagnostics.catalogue.sbpl_filters import SbplRegexNotAnchored, SbplRegexNotSafe, SbplRegexOpenDot
from sbc.seatbelt.patterns import Regex

_ANCHORED = ("^", "(^", ".*")
"""How an alternative begins that says where a match may begin."""


def unsafe(subject: Subject) -> Iterator[SbplRegexNotSafe]:
    """Report expressions that match nothing, or of which nobody knows what they match.

    Reference: "Regular expressions": the list of what is safe; `(?:...)` never matches, silently.
    """
    for written in subject.patterns():
        if isinstance(written.pattern, Regex) and (written.pattern.never or written.pattern.open):
            why = written.pattern.open
            yield SbplRegexNotSafe(written.at, None if why is None else why.why)


def unanchored(subject: Subject) -> Iterator[SbplRegexNotAnchored]:
    """Report alternatives of an allow's expression that may match in the middle of a name.

    Reference: "Regular expressions": it is a search, so anchor it. In a deny it is usual, and closes more, not less.
    """
    for written in subject.patterns():
        pattern = written.pattern
        if not isinstance(pattern, Regex) or written.rule.action == "deny" or pattern.never or pattern.open:
            continue
        loose = next((one for one in branches(pattern.pattern) if not one.startswith(_ANCHORED)), None)
        if loose is not None:
            yield SbplRegexNotAnchored(written.at, loose, "|" in pattern.pattern and loose != pattern.pattern)


def dots(subject: Subject) -> Iterator[SbplRegexOpenDot]:
    r"""Report a `.` within a name: it matches any character.

    Reference: "Regular expressions": `.` is to be quoted, as in `\.git`.
    """
    for written in subject.patterns():
        pattern = written.pattern
        if isinstance(pattern, Regex):
            quoted = bare_dots(pattern.pattern)
            if quoted != pattern.pattern:
                yield SbplRegexOpenDot(written.at, pattern.pattern, quoted)
