"""The folders behind a path's first word: declared parameters, `home`, `tmpdir`, `cwd`."""

import os
import stat

from sbc_runtime.contents import Param
from sbc_runtime.errors import SetupFailed
from sbc_runtime.job import Caller
from sbc_runtime.plan import Path
from sbc_runtime.prepare.paths import AT_FDCWD, Found, reopen, resolve, resolve_below

_TYPES = {"dir": "a folder", "file": "a file", "path": "a path"}


class Bases:
    """Each name with what it leads to, held open while paths below it are resolved.

    `home_variable`: the folder of HOME where it is another than `home`.
    """

    def __init__(self, found: dict[str, Found], home_variable: Found | None) -> None:
        self.found = found
        self.home_variable = home_variable
        self._open: dict[str, int] = {}

    def look_up(self, path: Path, where: str, *, follow: bool = False) -> Found | None:
        """Resolve a path of the plan; None where there is nothing. `follow`: a link may lead out of the parameter."""
        if path.base is None:
            return resolve(path.rest or "/", where)
        base = self.found.get(path.base)
        if base is None:
            return None
        if not path.rest:
            return base
        if follow:
            return resolve(base.real.rstrip("/") + path.rest, where)
        return resolve_below(self._folder(path.base, base, where), base.real, path.rest, path.base, where)

    def _folder(self, name: str, base: Found, where: str) -> int:
        """Give the descriptor from which everything below a parameter is resolved: what was found, never its path."""
        known = self._open.get(name)
        if known is None:
            try:
                known = self._open[name] = reopen(AT_FDCWD, base.real, base.device, base.inode)
            except OSError as error:
                raise SetupFailed.of("paths", error, "try again", where) from None
        return known

    def close(self) -> None:
        """Close what is held open."""
        for one in self._open.values():
            os.close(one)
        self._open = {}

    def spelled(self, path: Path) -> str:
        """Give a path as text; the parameter's folder without links."""
        if path.base is None:
            return path.rest or "/"
        base = self.found[path.base].real if path.base in self.found else f"${{{path.base}}}"
        return (base.rstrip("/") + path.rest) or "/"


def bases(declared: tuple[Param, ...], params: dict[str, str | int], caller: Caller, used: frozenset[str]) -> Bases:
    """Resolve the parameters that are folders, files and paths, and the built-in ones that are used."""
    found: dict[str, Found] = {}
    for one in declared:
        if one.type not in _TYPES:
            continue
        value = params.get(one.name)
        if not isinstance(value, str) or not value.startswith("/"):
            raise SetupFailed("parameters", f"`{one.name}` has to be an absolute path", f"give `-D {one.name}=PATH`")
        seen = resolve(value, f"param {one.name}")
        if seen is None:
            raise SetupFailed("parameters", f"`{one.name}`: there is no `{value}`", "name one that exists", 2)
        if (one.type == "dir") != seen.directory and one.type != "path":
            raise SetupFailed("parameters", f"`{one.name}`: `{value}` is not {_TYPES[one.type]}")
        found[one.name] = seen
    # Without a home of its own, only `hide` names it, and means HOME's (`check_home`).
    home = caller.home or caller.home_variable or ""
    for name, value in (("home", home), ("cwd", caller.cwd), ("tmpdir", caller.tmpdir)):
        if name in used and (seen := resolve(value, f"${{{name}}}")) is not None:
            found[name] = seen
    variable = None
    if "home" in used and caller.home_variable is not None:
        seen = resolve(caller.home_variable, "HOME")
        if seen is not None and seen.real != (found["home"].real if "home" in found else ""):
            variable = seen
    return Bases(found, variable)


def check_tmpdir(found: Bases, forbidden: tuple[str, ...]) -> None:
    """Refuse a `${tmpdir}` that is not the caller's own, or stands above what the profile protects or names."""
    one = found.found.get("tmpdir")
    if one is None:
        return
    if not one.directory or not (one.owner == os.getuid() or one.mode & stat.S_ISVTX):
        raise SetupFailed("parameters", f"TMPDIR: `{one.real}` is not a folder of yours, nor a sticky one")
    for path in forbidden:
        if path == one.real or path.startswith(one.real.rstrip("/") + "/"):
            raise SetupFailed("parameters", f"TMPDIR: `{one.real}` holds `{path}`", "set TMPDIR to a folder of its own")
