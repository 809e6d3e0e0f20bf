"""What stands for parameters on a Mac: either it is refused, or every path has the access that the profile says."""

import os
import stat
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sbc.diagnostics.span import Source
from sbc.seatbelt.decide import decide
from sbc.seatbelt.load import load
from sbc_runtime.bundle import decode
from sbc_runtime.errors import SetupFailed
from sbc_runtime.loaded import Loaded
from sbc_runtime.loader import for_machine
from sbc_runtime.macos.preparing import Ready, prepare
from sbc_runtime.macos.spelling import from_the_root
from sbc_runtime.macos.values import Host, resolved
from tests.runtime.support import bundle

READS = ("file-read-data", "file-read-metadata", "file-test-existence")
WRITES = ("file-write-data", "file-write-create", "file-write-mode", "file-link", "file-clone")
NAMES = ("a", "b", "A", "a/b", "a/b/c", "b/a", "B/a/k", "a/k", "a/k/w", "")
STATEMENTS = (
    "read ${x}", "write ${x}", "hide ${x}", "write ${y}", "read ${y}", "hide ${y} noexec", "read ${x}/k optional",
    "hide ${y}/k optional", "write ${y}/k/w optional", "hide ~/k optional", "write ~/w optional", "read ${tmpdir}",
    "write ${tmpdir}/k optional", "write ${cwd}", "hide ${x}/b noexec optional",
)  # fmt: skip


@cache
def site() -> Path:
    """Folders that values can name; it is removed at the end."""
    holder = tempfile.TemporaryDirectory(prefix="sbc-values-")
    _HELD.append(holder)
    top = Path(holder.name).resolve()
    for name in NAMES:
        (top / name).mkdir(parents=True, exist_ok=True)
    return top


_HELD: list["tempfile.TemporaryDirectory[str]"] = []


class Case(NamedTuple):
    statements: tuple[str, ...]
    root: Literal["host", "private"]
    values: dict[str, str]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    statements = draw(st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=4, unique_by=_subject))
    names = st.sampled_from(NAMES)
    values = {name: str(site() / draw(names)) for name in ("x", "y", "home", "HOME", "tmpdir", "cwd")}
    return Case(tuple(sorted(statements)), draw(st.sampled_from(["host", "private"])), values)


def _subject(statement: str) -> str:
    return statement.split()[1]


def loaded(case: Case) -> Loaded:
    text = (
        "sbx 1\nprofile p {\n  param x : dir\n  param y : dir\n"
        f"  files {{ root {case.root}; devices none; start-in /; {'; '.join(case.statements)} }}\n"
        f"  {'seatbelt { default allow }' if case.root == 'host' else ''}\n}}\n"
    ).replace("start-in /; ", "" if case.root == "private" else "start-in /; ")
    return for_machine(decode(bundle(text).read_bytes()), "darwin", "arm64", "little")


def settled(one: Loaded, values: dict[str, str]) -> Ready | SetupFailed:
    host = Host(501, values["home"], values["HOME"], values["tmpdir"], values["cwd"])
    try:
        return prepare(one, {"x": values["x"], "y": values["y"]}, host, None, allow_wider=True)
    except SetupFailed as failed:
        return failed


def stated(case: Case) -> Iterator[tuple[str, str, bool]]:
    """Give path, access and whether nothing may be executed, of each statement with its values."""
    names = {"${x}": "x", "${y}": "y", "~": "home", "${tmpdir}": "tmpdir", "${cwd}": "cwd"}
    for statement in case.statements:
        access, spelled, *rest = statement.split()
        base = next(one for one in names if spelled.startswith(one))
        homes = ("home", "HOME") if base == "~" and access == "hide" else (names[base],)
        for name in homes:
            yield case.values[name] + spelled.removeprefix(base), access, "noexec" in rest


def expected(case: Case, path: str) -> tuple[str, bool]:
    """Give the access by the contract: the most specific statement that covers the path decides, in either case."""
    found, depth = ("read" if case.root == "host" else "hide", False), -1
    for place, access, noexec in stated(case):
        covers = f"{path.lower()}/".startswith(f"{place.lower()}/")
        if covers and place.count("/") > depth:
            found, depth = (access, noexec), place.count("/")
    return found


@settings(max_examples=30, deadline=None)
@given(cases())
def test_it_is_refused_or_every_path_has_the_access_of_its_most_specific_statement(case: Case) -> None:
    one = loaded(case)
    ready = settled(one, case.values)
    if isinstance(ready, SetupFailed):
        return
    rules = load(Source("p.sb", ready.text), ready.values.given)
    places = {place for place, _, _ in stated(case)}
    above = {parent for place in places for parent in _above(place)}
    for path in {f"{place}{end}" for place in places for end in ("", "/child", "/child/deep", "x")}:
        access, noexec = expected(case, path)
        assert ready.areas.at(path).kind == (access, noexec), path
        on_the_way = path.lower() in above
        for name in READS:
            if not (on_the_way and access == "hide" and name != "file-read-data"):
                assert _allows(rules, name, path) == (access != "hide"), (path, name)
        for name in WRITES:
            assert _allows(rules, name, path) == (access == "write"), (path, name)
        assert _allows(rules, "process-exec", path) == (access != "hide" and not noexec), path
    protected = {place for place, access, _ in stated(case) if access != "write"}
    for path in {each for place in protected for each in (place, *_above(place))}:
        assert not _allows(rules, "file-write-unlink", path), path


def test_values_are_not_all_refused() -> None:
    case = Case(("hide ~/k optional", "write ${x}", "read ${x}/k optional"), "host", {})
    values = {"x": "a", "y": "b", "home": "b", "HOME": "", "tmpdir": "b", "cwd": "a"}
    assert isinstance(settled(loaded(case), {name: str(site() / one) for name, one in values.items()}), Ready)


def _allows(rules: object, operation: str, path: str) -> bool:
    return decide(rules, operation, path, {}).decision == "allow"  # type: ignore[arg-type]


def _above(path: str) -> list[str]:
    return [str(one).lower() for one in Path(path).parents if str(one) != "/"]


def told(statements: str, host: Host, **values: str) -> str:
    """Give what is refused, or nothing."""
    case = Case(tuple(statements.split("; ")), "host", {})
    params = {"x": str(site() / "a"), "y": str(site() / "b"), **values}
    try:
        prepare(loaded(case), params, host, None, allow_wider=True)
    except SetupFailed as failed:
        return str(failed)
    return ""


def host(**other: str) -> Host:
    top = site()
    return Host(501, str(top / "a"), None, str(top / "b"), str(top))._replace(**other)  # type: ignore[arg-type]


def test_tmpdir_has_to_be_a_folder_of_its_own(tmp_path: Path) -> None:
    top, use = site(), "write ${tmpdir}"
    assert told(use, host(tmpdir=str(top / "b" / "a")), y=str(top / "a" / "b")) == ""
    assert "holds" in told(use, host(tmpdir=str(top)))
    assert "holds" in told(use, host(tmpdir=str(top / "A"), home=str(top / "a" / "b")), x=str(top / "a"))
    assert "holds" in told(use, host(tmpdir=str(top / "b"), home_variable=str(top / "b" / "a")), y=str(top / "a"))
    assert "relative" in told(use, host(tmpdir="b"))
    assert "not a folder" in told(use, host(tmpdir="/dev/null"))
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    if os.getuid() == 0:
        os.chown(foreign, 61234, -1)
        assert "not a folder of yours" in told(use, host(tmpdir=str(foreign)))
        foreign.chmod(stat.S_ISVTX | 0o777)
        assert told(use, host(tmpdir=str(foreign))) == ""
    # What no rule uses may be anything.
    assert told("write ${x}", host(tmpdir="/nothing")) == ""


def test_values_have_their_types(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert "is not a folder" in told("write ${x}", host(), x=str(file))
    assert "No such file" in told("write ${x}", host(), x="/nothing")
    odd = tmp_path / "a\nb"
    odd.mkdir()
    assert "newline" in told("write ${x}", host(), x=str(odd))
    bytes_ = tmp_path / "\udcff"
    bytes_.mkdir()
    assert "UTF-8" in told("write ${x}", host(), x=str(bytes_))


def test_a_parameter_above_the_devices_is_refused() -> None:
    assert "one path" in told("write ${x}", host(), x="/")
    message = told("write ${x}", host(), x="/dev")
    assert "write ${x}" in message
    assert "devices none" in message


def test_links(tmp_path: Path) -> None:
    top = tmp_path.resolve()
    (top / "tree" / "real").mkdir(parents=True)
    (top / "tree" / "k").symlink_to("real")
    message = told("write ${x}; read ${x}/k optional", host(), x=str(top / "tree"))
    assert "leads through a link" in message
    assert "`write ${x}` decides" in message
    assert told("write ${x}; read ${x}/k optional; read ${x}/real", host(), x=str(top / "tree")) == ""
    (top / "tree" / "k").unlink()
    (top / "tree" / "k").symlink_to(top)
    assert "leads through a link" in told("write ${x}; read ${x}/k optional", host(), x=str(top / "tree"))
    # A parameter may be reached by a link: it is resolved.
    (top / "link").symlink_to(top / "tree")
    assert told("write ${x}", host(), x=str(top / "link")) == ""


def test_a_git_file_that_points_to_what_is_writable(tmp_path: Path) -> None:
    top = tmp_path.resolve()
    for name in ("tree", "outside/.git/worktrees/tree", "inside"):
        (top / name).mkdir(parents=True)
    (top / "tree" / ".git").write_text("gitdir: ../outside/.git/worktrees/tree\n")
    (top / "outside/.git/worktrees/tree/commondir").write_text("../..\n")
    rules = "write ${x}; read ${x}/.git optional"
    assert told(rules, host(), x=str(top / "tree")) == ""
    assert "points to" in told(f"{rules}; write ${{y}}", host(), x=str(top / "tree"), y=str(top / "outside"))
    (top / "tree" / ".git").write_text("gitdir: other")
    assert "points to" in told(rules, host(), x=str(top / "tree"))


@pytest.mark.parametrize(
    ("path", "real"),
    [
        ("/tmp/a", "/private/tmp/a"), ("/VAR", "/private/VAR"), ("/etc", "/private/etc"), ("/usr", "/usr"), ("/", "/"),
        ("/System/Volumes/Data/Users/u", "/Users/u"), ("/system/volumes/DATA/tmp/x", "/private/tmp/x"),
        ("/home/u", "/System/Volumes/Data/home/u"), ("/System/Volumes/Data", "/System/Volumes/Data"),
        ("/private/tmp", "/private/tmp"), ("/tmpx", "/tmpx"),
    ],
)  # fmt: skip
def test_the_root_of_every_mac(path: str, real: str) -> None:
    parts = tuple(part for part in path.split("/") if part)
    assert "/" + "/".join(from_the_root(parts)) == real


def test_values_are_spelled_from_the_root() -> None:
    assert resolved("/System/Volumes/Data/nothing/x") == "/nothing/x"
