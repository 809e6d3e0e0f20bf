"""Sockets of the host where the kernel does not tell which are bound: no unix_diag, or a filter around us."""

import os
from pathlib import Path

import pytest

from sbc.kernel.numbers import numbers
from sbc_runtime.arch import native_arch
from sbc_runtime.prepare.socket_search import MOST_NAMES
from tests.runtime.support import PATHS, Caller, bundle
from tests.runtime.test_host_sockets import BASE, CONNECT, LATE, WAYS, relative, tree

__all__ = ["tree"]

ARCH = native_arch(os.uname().machine)
SOCKET = 0 if ARCH is None else numbers(ARCH.name)["socket"]
UNTOLD = """
import socket, struct
from sbc_runtime import libc, unix_diag

word = 16 + (4 if sys.byteorder == "big" else 0)
code = [
    (0x20, 0, 0, 0), (0x15, 0, 3, given.pop(0)),
    (0x20, 0, 0, word), (0x15, 0, 1, socket.AF_NETLINK),
    (6, 0, 0, 0x50000 | 97), (6, 0, 0, 0x7FFF0000),
]
libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
libc.FilterProgram(b"".join(struct.pack("=HBBI", *one) for one in code)).load()
assert unix_diag.bound() is None
"""
"""Refuses netlink sockets (EAFNOSUPPORT), as container engines' filters may."""

RUN = (
    UNTOLD
    + """
top, program, paths = given
outcome = profile.run(["/usr/bin/python3", "-c", program, *paths], params={"t": top})
tell([outcome.stdout.kept.decode(), str(outcome.failure or ""), outcome.covered, outcome.notes])
"""
)

DURING = (
    UNTOLD
    + """
top, program, path = given
(here, stdin), (stdout, there) = os.pipe(), os.pipe()
old = socket.socket(socket.AF_UNIX)
old.bind(top + "/w/old")
run = profile.start(["/usr/bin/python3", "-c", program, path], params={"t": top}, stdin=here, stdout=there)
os.close(there)
assert os.read(stdout, 100) == b"ready\\n"
if os.path.exists(path):
    os.unlink(path)
new = socket.socket(socket.AF_UNIX)
new.bind(path)
os.chmod(path, 0o777)
new.listen()
os.write(stdin, b"x")
outcome = run.wait()
tell([os.read(stdout, 100).decode(), [one for one in outcome.notes if "during the run" in one]])
"""
)


def made(files: str) -> Path:
    return bundle(f"param t : dir\nfiles {{ {BASE}; {files} }}; {PATHS}; network none")


@pytest.mark.parametrize("way", WAYS)
def test_every_socket_file_that_is_seen_is_covered(caller: Caller, tree: Path, way: str) -> None:
    profile = made("write ${t}/w as /w; read ${t}/r as /r; start-in /w")
    for path, place in ((tree / "w/deep/er/s", "/w/deep/er/s"), (tree / "r/s", "/r/s")):
        with WAYS[way](path):
            said, failure, covered, notes = caller.host(RUN, profile, SOCKET, str(tree), CONNECT, [place])
            assert (said, failure) == ("not\n", "")
            assert place in covered
            assert [one for one in notes if one.startswith("the kernel does not tell the inodes of bound sockets")]


def test_what_could_not_be_searched_runs_nothing(caller: Caller, tree: Path) -> None:
    """Whose the socket is that has no name is not known, so it counts as one that can be connected to."""
    for number in range(MOST_NAMES + 1):
        (tree / "w" / f"f{number}").touch()
    with relative(tree / "w/deep/s"):
        asked = (SOCKET, str(tree), CONNECT, ["/w/deep/s"])
        said, failure, _, _ = caller.host(RUN, made("write ${t}/w as /w; start-in /w"), *asked)
    assert said == ""
    assert "too much is there to be searched" in failure
    assert "with its module unix_diag the kernel tells" in failure


@pytest.mark.parametrize("where", ["w/new", "w/old"])
def test_what_is_bound_during_a_run_is_told(where: str) -> None:
    caller = Caller("root" if os.geteuid() == 0 else "user")
    tree = caller.tree()
    (tree / "w").mkdir()
    caller.own(tree / "w")
    path = str(tree / where)
    said, notes = caller.host(DURING, made("write ${t}/w; start-in /"), SOCKET, str(tree), LATE, path)
    assert said == "reached\n"
    assert [one for one in notes if path in one]
