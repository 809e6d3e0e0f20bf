"""`network none`: no socket file of the host is connected to, whatever name it was bound by; each with its control."""

import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

import sbc_runtime
from sbc_runtime import scheduling, unix_diag
from sbc_runtime.job import BackendChoice
from sbc_runtime.job import Caller as HostProcess
from sbc_runtime.mount_sources import closed_targets
from sbc_runtime.outcome import Outcome
from sbc_runtime.plan import Statement
from sbc_runtime.prepare import socket_search
from sbc_runtime.prepare.host_mounts import HostMounts, read
from sbc_runtime.prepare.layout import Layout, bind
from sbc_runtime.prepare.paths import resolve
from sbc_runtime.prepare.socket_search import Search
from sbc_runtime.prepare.sockets import Covers, Shown, cover
from sbc_runtime.prepare.values import Bases
from sbc_runtime.prepared import Ids, Mount
from tests.runtime.support import PATHS, SYSTEM, Caller, bundle, missing, out
from tests.runtime.test_bwrap_finish import prepared

BACKENDS: tuple[BackendChoice, ...] = ("namespace", "bwrap")
BASE = f"root private; {SYSTEM}; devices minimal"
HOST = "root host; read /; devices minimal; start-in /"
CONNECT = """
import socket, sys
for path in sys.argv[1:]:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        try:
            socket.socket(socket.AF_UNIX, kind).connect(path)
            print('reached')
            break
        except OSError:
            pass
    else:
        print('not')
"""
CALLER = HostProcess("/", "/nowhere", None, "/tmp", (), scheduling.own())
Bind = Callable[[Path], AbstractContextManager[None]]


@contextmanager
def listening(path: Path | str, kind: int = socket.SOCK_STREAM) -> Generator[None]:
    with socket.socket(socket.AF_UNIX, kind) as one:
        one.bind(str(path))
        if kind == socket.SOCK_STREAM:
            one.listen()
        Path(path).chmod(0o777)
        yield


@contextmanager
def by_name(path: Path) -> Generator[None]:
    with listening(path):
        yield


@contextmanager
def datagrams(path: Path) -> Generator[None]:
    with listening(path, socket.SOCK_DGRAM):
        yield


@contextmanager
def relative(path: Path) -> Generator[None]:
    before = Path.cwd()
    os.chdir(path.parent)
    try:
        with listening(path.name):
            os.chdir(before)
            yield
    finally:
        os.chdir(before)


@contextmanager
def renamed(path: Path) -> Generator[None]:
    other = path.with_name("before")
    with listening(other):
        other.rename(path)
        yield


@contextmanager
def linked(path: Path) -> Generator[None]:
    other = path.parent.parent / "elsewhere"
    with listening(other):
        os.link(other, path)
        yield
    other.unlink()


BIND = """
import os, socket, subprocess, sys
how, folder, name = sys.argv[1:]
if how == "chroot":
    os.chroot(folder)
    name = "/" + name
else:
    subprocess.run(["mount", "--bind", folder, "/mnt"], check=True)
    name = "/mnt/" + name
s = socket.socket(socket.AF_UNIX)
s.bind(name); os.chmod(name, 0o777); s.listen()
print("there", flush=True)
sys.stdin.read()
"""


@contextmanager
def elsewhere(how: str, path: Path) -> Generator[None]:
    """Bind in another root, or in another mount namespace."""
    unshare = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-Urm"]
    command = [*unshare, sys.executable, "-c", BIND, how, str(path.parent), path.name]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "there\n"
        try:
            yield
        finally:
            process.stdin.close()


WAYS: dict[str, Bind] = {
    "name": by_name,
    "datagram": datagrams,
    "relative": relative,
    "renamed": renamed,
    "linked": linked,
    "chroot": lambda path: elsewhere("chroot", path),
    "mount namespace": lambda path: elsewhere("mount", path),
}


@pytest.fixture
def tree(caller: Caller) -> Path:
    top = caller.tree()
    for name in ("w", "w/deep", "w/deep/er", "r"):
        (top / name).mkdir()
        caller.own(top / name)
    return top


def attempt(
    caller: Caller, profile: str, paths: list[str], tree: Path, backend: str, *, wider: bool = False
) -> Outcome:
    made = bundle(f"param t : dir\n{profile}; {PATHS}")
    argv = ["/usr/bin/python3", "-c", CONNECT, *paths]
    return caller.run(made, argv, {"t": tree}, backend=backend, allow_wider=wider)


@pytest.mark.parametrize(
    ("way", "backend"),
    [*((way, "namespace") for way in WAYS), *((way, "bwrap") for way in ("name", "renamed", "mount namespace"))],
)
def test_a_socket_in_what_is_shown(caller: Caller, tree: Path, way: str, backend: str) -> None:
    shown = f"files {{ {BASE}; write ${{t}}/w as /w; read ${{t}}/r as /r; start-in /w }}"
    for path, place in ((tree / "w/deep/er/s", "/w/deep/er/s"), (tree / "r/s", "/r/s")):
        with WAYS[way](path):
            assert out(attempt(caller, f"{shown}; network host", [place], tree, backend)) == "reached\n"
            outcome = attempt(caller, f"{shown}; network none", [place], tree, backend)
            assert out(outcome) == "not\n"
            assert place in outcome.covered


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("way", ["name", "relative"])
def test_the_hosts_tree(caller: Caller, tree: Path, way: str, backend: str) -> None:
    path = tree / "w/s"
    with WAYS[way](path):
        for shown in (
            f"files {{ {HOST}; write ${{t}}/w }}",
            f"files {{ {BASE}; read /; write ${{t}}/w; start-in / }}",
            f"files {{ {BASE}; read /var; read /run; write ${{t}}/w; start-in / }}",
        ):
            assert out(attempt(caller, f"{shown}; network host", [str(path)], tree, backend)) == "reached\n"
            outcome = attempt(caller, f"{shown}; network none", [str(path)], tree, backend)
            assert out(outcome) == "not\n"


@pytest.mark.parametrize("root", ["root private", "root host; read /"])
@pytest.mark.parametrize(("devices", "where"), [("host", "/dev"), ("minimal", "/dev"), ("host", "/dev/shm")])
def test_among_devices(caller: Caller, tree: Path, devices: str, where: str, root: str) -> None:
    """Sockets in the host's /dev; the sandbox's own shm stays one that can be written to."""
    if os.geteuid() != 0 and where == "/dev":
        missing("root", "only root can make a file in /dev")
    path = Path(f"{where}/sbc-test-{os.getpid()}")
    system = SYSTEM if "private" in root else "read /"
    shown = (
        f"files {{ {root.split(';', maxsplit=1)[0]}; {system}; devices {devices}; write ${{t}}/w; start-in ${{t}}/w }}"
    )
    try:
        with by_name(path):
            if devices == "host" and where == "/dev":
                assert out(attempt(caller, f"{shown}; network host", [str(path)], tree, "namespace")) == "reached\n"
            assert out(attempt(caller, f"{shown}; network none", [str(path)], tree, "namespace")) == "not\n"
            made = bundle(f"param t : dir\n{shown}; network none; {PATHS}")
            assert out(caller.run(made, "echo x >/dev/shm/x && cat /dev/shm/x", {"t": tree})) == "x\n"
    finally:
        path.unlink()


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_statement_that_names_a_socket(caller: Caller, tree: Path, backend: str) -> None:
    shown = f"files {{ {BASE}; read ${{t}}/r/s as /s; write ${{t}}/w as /w; start-in /w }}"
    with by_name(tree / "r/s"):
        outcome = attempt(caller, f"{shown}; network none", ["/s"], tree, backend)
        assert outcome.kind == "setup-failed"
        assert outcome.failure is not None
        assert str(tree / "r/s") in outcome.failure.why
        outcome = attempt(caller, f"{shown}; network none", ["/s"], tree, backend, wider=True)
        assert out(outcome) == "reached\n"
        assert [one.direction for one in outcome.losses if "r/s" in one.why] == ["wider"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_list_lets_one_through_and_no_other(caller: Caller, tree: Path, backend: str) -> None:
    one, other = tree / "r/one", tree / "r/other"
    with by_name(one), by_name(other):
        for files in (
            f"files {{ {BASE}; read ${{t}}/r; write ${{t}}/w as /w; start-in /w }}",
            f"files {{ {BASE}; write ${{t}}/w as /w; start-in /w }}",
            f"files {{ {HOST}; write ${{t}}/w }}",
        ):
            made = f"{files}; network none {{ unix ${{t}}/r/one }}"
            assert out(attempt(caller, made, [str(one), str(other)], tree, backend)) == "reached\nnot\n", files


@pytest.mark.parametrize("what", ["w", "w/file"])
def test_the_list_takes_sockets_alone(caller: Caller, tree: Path, what: str) -> None:
    (tree / "w/file").touch()
    made = f"files {{ {BASE}; write ${{t}}/w as /w; start-in /w }}; network none {{ unix ${{t}}/{what} }}"
    outcome = attempt(caller, made, [], tree, "namespace")
    assert outcome.failure is not None
    assert "is not a socket" in outcome.failure.why


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_socket_in_a_closed_folder(backend: str) -> None:
    """The command cannot use it; bubblewrap cannot cover it."""
    caller = Caller("root")
    tree = caller.tree()
    closed = tree / "closed"
    closed.mkdir(mode=0o700)
    with by_name(closed / "s"):
        for shown in (f"files {{ {HOST}; write ${{t}} }}", f"files {{ {BASE}; read /var; write ${{t}}; start-in / }}"):
            outcome = attempt(caller, f"{shown}; network none", [str(closed / "s")], tree, backend)
            assert out(outcome) == "not\n"
            # Where it cannot be covered, it is told: modes may change.
            covered = str(closed / "s") in outcome.covered
            assert covered is (backend == "namespace")
            assert covered or [one for one in outcome.notes if str(closed / "s") in one]


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder of root's, or of the caller's, that is below none of those that are always covered."""
    parent = next(one for one in (Path("/srv"), Path("/opt"), Path.home()) if os.access(one, os.W_OK))
    with tempfile.TemporaryDirectory(prefix="sbc-test-", dir=parent) as made:
        Path(made).chmod(0o755)
        yield Path(made)


def test_a_runtime_folder(caller: Caller, outside: Path) -> None:
    """It is covered as a whole, so that a socket that is bound there later is not seen either."""
    folder, tree = outside / "run", outside / "tree"
    for one in (folder, tree):
        one.mkdir()
        caller.own(one)
    folder.chmod(0o700)
    (folder / "file").touch()
    if caller.name == "root":
        os.chown(folder, 0, 0)
    tree.chmod(0o700)
    made = bundle(f"param t : dir\nfiles {{ {HOST}; write ${{t}} }}; network none; {PATHS}")
    for variable, covered in ((folder, True), (tree, False), (outside, False), ("/", False), ("/usr", False)):
        environ = {"XDG_RUNTIME_DIR": str(variable)}
        outcome = caller.run(made, f"ls -A {variable} | wc -l", {"t": tree}, environ=environ)
        assert (str(variable) in outcome.covered) is covered, variable
        if covered:
            assert out(outcome) == "0\n"
    # What is open to others is not what the variable's specification says.
    folder.chmod(0o755)
    outcome = caller.run(made, f"ls -A {folder} | wc -l", {"t": tree}, environ={"XDG_RUNTIME_DIR": str(folder)})
    assert out(outcome) == "1\n"


def shown(layout: Layout, host_user: int) -> Shown:
    ids = Ids(1000, 1000, host_user, host_user, False)
    statement = Statement("network", "p.sbx", 1, "network none", "")
    return Shown(layout, Bases({}, None), ids, CALLER, frozenset(), statement, "minimal")


@pytest.mark.parametrize("most", [3, 10_000])
def test_what_is_too_large_to_be_searched_is_told(tmp_path: Path, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_search, "MOST_NAMES", most)
    for number in range(9):
        (tmp_path / f"f{number}").touch()
    (tmp_path / "z").mkdir()
    found = resolve(str(tmp_path), "test")
    assert found is not None
    with relative(tmp_path / "z/s"):
        for host_user, is_own in ((os.geteuid(), True), (os.geteuid() + 1, False)):
            layout = Layout(host_root=False)
            layout.add(bind(found, "/w", "test", read_only=False))
            covers = cover(shown(layout, host_user), read())
            if most == 3:
                assert covers.places == ()
                assert [one.direction for one in covers.losses] == ["wider"] * is_own
                told = covers.losses[0].why if is_own else covers.notes[-1]
                assert "`/w`" in told
                assert "`s`" in told
            else:
                assert covers._replace(bound=()) == Covers(("/w/z/s",), (), ())


def test_system_folders_are_not_searched() -> None:
    layout = Layout(host_root=False)
    found = resolve("/usr", "test")
    assert found is not None
    layout.add(bind(found, "/usr", "test", read_only=True))
    mounts = read()
    here = mounts.of("/usr")
    assert here is not None
    search = Search(layout, mounts, frozenset({here.device}))
    assert list(search.sockets()) == []
    assert (search.system, search.unsearched) == ([(here.device, "/usr")], [])


def test_a_file_is_known_by_every_mount_that_shows_it() -> None:
    mounts = HostMounts(
        b"1 0 8:1 / / rw - ext4 /dev/a rw\n"
        b"2 1 8:2 / /data rw - ext4 /dev/b rw\n"
        b"3 1 8:2 /in /other\\040place rw - ext4 /dev/b rw\n"
        b"4 1 8:2 /in/x/y /third rw - ext4 /dev/b rw\n"
        b"5 3 8:3 / /other\\040place/x rw - ext4 /dev/c rw\n"
    )
    assert mounts.names("/data/in/s") == ["/data/in/s", "/other place/s"]
    assert mounts.names("/data/in/x/y/s") == ["/data/in/x/y/s", "/third/s"]
    assert mounts.names("/data/s") == ["/data/s"]
    assert mounts.names("/data/int/s") == ["/data/int/s"]


LATE = """
import socket, sys
print('ready', flush=True)
sys.stdin.read(1)
try:
    socket.socket(socket.AF_UNIX).connect(sys.argv[1])
    print('reached')
except OSError:
    print('not')
"""


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("where", "seen"), [("w/new", True), ("w/old", True), ("r/closed/new", False)])
def test_what_is_bound_during_a_run_is_told(backend: BackendChoice, where: str, seen: bool) -> None:
    """It is not kept from the command, but where a folder is covered as a whole."""
    caller = Caller("root" if os.geteuid() == 0 else "user")
    tree = caller.tree()
    for name in ("w", "r", "r/closed"):
        (tree / name).mkdir()
        caller.own(tree / name)
    made = bundle(
        f"param t : dir\nfiles {{ {BASE}; write ${{t}}/w; read ${{t}}/r; hide ${{t}}/r/closed; start-in / }}; {PATHS};"
        "network none"
    )
    (here, stdin), (stdout, there) = os.pipe(), os.pipe()
    with by_name(tree / "w/old"):
        argv = ["/usr/bin/python3", "-c", LATE, str(tree / where)]
        started = sbc_runtime.load(made).start(argv, params={"t": str(tree)}, stdin=here, stdout=there, backend=backend)
        os.close(there)
        assert os.read(stdout, 100) == b"ready\n"
        (tree / where).unlink(missing_ok=True)
        with by_name(tree / where):
            os.write(stdin, b"x")
            outcome = started.wait()
    told = os.read(stdout, 100)
    for one in (here, stdin, stdout):
        os.close(one)
    assert outcome.kind == "exited", outcome.failure
    assert told == (b"reached\n" if seen else b"not\n")
    assert bool([one for one in outcome.notes if str(tree / where) in one]) is seen


@pytest.mark.parametrize("where", ["w", "closed"])
def test_sockets_come_and_go(tree: Path, caller: Caller, where: str) -> None:
    """One that is removed while the sandbox is made needs no cover, and ends no run; nor does its folder."""
    if where == "closed" and caller.name != "root":
        pytest.skip("an ordinary user could not get there itself")
    files = f"{BASE}; read ${{t}} as /t; write ${{t}}/w as /w; start-in /w"
    made = bundle(f"param t : dir\nfiles {{ {files} }}; {PATHS}; network none")
    over = threading.Event()

    def come_and_go() -> None:
        number = 0
        while not over.is_set():
            number += 1
            folder = tree / "w" if where == "w" else tree / f"closed-{number}"
            folder.mkdir(mode=0o700, exist_ok=True)
            with by_name(folder / f"{number}"):
                (folder / f"{number}").unlink()
            if where != "w":
                folder.rmdir()

    other = threading.Thread(target=come_and_go)
    other.start()
    try:
        ends = [caller.run(made, ["/bin/true"], {"t": tree}, backend="namespace") for _ in range(12)]
    finally:
        over.set()
        other.join()
    assert {(one.kind, one.failure) for one in ends} == {("exited", None)}


def test_a_cover_in_a_closed_folder_that_is_gone(tmp_path: Path) -> None:
    """Root finds it gone before the command's ids could only say that they may not look."""
    if os.geteuid() != 0:
        missing("root", "an ordinary user could not get there itself")
    (tmp_path / "closed").mkdir(mode=0o700)
    status = tmp_path.stat()
    shown = Mount("bind", "/t", str(tmp_path), status.st_dev, status.st_ino, True, True, False, 0, 0, "p.sbx:1")
    covers = [
        shown._replace(kind="hide", place=f"/t/{one}", source="", directory=False) for one in ("closed/s", "no/s")
    ]
    covers = [one._replace(where="network none") for one in covers]
    plan = prepared(shown, *covers)
    trees = {"/t": os.open(tmp_path, os.O_PATH)}
    assert [one.may_vanish for one in covers] == [True, True]
    assert closed_targets(plan, trees) == ({}, frozenset({"/t/closed/s", "/t/no/s"}))
    os.close(trees["/t"])


def test_a_backend_without_mounts_covers_nothing(caller: Caller, tree: Path) -> None:
    with by_name(tree / "w/s"):
        made = f"files {{ {HOST}; write ${{t}}/w }}; network none"
        outcome = attempt(caller, made, [str(tree / "w/s")], tree, "process", wider=True)
        assert out(outcome) == "reached\n"
        assert outcome.covered == ()
        assert [one for one in outcome.losses if "pathname Unix sockets" in one.why]


def test_the_kernel_tells_inodes(tmp_path: Path) -> None:
    with relative(tmp_path / "s"):
        told = unix_diag.bound()
        assert told is not None
        seen = (tmp_path / "s").stat()
        mine = [one for one in told if one.name == "s" and one.inode == seen.st_ino & 0xFFFFFFFF]
        device = f"{os.major(seen.st_dev)}:{os.minor(seen.st_dev)}"
        assert [(one.device, one.uid) for one in mine] == [(device, os.geteuid())]


def test_ends_of_connections_are_left_out(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as client:
        listener.bind(str(tmp_path / "s"))
        listener.listen()
        client.connect(str(tmp_path / "s"))
        accepted, _ = listener.accept()
        told = unix_diag.bound() or ()
        accepted.close()
        assert len([one for one in told if one.name == str(tmp_path / "s")]) == 1
