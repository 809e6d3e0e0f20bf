"""Ways round a deny on files: moving a folder, linking, cloning, mounting."""

from collections.abc import Iterator, Sequence

from sbc.analysis.sbpl.samples import path
from sbc.analysis.sbpl.spelling import canonical
from sbc.analysis.sbpl.subject import Subject
from sbc.diagnostics.catalogue.sbpl_filters import SbplMovedAway, SbplWriteSiblings
from sbc.seatbelt.patterns import Text
from sbc.seatbelt.rules import Rule

_READING = ("file-read*", "file-read-data", "file*")
_WRITING = ("file-write*", "file-write-data", "file*")
_OPENING = frozenset({"file-write*", "file-write-create", "file*"})
_SIBLINGS = ("file-link", "file-clone", "file-mount")

MAX_PLACES = 8
"""So many writable folders are tried as where something could be moved to."""

_NOT_OURS = (
    "/System",
    "/usr",
    "/bin",
    "/sbin",
    "/dev",
    "/Library",
    "/private/etc",
    "/private/var/db",
    "/private/var/run",
)
_OWNED_BY_ROOT = (
    "/",
    "/Users",
    "/private",
    "/private/var",
    "/private/var/folders",
    "/Volumes",
    "/opt",
    "/Applications",
)


def moved(subject: Subject) -> Iterator[SbplMovedAway]:
    """Report denies of a path that can be moved, alone or with a folder above it, to where nothing is denied.

    Reference: "What follows for the emitter": a rename is file-write-unlink and file-write-create, so a protected path
    and each folder above it inside a writable area is denied for file-write-unlink. Folders that only root can move are
    left out.
    """
    places = _writable(subject)
    for written in subject.patterns():
        rule, pattern = written.rule, written.pattern
        if rule.action == "allow" or not isinstance(pattern, Text) or pattern.match not in ("literal", "subpath"):
            continue
        if (
            written.filter.fact != "path"
            or canonical(pattern.value) != pattern.value
            or written.filter not in rule.filters
        ):
            continue
        for group in (_READING, _WRITING):
            if not set(group) & set(rule.operations):
                continue
            found = _move(subject, places, rule, pattern.value, group[1])
            if found:
                yield SbplMovedAway(written.at, pattern.value, found, group is _READING)
                break


def _move(subject: Subject, places: Sequence[str], rule: Rule, denied: str, operation: str) -> str | None:
    """Give a path that can be moved, so that what is denied has another name."""
    answer = subject.ask(operation, path(denied))
    if answer is None or answer.rule is not rule:
        return None
    at = denied
    while at.strip("/"):
        if not _roots(at) and _allowed(subject, "file-write-unlink", at):
            for new in (f"{at}.moved", *(f"{one}/moved" for one in places if not f"{one}/".startswith(f"{at}/"))):
                rest = denied.removeprefix(at)
                if _allowed(subject, "file-write-create", new) and _allowed(subject, operation, new + rest):
                    return at
        at = at.rpartition("/")[0]
    return None


def _writable(subject: Subject) -> tuple[str, ...]:
    """Give folders that the profile opens for writing."""
    found = (
        pattern.value.rstrip("/")
        for rule, one, pattern, _ in subject.patterns()
        if rule.action == "allow" and one.fact == "path" and not _OPENING.isdisjoint(rule.operations)
        if isinstance(pattern, Text) and pattern.match == "subpath"
    )
    return tuple(dict.fromkeys(found))[:MAX_PLACES]


def _roots(folder: str) -> bool:
    """Tell whether only root can move this: what it stands in is root's on every Mac."""
    above = folder.rpartition("/")[0] or "/"
    return above in _OWNED_BY_ROOT or any(above == one or above.startswith(one + "/") for one in _NOT_OURS)


def _allowed(subject: Subject, operation: str, at: str) -> bool:
    answer = subject.ask(operation, path(at))
    return answer is not None and answer.decision == "allow"


def siblings(subject: Subject) -> Iterator[SbplWriteSiblings]:
    """Report denies of all writing that leave linking, cloning and mounting open.

    Reference: "Other traps": `file-link`, `file-clone` and `file-mount` are not under `file-write*`.
    """
    for rule in subject.rules:
        if rule.action == "allow" or "file-write*" not in rule.operations:
            continue
        for sample in subject.samples(rule) if rule.filters else (path("/a"),):
            answer = subject.ask("file-write-data", sample)
            if answer is None or answer.rule is not rule:
                continue
            unclosed = [(one, subject.ask(one, sample)) for one in _SIBLINGS]
            names = tuple(one for one, found in unclosed if found and found.decision == "allow")
            if names:
                yield SbplWriteSiblings(rule.at, names, sample.text if rule.filters else "")
                break
