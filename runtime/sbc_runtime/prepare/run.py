"""Everything that is settled before a run is started."""

import os
import stat

from sbc_runtime.arch import native_arch
from sbc_runtime.contents import Bundle
from sbc_runtime.errors import SetupFailed
from sbc_runtime.job import Job
from sbc_runtime.outcome import RunLoss
from sbc_runtime.plan import Path, Plan
from sbc_runtime.prepare import host_mounts, sockets
from sbc_runtime.prepare.areas import Areas
from sbc_runtime.prepare.home import check_home
from sbc_runtime.prepare.ids import ids
from sbc_runtime.prepare.layout import Layout, bind, joined
from sbc_runtime.prepare.own import places
from sbc_runtime.prepare.paths import is_folder
from sbc_runtime.prepare.reserved import close, is_below, kernel_mounts, refuse_private
from sbc_runtime.prepare.select import amount, devices, identity, limits, masks, on_linux, setting
from sbc_runtime.prepare.sockets import Shown
from sbc_runtime.prepare.values import Bases, bases, check_tmpdir
from sbc_runtime.prepare.watched import look_ahead
from sbc_runtime.prepared import Mount, Prepared
from sbc_runtime.socket_filters import guard


def prepare(bundle: Bundle, program: bytes | None, job: Job) -> Prepared:
    """Fill in and resolve a bundle's plan for one run; `SetupFailed` where it cannot be carried out here."""
    check_home(bundle.plan, job.caller)
    found = bases(bundle.params, job.params, job.caller, _used(bundle.plan))
    try:
        return _prepared(bundle, program, job, found)
    finally:
        found.close()


def _prepared(bundle: Bundle, program: bytes | None, job: Job, found: Bases) -> Prepared:
    plan = bundle.plan
    root = setting(plan.roots)
    layout = Layout(root is not None and root.kind == "host")
    stated = identity(plan, job.params)
    whose, notes = ids(stated, lambda: _owners(plan, found))
    mounted = host_mounts.read()
    kernel = kernel_mounts(mounted)
    areas = Areas(layout, found, whose, kernel)
    rules = tuple(
        rule
        for rule in on_linux(plan.rules)
        if not (layout.host_root and rule.access == "read" and _is_root(rule.path))
    )
    areas.add_all(rules)
    check_tmpdir(found, _protected(plan, found))
    for one in on_linux(plan.tmps):
        size, inodes = (amount(value, job.params, one.statement) for value in (one.size, one.inodes))
        place = found.spelled(one.path)
        where = one.statement.where()
        refuse_private(place, where, one.statement.text)
        layout.add(Mount("tmpfs", place, "", 0, 0, True, False, one.noexec, size, inodes, where))
    kind = devices(plan)
    areas.add_elsewhere(mounted)
    covered = close(layout, kernel, kind)
    covers = sockets.Covers((), (), ())
    if plan.network.mode == "none":
        allowed = _allowed(plan, layout, found)
        statement = plan.network.statement
        covers = sockets.cover(
            Shown(layout, found, whose, job.caller, allowed, statement, kind, job.options.backend == "bwrap"),
            mounted,
        )
    areas.add_git(mounted)
    areas.add_own(places(job.options.relied_on), mounted)
    watched, absent = look_ahead(areas.protected, layout)
    mounts = layout.ordered()
    _check_places(mounts, layout)
    hostname = stated.get("hostname", "sandbox")
    if program is None:
        notes = (*notes, "no filter: the profile says `syscalls none`")
    return Prepared(
        job.run_id,
        bundle.profile,
        job.argv,
        job.environment,
        _start_in(plan, layout, found, job.caller.cwd),
        layout.host_root,
        mounts,
        () if layout.host_root else _links(areas.links, layout),
        masks(plan),
        kind,
        plan.network.mode,
        whose,
        str(hostname),
        limits(plan.limits, job.params, job.options.timeout),
        program,
        job.options.stdin == "terminal",
        _texts(job, found),
        absent,
        (*_losses(plan), *covers.losses),
        (*covered, *covers.places),
        (*notes, *areas.notes, *covers.notes),
        _guard(plan, program),
        watched,
        covers.bound,
    )


def _used(plan: Plan) -> frozenset[str]:
    paths = [one for rule in on_linux(plan.rules) for one in (rule.path, rule.place)]
    paths += [one.path for group in (plan.tmps, plan.start_in, plan.network.allowances) for one in on_linux(group)]
    return frozenset(path.base for path in paths if path is not None and path.base is not None)


def _owners(plan: Plan, found: Bases) -> list[int]:
    """Give to whom the paths belong that the command is to write to."""
    writable = (one for one in on_linux(plan.rules) if one.access == "write")
    seen = (found.look_up(one.path, one.statement.where()) for one in writable)
    return [one.owner for one in seen if one is not None]


def _is_root(path: Path) -> bool:
    return path.base is None and path.rest in {"", "/"}


def _protected(plan: Plan, found: Bases) -> tuple[str, ...]:
    """Give what `${tmpdir}` must not stand above."""
    named = [one.real for name, one in found.found.items() if name not in {"tmpdir", "cwd"}]
    stated = [
        found.spelled(rule.path)
        for rule in on_linux(plan.rules)
        if rule.access != "write" and rule.path.base != "tmpdir" and not _is_root(rule.path)
    ]
    return (*named, *stated)


def _guard(plan: Plan, program: bytes | None) -> bytes | None:
    arch = native_arch(os.uname().machine)
    return None if plan.network.mode != "none" or arch is None else guard(program, arch)


def _allowed(plan: Plan, layout: Layout, found: Bases) -> frozenset[str]:
    """Show the sockets that the network list names; give their paths without links."""
    allowed: set[str] = set()
    for one in on_linux(plan.network.allowances):
        if one.verb == "unix" and one.path is not None:
            where = one.statement.where()
            seen = found.look_up(one.path, where)
            if seen is None:
                why = f"there is no socket at `{found.spelled(one.path)}`"
                raise SetupFailed("network", why, "start what listens there first", 2, where)
            if is_below(seen.real, "/proc"):
                raise SetupFailed("network", f"`{seen.real}` is in /proc", "name the socket's own path", where=where)
            if not stat.S_ISSOCK(seen.mode):
                why = f"`{seen.real}` is not a socket"
                raise SetupFailed("network", why, "name the socket itself; folders and files are for `files`", 0, where)
            allowed.add(seen.real)
            layout.add(bind(seen, seen.real, where, read_only=True))
    return frozenset(allowed)


def _check_places(mounts: tuple[Mount, ...], layout: Layout) -> None:
    """Refuse mounts whose place would have to be created on the host first."""
    for mount in mounts:
        if mount.may_vanish:
            continue
        above = layout.covering(mount.place)
        if above is None:
            if not layout.host_root or mount.place == "/":
                continue
            source = mount.place
        elif above.kind == "bind":
            source = joined(above.source, mount.place[len(above.place) :] if above.place != "/" else mount.place)
        else:
            continue
        kind = is_folder(source)
        if kind is None or kind != mount.directory:
            what = "folder" if mount.directory else "file"
            why = f"there is no {what} `{source}` to put `{mount.place}` on, and nothing is created on the host"
            raise SetupFailed("paths", why, f"create the {what}, or move the path with `as`", 2, mount.where)


def _links(links: dict[str, str], layout: Layout) -> tuple[tuple[str, str], ...]:
    """Give the links that no mount shows anyway."""
    return tuple(
        (place, target)
        for place, target in sorted(links.items())
        if layout.at(place) is None and (layout.covering(place) is None or layout.covering(place).kind == "tmpfs")  # pyright: ignore[reportOptionalMemberAccess]
    )


def _start_in(plan: Plan, layout: Layout, found: Bases, cwd: str) -> str:
    stated = setting(plan.start_in)
    if stated is not None and stated.path is not None:
        return found.spelled(stated.path)
    places = layout.seen_at(cwd) if cwd else ()
    if places:
        return places[0]
    for rule in on_linux(plan.rules):
        if rule.access == "write" and (seen := found.look_up(rule.path, "start-in")) is not None:
            places = layout.seen_at(seen.real)
            if places:
                return places[0]
    here = f"the folder `{cwd}` is not visible in the sandbox" if cwd else "the current folder is gone"
    why = f"{here}, and nothing is writable"
    raise SetupFailed("start-in", why, "say `start-in PATH`, or call from a folder that is visible")


def _texts(job: Job, found: Bases) -> dict[str, str]:
    texts = {name: str(value) for name, value in job.params.items()}
    return texts | {name: one.real for name, one in found.found.items()}


def _losses(plan: Plan) -> tuple[RunLoss, ...]:
    """Give what no backend made of namespaces can enforce."""
    found: list[RunLoss] = []
    if plan.network.mode == "host" and plan.network.listed:
        one = plan.network.statement
        found.append(RunLoss("wider", one.where(), one.text, "the host's network is given as a whole"))
    for one in on_linux(plan.network.allowances):
        if one.verb != "unix" and plan.network.mode == "none":
            why = "a network of its own does not reach the host's ports"
            found.append(RunLoss("narrower", one.statement.where(), one.statement.text, why))
    return tuple(found)
