"""Everything of a run on macOS that is known before its first process: what to execute, under which profile."""

import os
import pwd
from collections.abc import Mapping

from sbc_runtime import calling
from sbc_runtime.errors import SetupFailed
from sbc_runtime.loaded import Loaded
from sbc_runtime.macos import limits as macos_limits
from sbc_runtime.macos.areas import Areas, absent, areas
from sbc_runtime.macos.gitfile import check_git
from sbc_runtime.macos.values import Host, Values, canonical, resolved, values
from sbc_runtime.outcome import Absent, RunLoss
from sbc_runtime.prepare.select import limits, on_system
from sbc_runtime.prepared import LimitValue
from sbc_runtime.records import NamedTuple

_DARWIN_USER_TEMP_DIR = 65537
"""_CS_DARWIN_USER_TEMP_DIR of confstr(3), `unistd.h` of macOS."""


class Ready(NamedTuple):
    """A run that can start: the profile's text, its parameters, where to start, and what is reported of it."""

    text: str
    values: Values
    areas: Areas
    home: str
    cwd: str
    limits: LimitValue
    losses: tuple[RunLoss, ...]
    absent: tuple[Absent, ...]


def this_host() -> Host:
    """Look at the Mac; `SetupFailed` where this uid has no home, which `~` and the profile's own file need."""
    try:
        home = pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        why = f"the home of uid {os.getuid()} is not known: the directory service has no such user"
        raise SetupFailed("parameters", why, "run it as a user that is known") from None
    variables = calling.environment()
    variable = variables.get("HOME", "")
    tmpdir = variables.get("TMPDIR") or _user_folder()
    return Host(os.geteuid(), home, variable if variable.startswith("/") else None, tmpdir, calling.folder())


def _user_folder() -> str:
    try:
        return os.confstr(_DARWIN_USER_TEMP_DIR) or "/tmp"  # noqa: S108 (what confstr has no answer for)
    except (OSError, ValueError):
        return "/tmp"  # noqa: S108


def prepare(
    loaded: Loaded, params: Mapping[str, str | int], host: Host, timeout: int | None, *, allow_wider: bool
) -> Ready:
    """Give a run that can start; `SetupFailed` where it cannot, and nothing has been made."""
    bundle = loaded.bundle
    if bundle.sbpl.text is None:
        raise SetupFailed("backend", f"the profile has no SBPL: {bundle.sbpl.why}", "change what it cannot say")
    if host.uid == 0:
        raise SetupFailed("identity", "root stays root under Seatbelt", "run it as an ordinary user")
    settled = values(bundle, bundle.sbpl.text, params, host)
    found = areas(bundle.plan, settled)
    check_git(found)
    missing = absent(found)
    budget = limits(bundle.plan.limits, dict(params), timeout, "macos")
    lost = macos_limits.losses(bundle, budget)
    for loss in lost:
        if loss.direction == "wider" and not allow_wider:
            why = f"`{loss.text}` cannot be enforced: {loss.why}"
            raise SetupFailed("losses", why, "accept it with `--allow-wider`, or change the statement", 0, loss.where)
    home = canonical(host.home, "the home folder")
    return Ready(bundle.sbpl.text, settled, found, home, _start_in(loaded, settled, found, host), budget, lost, missing)


def _start_in(loaded: Loaded, settled: Values, found: Areas, host: Host) -> str:
    """Give where the command starts: what the profile says, else the caller's folder, else the first `write`."""
    stated = on_system(loaded.bundle.plan.start_in, "macos")
    if stated and stated[-1].path is not None:
        said = stated[-1].statement
        place = resolved(settled.filled(stated[-1].path, said))
        if found.at(place).access == "hide":
            raise SetupFailed("start-in", f"`{place}` is not visible", "name a folder that is", where=said.where())
        return place
    cwd = resolved(host.cwd) if host.cwd else ""
    if cwd and found.at(cwd).access != "hide":
        return cwd
    for one in found.areas:
        if one.access == "write" and os.path.isdir(one.place):
            return one.place
    raise SetupFailed("start-in", f"`{cwd}` is not visible, and nothing is writable", "write `start-in PATH`")
