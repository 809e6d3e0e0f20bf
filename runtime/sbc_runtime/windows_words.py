"""What CreateProcessW takes, as values: the program's file, the command line, the environment block.

Pure: nothing here needs Windows. The rules are those of CommandLineToArgvW and of the C runtime's argv, which agree on
what is written here, and of the remarks on CreateProcessW's `lpEnvironment`.
"""

import errno
import os
from collections.abc import Callable, Iterable, Sequence
from ntpath import isabs, join, splitext

from sbc_runtime.errors import SetupFailed

MOST_CHARACTERS = 32767
"""The longest command line in UTF-16 units, its NUL included."""

_PROGRAMS = (".exe", ".com")
_SCRIPTS = (".bat", ".cmd")


def command_line(program: str, arguments: Sequence[str]) -> str:
    """Give the line that a program splits into itself and exactly these arguments; `SetupFailed`.

    Each argument stands in quotes. Backslashes are themselves, but before a quote, ours included: there they are
    doubled, and a quote of the argument's own gets one more. In the program's name nothing can be escaped.
    """
    if '"' in program or "\0" in program or any("\0" in one for one in arguments):
        raise SetupFailed("command", "the name of a program holds a quote, or an argument a NUL")
    line = " ".join([f'"{program}"', *map(_quoted, arguments)])
    if len(line.encode("utf-16-le", "surrogatepass")) // 2 >= MOST_CHARACTERS:
        raise SetupFailed("command", f"the command line is longer than {MOST_CHARACTERS} characters")
    return line


def _quoted(argument: str) -> str:
    made = ['"']
    backslashes = 0
    for one in argument:
        if one == "\\":
            backslashes += 1
            continue
        made.append("\\" * (2 * backslashes + 1 if one == '"' else backslashes) + one)
        backslashes = 0
    return "".join([*made, "\\" * (2 * backslashes), '"'])


def environment_block(variables: Iterable[tuple[str, str]]) -> bytes:
    """Give the block in UTF-16: sorted by name without case, a NUL after each and after all; `SetupFailed`."""
    found: dict[str, str] = {}
    for name, value in variables:
        if not name or "=" in name or "\0" in name + value:
            raise SetupFailed("environment", f"{name!r} cannot be the name of a variable, or holds a NUL")
        if name.upper() in found:
            raise SetupFailed("environment", f"`{name}` stands twice, since Windows ignores case")
        found[name.upper()] = f"{name}={value}\0"
    text = "".join(found[name] for name in sorted(found, key=_units)) or "\0"
    return f"{text}\0".encode("utf-16-le", "surrogatepass")


def _units(name: str) -> bytes:
    """Give what names are ordered by: their UTF-16 units, as numbers."""
    return name.encode("utf-16-be", "surrogatepass")


def find_program(name: str, path: str, folder: str, is_file: Callable[[str], bool] = os.path.isfile) -> str:
    """Give the file of a program: by its path from `folder`, or by its name from the absolute folders of PATH.

    Never from the current folder by its name alone, as Windows itself would. `SetupFailed`, with errno ENOENT where
    there is none, and EACCES where it is a script of cmd.exe, whose arguments nothing can quote safely.
    """
    if any(one in name for one in "/\\:"):
        places = [join(folder, name)]
    else:
        places = [join(one, name) for one in path.split(";") if isabs(one)]
    for place in places:
        plain = place.rstrip(" .")  # Windows ignores these at the end
        known = splitext(plain)[1].lower() in (*_PROGRAMS, *_SCRIPTS)
        for candidate in [plain] if known else [plain + ending for ending in _PROGRAMS]:
            if is_file(candidate):
                if candidate.lower().endswith(_SCRIPTS):
                    why = f"`{candidate}` is a script of cmd.exe"
                    raise SetupFailed("command", why, "name the program that it starts", errno.EACCES)
                return candidate
    raise SetupFailed("command", f"`{name}`: {os.strerror(errno.ENOENT)}", "name a program in PATH", errno.ENOENT)
