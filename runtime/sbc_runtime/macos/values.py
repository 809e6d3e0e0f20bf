"""The values of an SBPL profile's parameters: paths as the kernel of macOS compares them.

A filter sees the path that was resolved; a spelling through a link (`/tmp` is `/private/tmp`) matches nothing, so that
an allow is lost and a deny is open.
"""

import fcntl
import os
import re
import stat
from collections.abc import Mapping

from sbc_runtime.contents import Bundle
from sbc_runtime.errors import SetupFailed
from sbc_runtime.macos.spelling import HOME_VARIABLE, below, without_data
from sbc_runtime.plan import Path, Statement
from sbc_runtime.prepare.select import on_system
from sbc_runtime.records import NamedTuple

_COMMENT = re.compile(r"^;.*$", re.MULTILINE)
_PARAM = re.compile(r'\(param "([^"\\]*)"\)')
_TYPES = {"dir": "a folder", "file": "a file", "path": "a path"}
_PATH_BYTES = 1024
"""MAXPATHLEN, which F_GETPATH fills (fcntl(2) of macOS)."""


class Host(NamedTuple):
    """The Mac and its caller.

    `uid`: effective; `home`: the folder of the real uid; `home_variable`: HOME where it is absolute; `tmpdir`: TMPDIR,
    or the user's folder; `cwd`: empty where it is gone.
    """

    uid: int
    home: str
    home_variable: str | None
    tmpdir: str
    cwd: str


class Values(NamedTuple):
    """What stands for each parameter. `given`: what the profile asks for, in the order in which it names them."""

    paths: dict[str, str]
    given: dict[str, str]

    def filled(self, path: Path, statement: Statement) -> str:
        """Give a path of the plan with its parameter's value; literal paths as they are spelled."""
        if path.base is None:
            return path.rest or "/"
        base = self.paths.get(path.base)
        if base is None:
            raise SetupFailed("parameters", f"`{path.base}` has no path", "name one", where=statement.where())
        return (base.rstrip("/") + path.rest) or "/"


def values(bundle: Bundle, sbpl: str, params: Mapping[str, str | int], host: Host) -> Values:
    """Resolve what a profile asks for; `SetupFailed` where a value is not there, or is not of its type."""
    named = dict.fromkeys(_PARAM.findall(_COMMENT.sub("", sbpl)))
    wanted = {*named, *(one.path.base for one in on_system(bundle.plan.start_in, "macos") if one.path is not None)}
    found: dict[str, str] = {}
    for one in bundle.params:
        if one.type in _TYPES:
            found[one.name] = _checked(one.name, one.type, str(params[one.name]))
    if "tmpdir" in wanted and not os.path.isabs(host.tmpdir):
        raise SetupFailed("parameters", f"TMPDIR: `{host.tmpdir}` is relative", "name it by its absolute path")
    built_in = {"home": host.home, "cwd": host.cwd, "tmpdir": host.tmpdir}
    found |= {name: canonical(built_in[name], f"${{{name}}}") for name in built_in if name in wanted}
    if HOME_VARIABLE in wanted:
        home = canonical(host.home, "${home}")
        # What is not there may be made; its name is closed all the same.
        found[HOME_VARIABLE] = home if host.home_variable is None else resolved(host.home_variable)
    if "tmpdir" in wanted:
        _check_tmpdir(found, host)
    for name in named:
        if name not in found:
            raise SetupFailed("parameters", f"`{name}` has no path", f"give `-D {name}=PATH`")
        _sayable(name, found[name])
    return Values(found, {name: found[name] for name in named})


def canonical(path: str, what: str) -> str:
    """Resolve a path that has to be there; `what` names it in the refusal."""
    try:
        real = os.path.realpath(path, strict=True)
    except OSError as error:
        why = f"{what}: `{path}`: {error.strerror}"
        raise SetupFailed("parameters", why, "name a path that is there", error.errno or 0) from None
    return resolved(_as_kept(real))


def resolved(path: str) -> str:
    """Resolve a path as far as it is there, and spell it from the root of the system."""
    return "/" + "/".join(without_data(tuple(part for part in os.path.realpath(path).split("/") if part)))


def _as_kept(path: str) -> str:
    """Give the path in the case that the volume keeps, where the system tells it: rules may compare it."""
    command = getattr(fcntl, "F_GETPATH", None)
    if command is None:
        return path
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return path  # not to be read; it stays as it was spelled
    try:
        kept = os.fsdecode(fcntl.fcntl(descriptor, command, bytes(_PATH_BYTES)).split(b"\0")[0])
    except OSError:
        return path
    finally:
        os.close(descriptor)
    return kept if below(kept, path) and below(path, kept) else path


def _checked(name: str, kind: str, value: str) -> str:
    real = canonical(value, f"`{name}`")
    if kind != "path" and (kind == "dir") != os.path.isdir(real):
        raise SetupFailed("parameters", f"`{name}`: `{value}` is not {_TYPES[kind]}")
    return real


def _sayable(name: str, value: str) -> None:
    """Refuse what a parameter of sandbox-exec cannot hold, or no filter is known to match."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise SetupFailed("parameters", f"`{name}`: {value!a} is no UTF-8, which no profile can name") from None
    if "\n" in value:
        raise SetupFailed("parameters", f"`{name}`: {value!r} holds a newline, which no profile can name")


def _check_tmpdir(found: Mapping[str, str], host: Host) -> None:
    path = found["tmpdir"]
    seen = os.stat(path)
    if not stat.S_ISDIR(seen.st_mode) or not (seen.st_uid == os.getuid() or seen.st_mode & stat.S_ISVTX):
        raise SetupFailed("parameters", f"TMPDIR: `{path}` is not a folder of yours, nor a sticky one")
    named = {name: one for name, one in found.items() if name not in {"tmpdir", "cwd"}}
    for one in (resolved(host.home), *([resolved(host.home_variable)] if host.home_variable else []), *named.values()):
        refuse_tmpdir_above(path, one)


def refuse_tmpdir_above(tmpdir: str, path: str) -> None:
    """Refuse a `${tmpdir}` that is a path, or stands above it."""
    if below(tmpdir, path):
        raise SetupFailed("parameters", f"TMPDIR: `{tmpdir}` holds `{path}`", "set TMPDIR to a folder of its own")
