"""Runs `sbc`, or a program, as if Python were Windows': its modules, functions, flags and signals are not there.

    python as_windows.py SOURCES... -- sbc ARGUMENT...
    python as_windows.py SOURCES... -- python PROGRAM

Not a Windows: paths, processes and files are this system's. It shows that nothing which Windows lacks is needed on the
way to an answer.
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import types
from importlib import import_module
from typing import Any

for _name in ("argparse", "ctypes", "hashlib", "json", "shutil", "socket", "threading"):
    import_module(_name)  # the standard library settles on this system before it is hidden

MODULES = ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "spwd", "crypt")
_OS = (
    "chown chroot fchdir fchown fork forkpty getegid geteuid getgid getgroups getpgid getpgrp getpriority getresgid "
    "getresuid getsid getuid initgroups killpg lchown major makedev memfd_create mkfifo mknod minor nice openpty "
    "pidfd_open pipe2 posix_fallocate posix_spawn pread preadv pwrite pwritev register_at_fork sched_getaffinity "
    "sched_yield sendfile setegid seteuid setgid setgroups setpgid setpriority setregid setresgid setresuid setreuid "
    "setsid setuid statvfs sync sysconf tcgetpgrp ttyname uname wait wait3 wait4 waitid getxattr setxattr "
    "O_CLOEXEC O_DIRECTORY O_DSYNC O_NOATIME O_NOCTTY O_NOFOLLOW O_NONBLOCK O_PATH O_SYNC O_TMPFILE O_ASYNC "
    "WNOHANG WIFSIGNALED WIFEXITED WEXITSTATUS WTERMSIG PRIO_PROCESS MFD_CLOEXEC"
)
_SIGNALS = "SIGHUP SIGKILL SIGPIPE SIGCHLD SIGWINCH SIGBUS SIGTRAP SIGSTOP SIGXCPU SIGXFSZ SIGUSR1 SIGALRM"
SIGNAL_FUNCTIONS = ("pthread_sigmask", "sigwait", "setitimer", "alarm", "pthread_kill")


class Hidden:
    """Finds none of the modules that Windows does not have."""

    def find_spec(self, name: str, *_: object) -> None:
        """Refuse those; leave the others to the next finder."""
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def become() -> None:
    """Hide what Windows does not have."""
    sys.meta_path.insert(0, Hidden())  # pyright: ignore[reportArgumentType]
    for name in MODULES:
        sys.modules.pop(name, None)
    real: Any = os
    inner = [module for name, module in sys.modules.items() if name.startswith("pathlib.")]
    for module in (pathlib, *inner, tempfile, subprocess):  # they ask the system's own names later
        copy = types.ModuleType("os")
        copy.__dict__.update(real.__dict__)
        module.os = copy  # type: ignore[attr-defined]
    for name in _OS.split():
        if hasattr(real, name):
            delattr(real, name)
    for name in (*_SIGNALS.split(), *SIGNAL_FUNCTIONS):
        if hasattr(signal, name):
            delattr(signal, name)
    opened = real.open

    def only_files(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if dir_fd is not None:
            raise NotImplementedError("dir_fd unavailable on this platform")
        if os.path.isdir(path):
            raise PermissionError(13, "Permission denied", path)
        return int(opened(path, flags & ~real.O_BINARY, mode))

    real.O_BINARY = 1 << 30
    real.open = only_files
    sys.platform = "win32"
    real.name = "nt"
    version: Any = types.SimpleNamespace(major=10, minor=0, build=22631)
    sys.getwindowsversion = lambda: version  # type: ignore[attr-defined]
    folders: Any = import_module("platformdirs.windows")  # it would ask Windows itself
    folders.get_win_folder = folders.get_win_folder_from_env_vars


if __name__ == "__main__":
    end = sys.argv.index("--")
    sys.path[:0] = sys.argv[1:end]
    what, *arguments = sys.argv[end + 1 :]
    become()
    if what == "python":
        exec(compile(arguments[0], "<program>", "exec"))  # noqa: S102
        sys.exit(0)
    from sbc.cli.main import main

    sys.exit(main(arguments))
