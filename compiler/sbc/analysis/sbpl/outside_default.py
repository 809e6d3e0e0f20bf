"""Operations that `(deny default)` does not reach."""

from collections.abc import Iterator

from sbc.analysis.sbpl.subject import Subject, lineage
from sbc.diagnostics.catalogue.sbpl_rules import SbplOutsideDefault
from sbc.macos.operations import OUTSIDE_DEFAULT
from sbc.seatbelt.rules import Rule

_INFERRED = "syscall*"
"""That `default` does not reach it either was not read, only inferred: nobody is told to close it."""


def check(subject: Subject) -> Iterator[SbplOutsideDefault]:
    """Report operations that are open under a `(deny default)` because no rule without a filter closes them.

    Reference: "Which rule wins": `(deny default)` does not reach them. An allow with a filter there changes nothing:
    what it does not match is open as well.
    """
    default = subject.loaded.index.level("default").bare
    if default is None or default.action == "allow":
        return
    unclosed = [one for one in OUTSIDE_DEFAULT if one != _INFERRED and not _closed(subject, one)]
    if unclosed:
        useless = [rule.at for one in unclosed for rule in _allows(subject, one)]
        yield SbplOutsideDefault(default.at, tuple(unclosed), tuple(dict.fromkeys(useless))[:3])


def _closed(subject: Subject, operation: str) -> bool:
    """Tell whether a rule decides on an operation whatever it is about; one on `process*` perhaps does."""
    bare = (subject.loaded.index.level(one).bare for one in lineage(operation) if one != "default")
    return any(bare) or any(rule.action == "deny" for rule in subject.naming(operation))


def _allows(subject: Subject, operation: str) -> Iterator[Rule]:
    for one in (operation, *subject.below(operation)):
        yield from (rule for rule in subject.naming(one) if rule.action == "allow" and rule.filters)
