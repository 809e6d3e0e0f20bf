"""Compares what sbc's evaluator of Seatbelt profiles answers with what a Mac does. Run it on a Mac, as yourself:

    python3 compare_with_system.py

It needs the file `comparison.json` beside it, and Python 3.9 or newer; nothing else. It works in a folder of its own,
which is removed. Each row runs one small program under `sandbox-exec` with a profile of a few lines. The table says
what was expected and what was seen; rows that expect `open` are questions that nobody has answered. Please send the
whole table back. Exit status: 0 where all is the same, 1 where a row differs, 2 where nothing could be compared.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

SANDBOX_EXEC = "/usr/bin/sandbox-exec"
ROWS = Path(__file__).with_name("comparison.json")
PORT = 40123
SECONDS = 30
BAD_PROFILE = 65
"""The status of sandbox-exec for a profile that it cannot use."""

# What a row does. It prints `begun`, and then `allow`, `deny`, or what else came of it.
PROGRAM = r"""
import errno, os, signal, socket, subprocess, sys
action, path, number = sys.argv[1:]
print("begun", flush=True)


def connect():
    if path == "tcp":
        socket.create_connection(("127.0.0.1", int(number)), 5)
    else:
        socket.socket(socket.AF_UNIX).connect(path)


def bind():
    socket.socket().bind(("127.0.0.1", 0))


def rename():
    os.rename(path, path + ".moved")


def link():
    os.link(os.path.join(os.path.dirname(path), "file"), path)


def execute():
    subprocess.run([path], check=True)


def child():
    done = subprocess.run(["/bin/cat", path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode:
        raise PermissionError(errno.EPERM, done.stderr.decode())


def inherited():
    if os.read(int(number), 1) == b"":
        raise OSError(errno.EIO, "nothing to read")


def send():
    os.kill(os.getppid() if path.endswith("parent") else os.getpid(), 0)


def shared():
    import _posixshmem
    name = "/" + os.path.basename(path)
    os.close(_posixshmem.shm_open(name, os.O_RDWR | os.O_CREAT, 0o600))
    _posixshmem.shm_unlink(name)


def info():
    # proc_pidinfo(2), PROC_PIDTBSDINFO.
    import ctypes
    library = ctypes.CDLL("/usr/lib/libproc.dylib", use_errno=True)
    if library.proc_pidinfo(os.getppid(), 3, ctypes.c_uint64(0), ctypes.create_string_buffer(1024), 1024) <= 0:
        raise OSError(ctypes.get_errno(), "proc_pidinfo")


ACTIONS = {
    "read": lambda: open(path, "rb").read(),
    "stat": lambda: os.stat(path),
    "list": lambda: os.listdir(path),
    "write": lambda: open(path, "r+b").write(b"x"),
    "create": lambda: os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)),
    "symlink": lambda: os.symlink("nowhere", path),
    "chmod": lambda: os.chmod(path, 0o600),
    "unlink": lambda: os.unlink(path),
    "rename": rename, "link": link, "exec": execute, "child-read": child, "inherited": inherited, "signal": send,
    "connect": connect, "bind": bind, "shm": shared, "info": info,
}
try:
    ACTIONS[action]()
except OSError as error:
    print("deny" if error.errno in (errno.EPERM, errno.EACCES) else "failed: %s" % error)
except Exception as error:
    print("failed: %r" % (error,))
else:
    print("allow")
"""


def prepare(folder: Path, more: list[str]) -> None:
    """Make what rows work on, anew; of one row `more`: folders (`a/`), those of sockets (`a/b=`), files."""
    for name in ("a/b", "ab", "Mixed", "sp ace"):
        (folder / name).mkdir(parents=True)
    for name in ("a/file", "a/b/file", "ab/file", "Mixed/File", 'q"x', "b\\x", "sp ace/\u00fc"):
        (folder / name).write_bytes(b"content")
    (folder / "link").symlink_to("a")
    os.link(folder / "a" / "file", folder / "hard")
    for name in more:
        above = folder / name if name.endswith("/") else (folder / name).parent
        above.mkdir(parents=True, exist_ok=True)
        if not name.endswith(("/", "=")):
            (folder / name).write_bytes(b"content")


def listening(place: str | tuple[str, int]) -> socket.socket:
    """Give a socket that listens at a path, or on a port of 127.0.0.1."""
    made = socket.socket(socket.AF_UNIX if isinstance(place, str) else socket.AF_INET)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind(place)
    made.listen(8)
    return made


def seen(row: dict[str, Any], folder: Path, program: str) -> str:
    """Do what a row says; give `allow`, `deny`, `refused` (the profile), or what else came of it."""
    more = row.get("make", [])
    prepare(folder, more)
    above = os.getcwd()
    os.chdir(folder)  # the path of a socket is short
    sockets = [listening(one) for one in ("sock", "open.sock", *(one[:-1] for one in more if one.endswith("=")))]
    os.chdir(above)
    profile = folder.parent / "profile.sb"
    profile.write_text(row["profile"], encoding="utf-8")
    profile.chmod(0o600)
    descriptor = os.open(folder / "a" / "file", os.O_RDONLY)
    word = row["path"]
    path = word if word in ("tcp", "/usr/bin/true") else str(folder / word)
    number = descriptor if row["action"] == "inherited" else PORT
    try:
        command = [program, "-f", str(profile), "-D", f"W={folder}", sys.executable, "-c", PROGRAM]
        done = subprocess.run(
            [*command, row["action"], path, str(number)],
            capture_output=True,
            check=False,
            timeout=SECONDS,
            pass_fds=(descriptor,),
            cwd=folder,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"failed: {error}"
    finally:
        os.close(descriptor)
        for one in sockets:
            one.close()
        shutil.rmtree(folder)
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    if lines[:1] != ["begun"] or len(lines) != 2:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        if row["expected"] == "refused" and done.returncode == BAD_PROFILE:
            return "refused"
        return f"not begun, status {done.returncode}: {said[0] if said else ''}"
    return lines[1]


def compare(rows: list[dict[str, Any]], top: Path, program: str = SANDBOX_EXEC) -> Iterator[tuple[str, str, str, str]]:
    """Give each row as (id, expected, seen, verdict)."""
    for row in rows:
        got = seen(row, top / "w", program)
        verdict = "open" if row["expected"] == "open" else "same" if got == row["expected"] else "DIFFERENT"
        yield row["id"], row["expected"], got, verdict


def main(program: str = SANDBOX_EXEC, place: Path = ROWS) -> int:
    """Print the table; gives the exit status."""
    if sys.platform != "darwin" and program == SANDBOX_EXEC:
        print("this script needs macOS: it asks its sandbox-exec", file=sys.stderr)
        return 2
    rows = json.loads(place.read_text(encoding="utf-8"))
    print(f"macOS {platform.mac_ver()[0] or '(none)'}, {platform.machine()}, Python {platform.python_version()}")
    print(f"{'row':<28} {'expected':<9} {'seen':<9} verdict")
    different = 0
    with tempfile.TemporaryDirectory(prefix="sbc-compare-", dir="/tmp") as folder, listening(("127.0.0.1", PORT)):
        for name, expected, got, verdict in compare(rows, Path(folder).resolve(), program):
            different += verdict == "DIFFERENT"
            print(f"{name:<28} {expected:<9} {got:<9} {verdict}", flush=True)
    print(f"{len(rows)} rows, {different} different")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
