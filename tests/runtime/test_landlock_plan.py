"""A plan in Landlock's terms: what is granted, and that everything else that was asked for is a loss by name."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sbc_runtime import landlock
from sbc_runtime.landlock import READ, WRITE, Fs, Grant, Scope
from sbc_runtime.landlock_losses import losses
from sbc_runtime.landlock_plan import areas, excess, rules, seen_as, wanted
from sbc_runtime.outcome import RunLoss
from sbc_runtime.prepared import Ids, LimitValue, Mask, Mount, Prepared

RUN = Fs.EXECUTE
EMPTY = Prepared(
    "test", "p", ("true",), (), "/", False, (), (), (), "none", "none", Ids(1, 1, 1, 1, False), "sandbox",
    LimitValue(), None, False, {}, (), (), (), (),
)  # fmt: skip


def plan(*mounts: Mount, **more: Any) -> Prepared:  # noqa: ANN401
    return EMPTY._replace(mounts=tuple(sorted(mounts, key=lambda one: (one.depth, one.place))), **more)


def bind(place: str, *, write: bool = False, noexec: bool = False, source: str = "", where: str = "") -> Mount:
    return Mount("bind", place, source or place, 1, 2, True, not write, noexec, 0, 0, where or f"p.sbx:{place}")


def hide(place: str) -> Mount:
    return Mount("hide", place, "", 0, 0, True, True, True, 0, 0, f"p.sbx:{place}")


def tmp(place: str) -> Mount:
    return Mount("tmpfs", place, "", 0, 0, True, False, False, 1 << 20, 100, f"p.sbx:{place}")


def granted(prepared: Prepared) -> dict[str, Fs]:
    return {grant.path: grant.rights for grant in rules(prepared).grants}


def said(prepared: Prepared, where: str, version: int = landlock.NEWEST) -> list[str]:
    """Give the texts and reasons of what is lost wider of one statement."""
    return [f"{one.text}: {one.why}" for one in losses(prepared, version) if one.where == where]


def test_a_private_root_grants_what_is_listed_and_proc() -> None:
    prepared = plan(bind("/usr"), bind("/work", write=True), bind("/data", noexec=True))
    assert granted(prepared) == {
        "/usr": READ | RUN,
        "/work": READ | WRITE | RUN,
        "/data": READ,
        "/proc": READ,
    }


def test_a_host_root_grants_reading_all() -> None:
    assert granted(plan(host_root=True))["/"] == READ | RUN


def test_nothing_grants_device_nodes() -> None:
    assert not WRITE & (Fs.MAKE_CHAR | Fs.MAKE_BLOCK | Fs.IOCTL_DEV)


def test_what_was_found_is_what_is_granted() -> None:
    grant = rules(plan(bind("/usr"))).grants[0]
    assert (grant.device, grant.inode, grant.where, grant.optional) == (1, 2, "p.sbx:/usr", False)


@pytest.mark.parametrize(("devices", "paths"), [
    ("none", 0), ("minimal", 5), ("standard", 6), ("host", 1),
])  # fmt: skip
def test_devices(devices: str, paths: int) -> None:
    found = [path for path in granted(plan(devices=devices)) if path.startswith("/dev")]
    assert len(found) == paths
    assert not {"/dev/shm", "/dev/pts", "/dev/ptmx"} & set(found)


def test_network_none_denies_tcp_and_abstract_sockets() -> None:
    assert rules(plan()).tcp == ()
    assert rules(plan()).scope == Scope.SIGNAL | Scope.ABSTRACT_UNIX_SOCKET
    assert rules(plan(network="host")).tcp is None
    assert rules(plan(network="host")).scope == Scope.SIGNAL


def test_a_moved_path_keeps_its_name() -> None:
    prepared = plan(bind("/work", write=True, source="/home/me/t"), hide("/work/.git"))
    assert granted(prepared)["/home/me/t"] == READ | WRITE | RUN
    assert "/work" not in granted(prepared)
    assert seen_as(prepared, "/work/src") == "/home/me/t/src"
    assert seen_as(prepared, "/work") == "/home/me/t"
    assert seen_as(prepared, "/workshop") == "/workshop"
    found = [one for one in losses(prepared, 7) if one.where == "p.sbx:/work"]
    assert found == [RunLoss("narrower", "p.sbx:/work", "write /work", "without mounts /home/me/t keeps its own name")]
    assert said(prepared, "p.sbx:/work/.git") == [
        "hide /work/.git: Landlock takes no right away below a grant: /home/me/t/.git can be read and changed and run"
    ]


def test_read_below_write_is_lost() -> None:
    prepared = plan(bind("/work", write=True), bind("/work/.git"))
    assert said(prepared, "p.sbx:/work/.git") == [
        "read /work/.git: Landlock takes no right away below a grant: /work/.git can be changed"
    ]
    assert said(prepared, "p.sbx:/work") == []


def test_hide_below_a_readable_root_is_lost() -> None:
    assert said(plan(hide("/root"), host_root=True), "p.sbx:/root") == [
        "hide /root: Landlock takes no right away below a grant: /root can be read and run"
    ]


def test_hide_where_nothing_is_granted_is_kept() -> None:
    assert said(plan(bind("/usr"), hide("/srv")), "p.sbx:/srv") == []


def test_write_below_read_is_kept() -> None:
    assert said(plan(bind("/work"), bind("/work/out", write=True)), "p.sbx:/work/out") == []


def test_noexec_is_half_kept() -> None:
    (alone,) = said(plan(bind("/data", noexec=True)), "p.sbx:/data")
    assert alone.startswith("read /data noexec: Landlock stops execve(2) alone")
    (below,) = said(plan(bind("/usr"), bind("/usr/data", noexec=True)), "p.sbx:/usr/data")
    assert below.endswith("/usr/data can be run")


def test_a_private_folder_is_the_hosts() -> None:
    assert granted(plan(tmp("/tmp")))["/tmp"] == READ | WRITE | RUN
    assert said(plan(tmp("/tmp")), "p.sbx:/tmp") == [
        "tmp /tmp: not private: the host's own folder is written to, and stays written, "
        "without its limit of size and inodes"
    ]


def test_a_pinned_folder_says_nothing() -> None:
    prepared = plan(bind("/work", write=True), bind("/work/a", write=True)._replace(pin=True), bind("/work/a/.git"))
    assert "/work/a" not in granted(prepared)
    assert len(areas(prepared)) == 2


def test_masks_of_proc() -> None:
    prepared = plan(masks=(Mask("kcore", True, "p.sbx:1"), Mask("sys", False, "p.sbx:2")))
    assert said(prepared, "p.sbx:1") == ["hide /proc/kcore: below /proc, which is readable"]
    assert said(prepared, "p.sbx:2") == []
    assert len(said(prepared, "p.sbx:2", 0)) == 1
    assert said(prepared._replace(mounts=(bind("/", write=True),)), "p.sbx:2") == [
        "read-only /proc/sys: /proc is below a writable path"
    ]


def names(version: int, **more: Any) -> str:  # noqa: ANN401
    return "\n".join(f"{one.direction} {one.text}: {one.why}" for one in losses(plan(bind("/usr"), **more), version))


@pytest.mark.parametrize(("since", "part"), [
    (1, "this kernel has no Landlock"),
    (2, "narrower files: before Landlock ABI 2"),
    (3, "truncate(2)"),
    (5, "ioctl(2)"),
    (6, "abstract Unix socket"),
    (6, "signals reach"),
])  # fmt: skip
def test_what_an_older_abi_lacks_is_named(since: int, part: str) -> None:
    for version in range(landlock.NEWEST + 1):
        if since == 1:
            assert (part in names(version)) == (version == 0)
        elif version or "reach" in part or "abstract" in part:
            assert (part in names(version)) == (version < since)


@pytest.mark.parametrize(
    "part", ["chmod, chown, utimes and setxattr", "stat(2)", "pathname Unix sockets", "/proc is visible"]
)
@pytest.mark.parametrize("version", range(landlock.NEWEST + 1))
def test_what_no_abi_has_is_always_named(version: int, part: str) -> None:
    assert part in names(version)


def test_sockets_are_no_loss_where_the_network_is_the_hosts() -> None:
    assert "Unix socket" not in names(landlock.NEWEST, network="host")


PLACES = ("/", "/a", "/a/b", "/a/b/c", "/a/d", "/e", "/e/f")


@st.composite
def plans(draw: st.DrawFn) -> Prepared:
    mounts: list[Mount] = []
    for place in draw(st.sets(st.sampled_from(PLACES))):
        kind = draw(st.sampled_from(("read", "write", "hide", "tmp")))
        noexec = draw(st.booleans())
        made = {"hide": hide(place), "tmp": tmp(place)}
        mounts.append(made.get(kind) or bind(place, write=kind == "write", noexec=noexec))
    return plan(*mounts, host_root=draw(st.booleans()))


@given(plans())
def test_a_path_has_exactly_its_rights_or_a_loss_says_what_more(prepared: Prepared) -> None:
    grants = rules(prepared).grants
    lost = {one.where for one in losses(prepared, landlock.NEWEST) if one.direction == "wider"}
    for area in areas(prepared):
        have = excess(area.path, Fs(0), grants)
        assert have & wanted(area.mount) == wanted(area.mount), "nothing less than was asked for"
        if have != wanted(area.mount):
            assert area.mount.where in lost


@given(plans(), st.sampled_from(PLACES))
def test_no_right_comes_from_nowhere(prepared: Prepared, path: str) -> None:
    """What is granted on a path is granted by the root, or by a statement about it or a folder above it."""
    have = excess(path, Fs(0), rules(prepared).grants)
    asked = READ | RUN if prepared.host_root else Fs(0)
    for area in areas(prepared):
        if path == area.path or path.startswith(area.path.rstrip("/") + "/"):
            asked |= wanted(area.mount)
    assert have & ~asked == Fs(0)


@given(plans())
def test_without_landlock_every_statement_is_a_loss(prepared: Prepared) -> None:
    lost = {one.where for one in losses(prepared, 0) if one.direction == "wider"}
    assert {area.mount.where for area in areas(prepared)} <= lost


def test_a_file_beside_a_granted_one_is_not_below_it() -> None:
    assert excess("/usr2", Fs(0), (Grant("/usr", READ),)) == Fs(0)
    assert excess("/usr", Fs(0), (Grant("/usr", READ),)) == READ
