"""The arguments of sandbox-exec(1), and what it says where it fails."""

import os
from collections.abc import Mapping, Sequence
from errno import EACCES, ENOENT

from sbc_runtime.outcome import Failure

SANDBOX_EXEC = "/usr/bin/sandbox-exec"
"""The system's own, by its full path: nothing that a variable could name in its place."""

MISSING = ENOENT

_FAILED = frozenset({64, 65, 71})
"""What sandbox-exec ends with where it could not start the command: EX_USAGE, EX_DATAERR, EX_OSERR (sysexits(3))."""

_OWN_WORDS = (b"sandbox-exec: ", b"Usage: sandbox-exec")


def arguments(profile: str, given: Mapping[str, str], command: Sequence[str]) -> list[str]:
    """Give the arguments. `command[0]` is an absolute path, so that it cannot be taken for an option."""
    if not command[0].startswith("/"):
        raise ValueError("the program has to be an absolute path")
    words = [SANDBOX_EXEC, "-f", profile]
    for name, value in given.items():
        words += ["-D", f"{name}={value}"]
    return [*words, *command]


def own_failure(status: int, errors: bytes) -> str | None:
    """Tell from the exit status and the first bytes of standard error why sandbox-exec failed by itself; else None.

    A command that imitates it is taken for such a failure: what it did then is refused, and never a success.
    """
    if status not in _FAILED or not errors.startswith(_OWN_WORDS):
        return None
    return f"sandbox-exec ended with {status}: {errors.decode('utf-8', 'replace').splitlines()[0]}"


def find_program(name: str, path: str | None, cwd: str) -> str | Failure:
    """Look for a program as execvp(3) does, but with the profile's PATH, and none by default.

    Gives an absolute path, or what to say where there is none.
    """
    folders = ["."] if "/" in name else [] if not name or path is None else [one or "." for one in path.split(":")]
    there = [one for one in (os.path.join(cwd, folder, name) for folder in folders) if os.path.lexists(one)]
    for one in there:
        if os.path.isfile(one) and os.access(one, os.X_OK):
            return one
    why = "it is not executable" if there else "there is no such program"
    number = EACCES if there else ENOENT
    return Failure("command", f"`{name}`: {why}", "name a program that is visible in the sandbox", number)
