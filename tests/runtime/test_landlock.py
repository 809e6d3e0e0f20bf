"""Landlock under every ABI up to this kernel's: what a ruleset stops, and what the older ones do not."""

import errno
import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from sbc_runtime import landlock, libc
from sbc_runtime.errors import SetupFailed
from sbc_runtime.landlock import READ, WRITE, Fs, Grant, Net, Rules, Scope
from sbc_runtime.landlock_calls import restrict

HERE = landlock.abi()
pytestmark = pytest.mark.skipif(HERE == 0, reason="this kernel has no Landlock, or has it switched off")

VERSIONS = range(1, HERE + 1)
BOTH = Scope.ABSTRACT_UNIX_SOCKET | Scope.SIGNAL


def inside(rules: Rules, version: int, act: Callable[[], object]) -> str:
    """Give what `act` returns under a ruleset, or the name of the errno that it fails with."""
    out, out_inner = os.pipe()
    pid = os.fork()
    if pid == 0:
        text = "broken"
        try:
            ruleset = landlock.prepare(rules, version)
            libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
            landlock.apply(ruleset, version)
            text = str(act())
        except OSError as error:
            text = errno.errorcode[error.errno or 0]
        finally:
            os.write(out_inner, text.encode())
            os._exit(0)
    os.close(out_inner)
    os.waitpid(pid, 0)
    text = os.read(out, 4096).decode()
    os.close(out)
    return text


def files(*grants: Grant) -> Rules:
    return Rules(grants, None, Scope(0))


class Tree:
    """A folder to read, one to write, one that nothing is said of; each with a file and a folder."""

    def __init__(self, top: Path) -> None:
        self.read, self.write, self.other = (top / name for name in ("read", "write", "other"))
        for folder in (self.read, self.write, self.other):
            (folder / "folder").mkdir(parents=True)
            (folder / "file").write_text("text")
            (folder / "program").write_text("#!/bin/sh\nexit 7\n")
            (folder / "program").chmod(0o755)
        self.rules = files(Grant(str(self.read), READ | Fs.EXECUTE), Grant(str(self.write), READ | WRITE | Fs.EXECUTE))


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_the_abi_is_one_that_is_known() -> None:
    assert 1 <= HERE <= landlock.NEWEST


def test_an_abi_handles_all_that_the_one_before_does() -> None:
    for version in range(2, landlock.NEWEST + 1):
        assert landlock.handled_fs(version - 1) & ~landlock.handled_fs(version) == Fs(0)
    assert landlock.handled_fs(landlock.NEWEST) == ~Fs(0)


@pytest.mark.parametrize("version", VERSIONS)
def test_reading(tree: Tree, version: int) -> None:
    for folder, seen in ((tree.read, "text"), (tree.write, "text"), (tree.other, "EACCES")):
        assert inside(tree.rules, version, (folder / "file").read_text) == seen
        listed = inside(tree.rules, version, lambda folder=folder: sorted(path.name for path in folder.iterdir()))
        assert listed == ("EACCES" if seen == "EACCES" else "['file', 'folder', 'program']")


@pytest.mark.parametrize("version", VERSIONS)
def test_changing(tree: Tree, version: int) -> None:
    changes: tuple[Callable[[Path], object], ...] = (
        lambda top: (top / "file").open("a").close(),
        lambda top: (top / "new").write_text("x"),
        lambda top: (top / "folder" / "x").mkdir(),
        lambda top: (top / "link").symlink_to("x"),
        lambda top: os.mkfifo(top / "fifo"),
        lambda top: (top / "new").rename(top / "newer"),
        lambda top: (top / "newer").unlink(),
        lambda top: (top / "folder" / "x").rmdir(),
    )
    for change in changes:
        assert inside(tree.rules, version, lambda change=change: change(tree.write)) != "EACCES"
        for folder in (tree.read, tree.other):
            assert inside(tree.rules, version, lambda change=change, top=folder: change(top)) in {"EACCES", "ENOENT"}
    assert sorted(path.name for path in tree.read.iterdir()) == ["file", "folder", "program"]
    assert sorted(path.name for path in tree.write.iterdir()) == ["fifo", "file", "folder", "link", "program"]


@pytest.mark.parametrize("version", VERSIONS)
def test_running(tree: Tree, version: int) -> None:
    system = [Grant(path, READ | Fs.EXECUTE) for path in ("/usr", "/lib", "/lib64", "/bin") if Path(path).exists()]
    system = [Grant(os.path.realpath(one.path), one.rights) for one in system]
    rules = files(*tree.rules.grants, *system, Grant(f"{tree.other}/program", READ))

    def started(program: Path) -> int:
        pid = os.fork()
        if pid == 0:
            try:
                os.execv(program, [str(program)])  # noqa: S606
            except OSError as error:
                os._exit(error.errno or 0)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    assert inside(rules, version, lambda: started(tree.read / "program")) == "7"
    assert inside(rules, version, lambda: started(tree.other / "program")) == str(errno.EACCES), "readable, no more"


@pytest.mark.parametrize("version", VERSIONS)
def test_truncation_is_free_before_abi_3(tree: Tree, version: int) -> None:
    seen = inside(tree.rules, version, lambda: os.truncate(tree.read / "file", 0))
    assert seen == ("None" if version < 3 else "EACCES")
    assert inside(tree.rules, version, lambda: os.truncate(tree.write / "file", 0)) == "None"


@pytest.mark.parametrize("version", VERSIONS)
def test_nothing_moves_between_folders_before_abi_2(tree: Tree, version: int) -> None:
    seen = inside(tree.rules, version, lambda: (tree.write / "file").rename(tree.write / "folder" / "file"))
    assert seen == "EXDEV" if version < 2 else seen.endswith("/folder/file")


@pytest.mark.parametrize("version", VERSIONS)
def test_tcp_from_abi_4(version: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def connect() -> None:
            with socket.socket() as one:
                one.connect(("127.0.0.1", port))

        def bind() -> None:
            with socket.socket() as one:
                one.bind(("127.0.0.1", 0))

        none = Rules((), (), Scope(0))
        expected = "None" if version < 4 else "EACCES"
        assert inside(none, version, connect) == expected
        assert inside(none, version, bind) == expected
        one = Rules((), ((port, Net.CONNECT),), Scope(0))
        assert inside(one, version, connect) == "None"
        assert inside(one, version, bind) == expected


@pytest.mark.parametrize("version", VERSIONS)
def test_abstract_sockets_and_signals_from_abi_6(version: int) -> None:
    name = f"\0landlock-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()

        def connect() -> None:
            with socket.socket(socket.AF_UNIX) as one:
                one.connect(name)

        expected = "None" if version < 6 else "EPERM"
        assert inside(Rules((), None, BOTH), version, connect) == expected
        assert inside(Rules((), None, Scope.SIGNAL), version, connect) == "None"
    parent = os.getpid()
    assert inside(Rules((), None, BOTH), version, lambda: os.kill(parent, 0)) == expected
    assert inside(Rules((), None, Scope.ABSTRACT_UNIX_SOCKET), version, lambda: os.kill(parent, 0)) == "None"


@pytest.mark.parametrize("version", VERSIONS)
def test_pathname_sockets_are_not_covered(tmp_path: Path, version: int) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        server.listen()

        def connect() -> None:
            with socket.socket(socket.AF_UNIX) as one:
                one.connect(str(tmp_path / "socket"))

        assert inside(Rules((), (), BOTH), version, connect) == "None"


@pytest.mark.parametrize("version", VERSIONS)
def test_metadata_is_not_covered(tree: Tree, version: int) -> None:
    file = tree.other / "file"
    assert inside(tree.rules, version, lambda: file.stat().st_size) == "4"
    assert inside(tree.rules, version, lambda: file.chmod(0o600)) == "None"
    assert inside(tree.rules, version, lambda: os.utime(file)) == "None"


@pytest.mark.parametrize("version", VERSIONS)
def test_no_right_is_taken_away_below_a_grant(tree: Tree, version: int) -> None:
    folder = tree.write / "folder"
    rules = files(Grant(str(tree.write), READ | WRITE), Grant(str(folder), READ))
    assert inside(rules, version, lambda: (folder / "new").write_text("x")) == "1"


def test_a_process_outside_cannot_be_looked_into() -> None:
    parent = os.getpid()
    assert Path(f"/proc/{parent}/exe").readlink()
    rules = files(Grant("/proc", READ))
    assert inside(rules, HERE, lambda: Path(f"/proc/{parent}/exe").readlink()) == "EACCES"
    assert inside(rules, HERE, lambda: Path(f"/proc/{parent}/mem").open("rb").close()) == "EACCES"


def test_what_is_replaced_during_the_set_up_is_refused(tree: Tree) -> None:
    seen = tree.read.stat()
    right = files(Grant(str(tree.read), READ, seen.st_dev, seen.st_ino))
    assert inside(right, HERE, lambda: 1) == "1"
    wrong = files(Grant(str(tree.read), READ, seen.st_dev, seen.st_ino + 1, where="p.sbx:1"))
    with pytest.raises(SetupFailed, match=r"was replaced during the set-up \(p.sbx:1\)"):
        landlock.prepare(wrong, HERE)


def test_a_missing_path_is_refused_unless_it_is_optional(tmp_path: Path) -> None:
    missing = Grant(str(tmp_path / "missing"), READ)
    with pytest.raises(SetupFailed, match="No such file"):
        landlock.prepare(files(missing), HERE)
    os.close(landlock.prepare(files(missing._replace(optional=True)), HERE))


def test_a_link_is_not_followed(tree: Tree) -> None:
    link = tree.read / "link"
    link.symlink_to(tree.other)
    rules = files(Grant(str(link), READ))
    assert inside(rules, HERE, (tree.other / "file").read_text) == "EACCES"


def test_a_ruleset_is_left_by_nothing(tree: Tree) -> None:
    """A second ruleset that grants everything adds nothing."""

    def again() -> str:
        landlock.apply(landlock.prepare(files(Grant("/", ~Fs(0))), HERE), HERE)
        return (tree.other / "file").read_text()

    assert inside(tree.rules, HERE, again) == "EACCES"


def test_without_no_new_privs_an_ordinary_user_is_refused() -> None:
    if os.getuid():
        pytest.skip("needs root, to become an ordinary user")
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.setresuid(1001, 1001, 1001)
            landlock.apply(landlock.prepare(files(), HERE), HERE)
        except SetupFailed as failed:
            status = 0 if failed.failure.errno == errno.EPERM else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_children_are_restricted_too(tree: Tree) -> None:
    def child() -> int:
        pid = os.fork()
        if pid == 0:
            os.setsid()
            try:
                (tree.other / "file").read_text()
            except PermissionError:
                os._exit(3)
            os._exit(0)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    assert inside(tree.rules, HERE, child) == "3"


def test_signals_inside_are_free() -> None:
    def child() -> int:
        pid = os.fork()
        if pid == 0:
            signal.pause()
        os.kill(pid, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    assert inside(Rules((), None, BOTH), HERE, child) == "-9"


def test_flags_of_logging_are_abi_7s() -> None:
    for flag in landlock.Log:

        def act(flag: landlock.Log = flag) -> None:
            restrict(landlock.prepare(files(), HERE), flag)

        assert inside(files(), HERE, act) == ("None" if HERE >= 7 else "EINVAL")
