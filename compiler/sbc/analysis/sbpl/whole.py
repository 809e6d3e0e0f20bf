"""What a profile as a whole lacks, and what is worth knowing of it."""

from collections.abc import Iterator

from sbc.analysis.sbpl.samples import path
from sbc.analysis.sbpl.subject import Subject
from sbc.diagnostics.catalogue.sbpl_rules import (
    SbplLeavesSandbox,
    SbplNoDefault,
    SbplParameterNotGiven,
    SbplRootUnreadable,
)
from sbc.diagnostics.span import Span


def root_folder(subject: Subject) -> Iterator[SbplRootUnreadable]:
    """Report a profile under which no program starts.

    Reference: "Paths": the loader reads the root folder itself; where it may not, it stops.
    """
    answer = subject.ask("file-read-data", path("/"))
    if answer and answer.decision == "deny" and answer.rule is not None:
        yield SbplRootUnreadable(answer.rule.at)


def no_default(subject: Subject) -> Iterator[SbplNoDefault]:
    """Report a profile that has no rule on `default`.

    Reference: "Other traps": what macOS does without one is open.
    """
    if not subject.naming("default"):
        source = subject.loaded.sources[0]
        start = max(0, source.text.find("(version"))
        end = source.text.find(")", start) + 1
        yield SbplNoDefault(Span(source, start, max(start, end)))


def leaving(subject: Subject) -> Iterator[SbplLeavesSandbox]:
    """Note programs that run without the sandbox.

    Reference: "Forms": `no-sandbox` on process-exec means that the new program leaves the sandbox.
    """
    for rule in subject.rules:
        if rule.action == "allow" and any(one.name == "no-sandbox" for one in rule.modifiers):
            yield SbplLeavesSandbox(rule.at)


def parameters(subject: Subject) -> Iterator[SbplParameterNotGiven]:
    """Note parameters that the profile asked for and did not get.

    Reference: "Forms": `(param "X")` is then #f: rules that depend on it are not there, and were not checked.
    """
    for name, at in subject.loaded.missing.items():
        yield SbplParameterNotGiven(at, name)
