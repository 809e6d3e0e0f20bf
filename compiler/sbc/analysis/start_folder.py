"""`start-in`: the folder in which the command starts has to be there, seen from inside."""

from collections.abc import Iterator

from sbc.analysis.subject import Subject
from sbc.diagnostics.catalogue.lints import StartFolderMissing
from sbc.policy.filesystem import Files
from sbc.policy.origin import System
from sbc.policy.values import PathValue

_OWN = (PathValue(None, "/proc"), PathValue(None, "/dev"))
_SYSTEMS: tuple[System, ...] = ("linux", "macos")


def check(subject: Subject) -> Iterator[StartFolderMissing]:
    """Report each folder that no statement shows on some system; where a parameter could, nothing is known."""
    files = subject.policy.files
    for start in files.start_in:
        systems = _SYSTEMS if start.origin.on is None else (start.origin.on,)
        for system in systems:
            hidden = None if start.path is None else _is_missing(files, start.path, system)
            if start.path is not None and hidden is not None:
                yield StartFolderMissing(start.origin.span, str(start.path), hidden)
                break


def _is_missing(files: Files, path: PathValue, system: System) -> bool | None:
    """Tell whether a folder is hidden (True) or shown by nothing (False); None: it may well be there."""
    rules = [(rule.seen_as, rule.access) for rule in files.rules if rule.origin.on in (None, system)]
    tmps = [(tmp.path, "write") for tmp in files.tmps if tmp.origin.on in (None, system)]
    covering = [one for one in (*rules, *tmps) if one[0].covers(path)]
    if covering:
        _, access = max(covering, key=lambda one: len(one[0].parts))
        return True if access == "hide" else None
    roots = [root for root in files.roots if root.origin.on in (None, system)]
    whole = roots and roots[-1].kind == "host"
    open_ends = path.base is not None or any(place.base is not None for place, _ in (*rules, *tmps))
    below = any(path.covers(place) for place, access in (*rules, *tmps) if access != "hide")
    own = any(place.covers(path) for place in _OWN) or not path.parts
    return None if whole or open_ends or below or own else False
