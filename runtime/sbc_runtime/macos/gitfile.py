"""What git uses beside a `.git` that is a file: what it names may not be writable where the `.git` itself is not.

SBPL's text is made before anybody knows where such a file points to, so that no rule can be added: it is refused.
"""

import os
import stat

from sbc_runtime.errors import SetupFailed
from sbc_runtime.macos.areas import Area, Areas
from sbc_runtime.macos.values import resolved

_HEAD = b"gitdir: "
_MOST = 4096


def check_git(found: Areas) -> None:
    """Look at every `.git` that is protected; `SetupFailed` where what it points to could be written."""
    for one in found.areas:
        if one.listed and one.access == "read" and os.path.basename(one.place) == ".git":
            for path in _pointed(one):
                if found.at(path).access == "write":
                    why = f"`{one.place}` points to `{path}`, which the command could write"
                    raise SetupFailed("paths", why, "move the repository out of it", where=one.statement.where())


def _pointed(one: Area) -> list[str]:
    """Give the folder that a `.git` names, and the one that this shares with others (gitrepository-layout(5))."""
    made: list[str] = []
    folder = one.place
    content = _content(folder, one)
    if content is not None and content.startswith(_HEAD):
        folder = _beside(os.path.dirname(folder), content.removeprefix(_HEAD))
        made.append(folder)
    shared = _content(f"{folder}/commondir", one)
    if shared is not None:
        made.append(_beside(folder, shared))
    return made


def _beside(folder: str, target: bytes) -> str:
    return resolved(os.path.join(folder, os.fsdecode(target.split(b"\0")[0])))


def _content(path: str, one: Area) -> bytes | None:
    """Give what a regular file begins with; None where there is none."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None
        with open(path, "rb") as file:
            return file.read(len(_HEAD) + _MOST).rstrip(b"\r\n")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        remedy = "make it readable, so that what it points to can be looked at"
        raise SetupFailed.of("paths", error, remedy, one.statement.where()) from None
