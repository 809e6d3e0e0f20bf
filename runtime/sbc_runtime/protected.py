"""Looks again, after a run, at what the profile protects and the command could have replaced or made.

Before the run every name on the way of such a path is opened with O_PATH: it is then known to be what was found while
the run was prepared, and no other object can get its number until the run is over.
"""

import errno
import os
import stat

from sbc_runtime import libc
from sbc_runtime.errors import SetupFailed
from sbc_runtime.outcome import Absent, Replaced
from sbc_runtime.prepare.paths import AT_FDCWD
from sbc_runtime.prepare.steps import Step
from sbc_runtime.prepared import Prepared

_MISSING = frozenset({errno.ENOENT, errno.ENOTDIR})


class Protected:
    """The protected paths of one run."""

    def __init__(self, prepared: Prepared) -> None:
        """Open them; `SetupFailed` where one is not what was found."""
        self._watched = prepared.watched
        self._absent = prepared.absent
        self._open: list[int] = []
        # A link that leads nowhere.
        self._there = frozenset(one.path for one in self._absent if one.could_be_created and not _missing(one.path))
        try:
            for step, where in {step: one.where for one in self._watched for step in one.steps}.items():
                self._hold(step, where)
        except BaseException:
            self.close()
            raise

    def _hold(self, step: Step, where: str) -> None:
        try:
            descriptor = _opened(step.place)
        except OSError as error:
            remedy = "raise the limit of open files" if error.errno == errno.EMFILE else "try again"
            raise SetupFailed.of("paths", error, remedy, where) from None
        self._open.append(descriptor)
        if not _is(descriptor, step):
            raise SetupFailed("paths", f"`{step.place}` is not what it was a moment ago", "try again", where=where)

    def replaced(self) -> tuple[Replaced, ...]:
        """Give the paths on whose way something else is now, or something that cannot be looked at.

        And the files that were changed by another name.
        """
        changed = {step for one in self._watched for step in one.steps if not _same(step)}
        found: list[Replaced] = []
        for one in self._watched:
            first = next((step.place for step in one.steps if step in changed), None)
            if first is None and one.changed and _changed(one.steps[-1].place) != one.changed:
                first = one.path
            if first is not None:
                found.append(Replaced(one.where, one.text, one.path, first))
        return tuple(found)

    def absent(self) -> tuple[Absent, ...]:
        """Give the paths that were not there, with whether they are now. A link that led nowhere may still do so."""
        return tuple(
            one._replace(created=one.could_be_created and not _missing(one.path, follow=one.path in self._there))
            for one in self._absent
        )

    def close(self) -> None:
        """Let them go."""
        for one in self._open:
            os.close(one)
        self._open = []


def _opened(place: str) -> int:
    return libc.openat2(AT_FDCWD, place, os.O_PATH | os.O_NOFOLLOW, libc.RESOLVE_NO_SYMLINKS)


def _is(descriptor: int, step: Step) -> bool:
    seen = os.fstat(descriptor)
    return (seen.st_dev, seen.st_ino, stat.S_IFMT(seen.st_mode)) == (step.device, step.inode, step.kind)


def _same(step: Step) -> bool:
    try:
        descriptor = _opened(step.place)
    except OSError:
        return False
    try:
        return _is(descriptor, step)
    finally:
        os.close(descriptor)


def _changed(place: str) -> int | None:
    try:
        return os.lstat(place).st_ctime_ns
    except OSError:
        return None


def _missing(path: str, *, follow: bool = False) -> bool:
    """Tell whether nothing is there. What cannot be looked at may be there."""
    try:
        os.stat(path, follow_symlinks=follow)
    except OSError as error:
        return error.errno in _MISSING
    return False
