"""Runs `sbc` as if Python were macOS': functions, flags and files that only Linux has are not there.

    python as_macos.py HOME SANDBOX_EXEC SOURCES... -- sbc ARGUMENT...
    python as_macos.py HOME SANDBOX_EXEC SOURCES... -- python PROGRAM

Not a Mac: paths, processes and files are this system's, and SANDBOX_EXEC takes sandbox-exec's place. It shows that
nothing which macOS lacks is needed on the way to an answer.
"""

import builtins
import ctypes
import fcntl
import os
import pwd
import resource
import select
import signal
import socket
import sys
import types
from collections.abc import Callable
from importlib import import_module
from typing import Any

for _name in ("argparse", "hashlib", "json", "pathlib", "shutil", "subprocess", "tempfile", "threading"):
    import_module(_name)  # the standard library settles on this system before it is hidden

_OS = (
    "memfd_create pidfd_open eventfd epoll setns unshare splice copy_file_range getrandom sched_getaffinity "
    "sched_setaffinity getresuid getresgid setresuid setresgid pipe2 posix_fallocate posix_fadvise getxattr setxattr "
    "listxattr waitid "
    "O_PATH O_TMPFILE O_NOATIME O_DIRECT O_LARGEFILE MFD_CLOEXEC MFD_ALLOW_SEALING CLONE_NEWUSER CLONE_NEWNS P_PIDFD"
)
_RESOURCE = "prlimit RLIMIT_SIGPENDING RLIMIT_MSGQUEUE RLIMIT_NICE RLIMIT_RTPRIO RLIMIT_RTTIME RLIMIT_OFILE"
_SOCKET = "MSG_NOSIGNAL SOCK_CLOEXEC SOCK_NONBLOCK SO_PEERCRED SO_DOMAIN AF_NETLINK AF_ALG AF_VSOCK SCM_CREDENTIALS"
_LACKING = "F_ADD_SEALS F_GETPIPE_SZ F_SETPIPE_SZ F_OFD_SETLK"


def become(home: str, program: str) -> None:
    """Hide what macOS does not have."""
    for module, names in (
        (os, _OS), (resource, _RESOURCE), (socket, _SOCKET), (fcntl, _LACKING), (signal, "pidfd_send_signal SIGRTMIN"),
        (select, "epoll EPOLLIN"),
    ):  # fmt: skip
        for name in names.split():
            if hasattr(module, name):
                delattr(module, name)
    sys.platform = "darwin"
    import_module("tempfile")._O_TMPFILE_WORKS = False  # type: ignore[attr-defined] # it settles that only at its use
    here: Any = os
    for name in ("open", "readlink", "stat", "lstat", "listdir", "scandir"):
        setattr(os, name, _without_proc(getattr(here, name)))
    builtins.open = _without_proc(builtins.open)
    lexists: Any = os.path.lexists
    seen: Any = here.stat
    os.path.lexists = lambda path: _private(path) or lexists(path)  # pyright: ignore[reportUnknownLambdaType]

    def stat_of(path: Any, **named: Any) -> Any:  # noqa: ANN401
        return seen("/dev" if _private(path) else path, **named)

    here.stat = stat_of
    uname = os.uname()
    here.uname = lambda: types.SimpleNamespace(sysname="Darwin", release="23.0", machine="arm64", nodename=uname[1])
    os.geteuid = lambda: 501
    entry: Any = types.SimpleNamespace(pw_dir=home, pw_name="u", pw_uid=501)
    pwd.getpwuid = lambda _uid: entry
    os.environ["HOME"] = home

    class Library(ctypes.CDLL):
        """A C library without Linux' calls."""

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401
            if name in {"prctl", "setns", "unshare", "capset", "mount", "pivot_root", "syscall", "memfd_create"}:
                raise AttributeError(name)
            return super().__getattr__(name)

    ctypes.CDLL = Library  # type: ignore[misc]
    fcntl.F_GETPATH = 50  # type: ignore[attr-defined]
    real: Any = fcntl.fcntl

    def asked(descriptor: int, command: int, argument: Any = 0) -> Any:  # noqa: ANN401
        if command == 50:
            return os.fsencode(readlink(f"/proc/self/fd/{descriptor}")).ljust(1024, b"\0")
        return real(descriptor, command, argument)

    fcntl.fcntl = asked  # type: ignore[assignment]
    if program:
        import_module("sbc_runtime.macos.arguments").SANDBOX_EXEC = program  # type: ignore[attr-defined]


readlink = os.readlink


def _private(path: Any) -> bool:  # noqa: ANN401
    """Tell whether a path is one that every Mac has, and this system has not."""
    return isinstance(path, str) and path in {"/private/tmp", "/private/var/folders"}


def _without_proc(function: Callable[..., Any]) -> Any:  # noqa: ANN401
    def checked(path: Any = ".", *arguments: Any, **named: Any) -> Any:  # noqa: ANN401
        if isinstance(path, str) and (path == "/proc" or path.startswith(("/proc/", "/sys/"))):
            raise FileNotFoundError(2, "No such file or directory", path)
        return function(path, *arguments, **named)

    return checked


if __name__ == "__main__":
    end = sys.argv.index("--")
    sys.path[:0] = sys.argv[3:end]
    what, *words = sys.argv[end + 1 :]
    become(sys.argv[1], sys.argv[2])
    if what == "python":
        exec(compile(words[0], "<program>", "exec"))  # noqa: S102
        sys.exit(0)
    from sbc.cli.main import main

    sys.exit(main(words))
