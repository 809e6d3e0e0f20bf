"""Values of parameters: each one works, or is refused before anything runs, with what is wrong."""

import os
import socket
from pathlib import Path

import pytest

from tests.runtime.support import PATHS, Caller, bundle, out
from tests.runtime.test_paths import BASE, host, profile

TREE = profile("write ${t} as /w; read ${t}/.git optional; start-in /w", "network host")
HOST = "write ${t}; read ${t}/.git optional; start-in ${t}"


@pytest.fixture
def tree(caller: Caller) -> Path:
    """`a/b`, `file`, `fifo`, and links: `in -> a`, `proc -> /proc`, `round -> round`, `root -> /`."""
    made = caller.tree()
    (made / "a/b").mkdir(parents=True)
    (made / "file").write_text("x")
    os.mkfifo(made / "fifo")
    for name, target in (("in", "a"), ("proc", "/proc"), ("round", "round"), ("root", "/")):
        (made / name).symlink_to(target)
    caller.own(*made.rglob("*"))
    return made


def refusal(caller: Caller, made: Path, params: dict[str, object], backend: str) -> str:
    outcome = caller.run(made, ["/bin/true"], params, backend=backend)
    assert (outcome.kind, outcome.code, outcome.by) == ("setup-failed", 125, "sandbox"), outcome.failure
    assert outcome.failure is not None
    assert "[Errno" not in outcome.failure.why
    return str(outcome.failure)


NAMES = [
    b"n\xff\xfe", b"new\nline", b"co:lon", b"back\\slash", b"bl ank", b"${t}", b"$$", b"a" * 255, b"%s", b"tab\t",
    b"q\"'", b"--ro-bind", b"\\040", "ü".encode(),
]  # fmt: skip


@pytest.mark.parametrize("root", ["private", "host"])
def test_every_name(caller: Caller, backend: str, tree: Path, root: str) -> None:
    made = TREE if root == "private" else host(HOST, "network host")
    for name in NAMES:
        folder = os.fsencode(tree) + b"/" + name
        os.makedirs(folder + b"/.git")
        one = Path(os.fsdecode(folder))
        caller.own(one, one / ".git")
        script = "touch x; (touch .git/x) 2>/dev/null || echo held"
        assert out(caller.run(made, script, {"t": one}, backend=backend)) == "held\n", name
        assert sorted(os.listdir(folder)) == [b".git", b"x"], name


@pytest.mark.parametrize(
    "spelled", ["TREE/", "TREE/.", "TREE//", "TREE/a/..", "TREE/a/b/../../", "//TREE", "TREE/in/.."]
)
def test_every_spelling(caller: Caller, backend: str, tree: Path, spelled: str) -> None:
    value = spelled.replace("TREE", str(tree))
    assert out(caller.run(TREE, "ls a", {"t": value}, backend=backend)) == "b\n"
    assert out(caller.run(host(HOST, "network host"), "pwd", {"t": value}, backend=backend)) == f"{tree}\n"


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ("/", "would be seen below `/w`"),
        ("TREE/root", "would be seen below `/w`"),
        ("/proc", "a /proc of its own"),
        ("/proc/self", "a /proc of its own"),
        ("TREE/proc", "a /proc of its own"),
        ("/dev", "a /dev of its own"),
        ("/dev/shm", "a /dev of its own"),
        ("/sys", "the whole machine's"),
        ("TREE/file", "is not a folder"),
        ("TREE/none", "there is no"),
        ("TREE/round", "no circle of links"),
        ("/proc/self/fd/0", "no link of /proc is followed"),
        ("", "is empty"),
        ("a" * 300, "cannot be looked up"),
    ],
)
def test_what_no_tree_can_be(caller: Caller, backend: str, tree: Path, *, value: str, word: str) -> None:
    assert word in refusal(caller, TREE, {"t": value.replace("TREE", str(tree))}, backend)


@pytest.mark.parametrize("value", ["/run", "/etc", "/usr", "/home"])
def test_a_folder_of_the_system(backend: str, value: str) -> None:
    """Root is told that it is not the command's; for an ordinary user its modes decide."""
    told = refusal(Caller("root"), TREE, {"t": value}, backend)
    assert f"`{value}` belongs to 0:0" in told
    assert "chown" not in told
    user = Caller("user").run(TREE, "touch .sbc 2>/dev/null || echo held", {"t": value}, backend=backend)
    assert out(user) == "held\n"


PLACES = {
    "/": "which is no folder in a root",
    "/proc": "a /proc of its own",
    "/proc/sys": "a /proc of its own",
    "/dev/shm": "a /dev of its own",
    "TREE/proc": "a /proc of its own",
    "/usr": "two kinds of access",
    "/bin": "two kinds of access",
    "TREE/none": "there is no",
    "/run": "",
    "TREE": "",
    "TREE/in": "",
}


def test_the_place_of_a_private_folder(caller: Caller, backend: str, tree: Path) -> None:
    made = bundle(f"param p : path; files {{ {BASE}; tmp ${{p}} size 1MiB; start-in / }}; {PATHS}; network host")
    for value, word in PLACES.items():
        place = value.replace("TREE", str(tree))
        if word:
            assert word in refusal(caller, made, {"p": place}, backend), value
        else:
            real = os.path.realpath(place)
            outcome = caller.run(
                made, ["/bin/sh", "-c", 'ls -A "$0"; touch "$0/x"', real], {"p": place}, backend=backend
            )
            assert out(outcome) == "", value
            assert not os.path.exists(f"{real}/x")


def test_the_place_of_a_socket(caller: Caller, backend: str, tree: Path) -> None:
    made = bundle(f"param p : path; files {{ {BASE}; start-in / }}; {PATHS}; network none {{ unix ${{p}} }}")
    for value, word in {"/": "is not a socket", "TREE/file": "is not a socket", "TREE/none": "there is no"}.items():
        assert word in refusal(caller, made, {"p": value.replace("TREE", str(tree))}, backend), value
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tree / "s"))
        assert out(caller.run(made, f"ls {tree}", {"p": tree / "s"}, backend=backend)) == "s\n"


def test_one_below_another(caller: Caller, backend: str, tree: Path) -> None:
    files = f"files {{ {BASE}; write ${{t}}; read ${{u}}; start-in / }}; {PATHS}; network host"
    made = bundle(f"param t : dir; param u : dir; {files}")
    script = f"cd {tree}/a; (touch b/x) 2>/dev/null || echo b; (touch x) 2>/dev/null || echo a; touch {tree}/x"
    for value, held in {"a": ["b", "a"], "in": ["b", "a"], "a/b": ["b"], "..": []}.items():
        outcome = caller.run(made, script, {"t": tree, "u": tree / value}, backend=backend)
        assert out(outcome).split() == held, value
    assert "two kinds of access" in refusal(caller, made, {"t": tree, "u": tree}, backend)
    twice = bundle(f"param t : dir; param u : dir; {files.replace('read ${u}', 'write ${u}')}")
    assert out(caller.run(twice, script, {"t": tree, "u": tree}, backend=backend)) == ""


@pytest.mark.parametrize(
    ("value", "word"), [("TREE/file", "Not a directory"), ("/root", "No such file"), ("TREE/a", "")]
)
def test_where_it_starts(caller: Caller, backend: str, tree: Path, *, value: str, word: str) -> None:
    made = bundle(f"param t : dir; param p : path; files {{ {BASE}; write ${{t}}; start-in ${{p}} }}; {PATHS}")
    params: dict[str, object] = {"t": tree, "p": value.replace("TREE", str(tree))}
    if word:
        assert word in refusal(caller, made, params, backend)
    else:
        assert out(caller.run(made, "pwd", params, backend=backend)) == f"{tree}/a\n"


def test_what_a_read_path_is(caller: Caller, backend: str, tree: Path) -> None:
    """A file, a link, a named pipe, a socket, a device."""
    made = bundle(f"param p : path; files {{ {BASE}; read ${{p}}; start-in / }}; {PATHS}; network host")
    script = f"cat {tree}/file; (echo y > {tree}/file) 2>/dev/null || echo held"
    assert out(caller.run(made, script, {"p": tree / "file"}, backend=backend)) == "xheld\n"
    assert out(caller.run(made, f"readlink {tree}/in; ls {tree}/in", {"p": tree / "in"}, backend=backend)) == "a\nb\n"
    outcome = caller.run(made, f"test -p {tree}/fifo && echo pipe", {"p": tree / "fifo"}, backend=backend)
    assert out(outcome) == "pipe\n"
    assert any("named pipe" in one for one in outcome.notes)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tree / "s"))
        assert (
            out(caller.run(made, f"test -S {tree}/s && echo socket", {"p": tree / "s"}, backend=backend)) == "socket\n"
        )
    assert "a /dev of its own" in refusal(caller, made, {"p": "/dev/null"}, backend)


def test_a_device_elsewhere(backend: str) -> None:
    root = Caller("root")
    place = root.tree() / "null"
    os.mknod(place, 0o020666, os.makedev(1, 3))
    made = bundle(f"param p : path; files {{ {BASE}; read ${{p}}; start-in / }}; {PATHS}; network host")
    assert "is a device" in refusal(root, made, {"p": place}, backend)


def test_links_of_the_system(caller: Caller, backend: str) -> None:
    """Debian's `/bin -> usr/bin`, and an optional path that is not there."""
    made = bundle(f"files {{ {BASE}; read {{ /no/such /usr/no/such }} optional; start-in / }}; {PATHS}")
    outcome = caller.run(made, "readlink /bin; ls -d /bin/sh /etc/alternatives", backend=backend)
    expected = [os.readlink("/bin")] if os.path.islink("/bin") else []
    assert out(outcome).split() == [*expected, "/bin/sh", "/etc/alternatives"]
    assert [(one.path, one.could_be_created) for one in outcome.absent] == [
        ("/no/such", False),
        ("/usr/no/such", False),
    ]
