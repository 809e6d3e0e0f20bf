"""Paths that are not canonical."""

from collections.abc import Iterator

from sbc.analysis.sbpl.cover import Cover
from sbc.analysis.sbpl.spelling import canonical, is_link
from sbc.analysis.sbpl.subject import Subject, Written, lineage, within
from sbc.diagnostics.catalogue.sbpl_filters import SbplPathSpelling
from sbc.macos.paths import LINKS
from sbc.seatbelt.filters import Comparison
from sbc.seatbelt.patterns import Regex, Text

_SEES_LINKS = frozenset({"file-read-metadata", "file-read*", "file*", "file-test-existence"})
"""Operations by which a link on the way is looked at, under its own name."""


def check(subject: Subject) -> Iterator[SbplPathSpelling]:
    """Report paths that the kernel never resolves anything to.

    Reference: "Paths": the text of a profile is not normalised, so a rule on another spelling matches nothing, and a
    deny fails open. A link's own name is right where links are looked at; a spelling beside which the profile has the
    canonical one does no harm.
    """
    covers: dict[tuple[str, str], Cover] = {}
    for written in subject.patterns():
        pattern = written.pattern
        if written.filter.fact not in ("path", "process-path"):
            continue
        seen = _seen(written)
        if seen is None:
            continue
        spelled, better = seen
        if better is not None and _also(subject, covers, written, better):
            continue
        what = pattern.pattern if isinstance(pattern, Regex) else spelled
        link = _sees_link(written, what)
        yield SbplPathSpelling(written.at, what, better, written.rule.action, written.rule.at, link)


def _seen(written: Written) -> tuple[str, str | None] | None:
    """Give a spelling that is wrong, and the right one where there is one; None where nothing is wrong."""
    pattern = written.pattern
    if isinstance(pattern, Regex):
        return _of_regex(pattern.pattern)
    if not isinstance(pattern, Text) or pattern.value.startswith("${"):
        return None
    path = pattern.value
    if pattern.match == "prefix":
        # What a prefix begins may go on within a name: only whole folders of it are looked at.
        folder, slash, rest = path.rpartition("/")
        if not path:
            return None
        better = canonical(folder) if folder else "/"
        if not slash or better is None:
            return path, None
        whole = better.rstrip("/") + slash + rest
        return None if whole == path else (path, whole)
    better = canonical(path)
    if better == path or (pattern.match == "literal" and _sees_link(written, path)):
        return None
    return path, better


def _sees_link(written: Written, path: str) -> bool:
    return is_link(path) and not _SEES_LINKS.isdisjoint(written.rule.operations)


def _of_regex(pattern: str) -> tuple[str, str] | None:
    for link, place in LINKS:
        if pattern.startswith(f"^{link}") and pattern[1 + len(link) :][:1] in ("", "/", "$", "("):
            return pattern, f"^{place}{pattern[1 + len(link) :]}"
    return None


def _also(subject: Subject, covers: dict[tuple[str, str], Cover], written: Written, better: str) -> bool:
    """Tell whether rules of the same kind have the right spelling on every operation of this one."""
    rule, pattern = written.rule, written.pattern
    right = pattern._replace(value=better) if isinstance(pattern, Text) else Regex(better, folded=True)
    return all(
        any(
            _has(subject, covers, one, rule.action).of_pattern(written.filter.fact, right) for one in lineage(operation)
        )
        for operation in rule.operations
    )


def _has(subject: Subject, covers: dict[tuple[str, str], Cover], operation: str, action: str) -> Cover:
    """Give all that stands in filters of the rules of one kind on an operation, however they combine it."""
    cover = covers.get((operation, action))
    if cover is None:
        cover = covers[operation, action] = Cover(operation, subject.meter)
        for rule in subject.naming(operation):
            for part in within(rule.filters) if rule.action == action else ():
                if isinstance(part, Comparison):
                    cover.add_filter(part, rule)
    return cover
