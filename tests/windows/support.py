"""An administrator's key, a repository, a host: what attestations are made for."""

import os
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple

from sbc_runtime import attestation, bypass
from sbc_runtime.attestation import Place

KEY_TEXT = "5a" * 32
KEY = bytes.fromhex(KEY_TEXT)
NOW = 1_900_000_000
"""When everything happens: seconds since 1970."""

NONCE = "n" * 32
ORIGIN = "https://example.org/team/tree.git"


def stamp(seconds: int) -> str:
    """Give a time as attestations write it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def fields(place: Place | None = None, /, **other: str) -> dict[str, str]:
    """Give the fields that are signed, for a place, or for none that there is."""
    here = place or Place("ab" * 32, "cd" * 20, ORIGIN, "C:\\trees\\one")
    return {
        **here.fields(),
        "nonce": NONCE,
        "runId": "run-1",
        "acknowledgedPlatform": "win32",
        "authorizedBy": "the administrator",
        "timestamp": stamp(NOW - 60),
        "expiresAt": stamp(NOW + 600),
        **other,
    }


def git(tree: Path, *arguments: str) -> str:
    """Run git as nobody in particular."""
    environ = {
        "PATH": os.environ["PATH"], "HOME": str(tree), "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.org",
    }  # fmt: skip
    done = subprocess.run(["git", "-C", str(tree), *arguments], env=environ, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def repository(tree: Path, origin: str | None = ORIGIN) -> Path:
    """Make a repository with one commit."""
    tree.mkdir(parents=True, exist_ok=True)
    git(tree, "init", "-q", "-b", "main")
    git(tree, "commit", "-q", "--allow-empty", "-m", "first")
    if origin is not None:
        git(tree, "remote", "add", "origin", origin)
    return tree


class Site(NamedTuple):
    """A configuration folder and a repository; `host` says that this is Windows, at `NOW`."""

    folder: Path
    tree: Path

    @property
    def host(self) -> bypass.Host:
        """The platform, the clock and the environment."""
        return bypass.Host("win32", lambda: NOW, self.environ)

    @property
    def environ(self) -> dict[str, str]:
        """What the administrator's program starts `sbc` with."""
        return {"PATH": os.environ["PATH"], attestation.ADMIN_KEY: KEY_TEXT}

    def place(self) -> Place:
        """Give what an attestation for this site names."""
        return bypass.place(str(self.folder), str(self.tree), self.environ)

    def attested(self, **other: str) -> bytes:
        """Give an attestation for this site."""
        return attestation.sign(fields(self.place(), **other), KEY)

    def request(self, check: Callable[[], bool] = lambda: True, /, **other: str) -> bypass.Request:
        """Give the request of a caller."""
        return bypass.Request(self.attested(**other), check, str(self.folder))


@cache
def shared_repository() -> Path:
    """A repository that tests only read."""
    from tests.runtime.support import folder

    return repository(folder() / "windows-tree")
