"""Which repository a folder is in, as git(1) says: root commits, origin, path.

git runs with an environment of our own and without the user's configuration. What the repository itself configures runs
nothing: no commit is checked out, no hook, pager, monitor, remote helper or transport is used. A command that could
write the repository could change what git says: this tells repositories apart, it does not prove one.
"""

import os
import re
import subprocess
import sys
from collections.abc import Mapping

from sbc_runtime.attestation import Refused

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_CREDENTIALS = re.compile(r"https?://[^/?#]*@|[^/?#]*://[^/?#@]*:[^/?#]*@", re.IGNORECASE)
"""A login in a URL, which would come into attestations and messages."""

_OPTIONS = (
    "--no-pager",
    "--no-replace-objects",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.commitGraph=false",
    "-c",
    "core.hooksPath=" + os.devnull,
    "-c",
    "safe.bareRepository=explicit",
)
_SET = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_KEPT = ("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR")
"""What programs of Windows need to start."""

_SECONDS = 60


def find_git(environ: Mapping[str, str], tree: str) -> str:
    """Give git's path: the first in PATH, never by a relative folder and never in the tree itself. `Refused`."""
    name = "git.exe" if sys.platform == "win32" else "git"
    for folder in environ.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, name)
        if os.path.isabs(folder) and os.path.isfile(path) and os.access(path, os.X_OK):
            real = os.path.realpath(path)
            if not inside(real, tree) and not inside(os.path.abspath(path), tree):
                return real
    raise Refused("repositoryPath", "cannot be found out: there is no git in PATH")


def inside(path: str, folder: str) -> bool:
    """Tell whether a path is a folder or below it; both absolute and without links."""
    one, above = os.path.normcase(path), os.path.normcase(folder)
    return one == above or one.startswith(above.rstrip(os.sep) + os.sep)


class Repository:
    """The repository that a folder is in."""

    def __init__(self, tree: str, environ: Mapping[str, str]) -> None:
        self._tree = os.path.realpath(tree)
        self._git = find_git(environ, self._tree)
        self._environ = {name: environ[name] for name in _KEPT if name in environ}
        # Where a command of git's own has to be found.
        self._environ |= {"PATH": os.path.dirname(self._git), **_SET}

    def path(self) -> str:
        """Give the top of the working tree, without links; `Refused` where the folder is in none."""
        top = self._one("repositoryPath", "rev-parse", "--show-toplevel")
        real = os.path.realpath(top)
        if not inside(self._tree, real):
            raise Refused("repositoryPath", "cannot be found out: git names a working tree that the folder is not in")
        return real

    def root_commit(self) -> str:
        """Give the commits without parents that HEAD descends from, sorted, with commas; `Refused`."""
        field = "repositoryRootCommit"
        if self._one(field, "rev-parse", "--is-shallow-repository") != "false":
            raise Refused(field, "cannot be found out: the clone is shallow")
        found = self._lines(field, "rev-list", "--max-parents=0", "HEAD", "--")
        if not found or not all(_COMMIT.fullmatch(one) for one in found):
            raise Refused(field, "cannot be found out: git names no commits")
        return ",".join(sorted(found))

    def origin(self) -> str:
        """Give the one URL of the remote `origin`, as git would use it; `Refused`."""
        field = "repositoryOrigin"
        found = self._one(field, "remote", "get-url", "--all", "origin")
        if _CREDENTIALS.match(found):
            raise Refused(field, "cannot be named: the URL of `origin` holds a login; take it out")
        return found

    def _one(self, field: str, *arguments: str) -> str:
        found = self._lines(field, *arguments)
        if len(found) != 1 or not found[0]:
            raise Refused(field, "cannot be found out: git gives not one line")
        return found[0]

    def _lines(self, field: str, *arguments: str) -> list[str]:
        try:
            done = subprocess.run(  # noqa: S603
                [self._git, "-C", self._tree, *_OPTIONS, *arguments],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                env=self._environ,
                check=False,
                timeout=_SECONDS,
            )
        except (OSError, subprocess.TimeoutExpired, ValueError):
            raise Refused(field, "cannot be found out: git cannot be run, or does not end") from None
        if done.returncode != 0:
            raise Refused(field, f"cannot be found out: git ends with status {done.returncode}")
        text = os.fsdecode(done.stdout)
        return (text[:-1] if text.endswith("\n") else text).split("\n")
