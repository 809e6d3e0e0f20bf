"""Keeps one command: starts it, tells how it ended, and kills its process group when the host process is gone.

A program of its own, run by `python -I -S`: no Python code runs between fork and exec in a host that has threads. One
socket leads to the host. It brings the orders, one line of JSON; whatever comes after it, and its end, means: kill.
Back go lines of JSON: `{"failed": [step, why, errno]}`, or `{"started": pid}` and then `{"status": N, "killed": bool}`,
with the status as waitpid(2) gives it.
"""

import contextlib
import fcntl
import json
import os
import resource
import select
import signal
import sys
import termios

TYPE_CHECKING = False
if TYPE_CHECKING:  # it is run alone, and finds nothing else of this package
    from typing import Any

_UMASK = 0o022


def main(host: int) -> None:
    """Carry out the orders."""
    os.set_inheritable(host, False)
    orders: dict[str, Any] = json.loads(_line(host))
    wake, told = os.pipe()
    os.set_blocking(told, False)
    signal.signal(signal.SIGCHLD, _noticed)
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    failure, answer = os.pipe()
    pid = os.fork()
    if pid == 0:
        _become(orders, answer)
    os.close(answer)
    _let_go_of_streams()
    failed = _all(failure)
    if failed:
        os.waitpid(pid, 0)
        _tell(host, {"failed": json.loads(failed)})
    else:
        _tell(host, {"started": pid})
        status, killed = _watch(pid, host, wake)
        _tell(host, {"status": status, "killed": killed})
    # Also where the host is gone, which would have done it.
    for remove, path in ((os.unlink, orders["profile"]), (os.rmdir, os.path.dirname(orders["profile"]))):
        with contextlib.suppress(OSError):
            remove(path)


def _watch(pid: int, host: int, wake: int) -> tuple[int, bool]:
    """Give the command's status, and whether it was killed from here; its group is gone then."""
    while True:
        ready = select.select([host, wake], [], [])[0]
        if wake in ready:
            os.read(wake, 64)
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            _kill(pid)
            return status, False
        if host in ready:
            _kill(pid)
            return os.waitpid(pid, 0)[1], True


def _kill(group: int) -> None:
    # EPERM is what macOS says of a group of which only the ended leader is left.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _become(orders: "dict[str, Any]", answer: int) -> None:
    """Become the command; what cannot be done is told, and nothing is run."""
    step = "process"
    try:
        os.setsid()
        if orders["terminal"]:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        signal.set_wakeup_fd(-1)
        for number in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.umask(_UMASK)
        step = "start-in"
        os.chdir(os.fsencode(orders["cwd"]))
        step = "limits"
        for number, soft, hard in orders["limits"]:
            resource.setrlimit(number, (soft, hard))
        step = "backend"
        arguments = [os.fsencode(one) for one in orders["arguments"]]
        os.execve(arguments[0], arguments, {os.fsencode(a): os.fsencode(b) for a, b in orders["environment"]})  # noqa: S606
    except BaseException as error:
        number = (error.errno or 0) if isinstance(error, OSError) else 0
        what = os.strerror(number) if number else repr(error)
        os.write(answer, json.dumps([step, what, number]).encode())
    os._exit(125)


def _let_go_of_streams() -> None:
    """Hold none of the command's ends, so that who reads them sees their end."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    os.close(null)


def _noticed(*_: object) -> None:
    """Have the wake pipe written to."""


def _tell(host: int, what: dict[str, object]) -> None:
    with contextlib.suppress(OSError):
        os.write(host, json.dumps(what).encode() + b"\n")


def _line(descriptor: int) -> bytes:
    found = b""
    while not found.endswith(b"\n"):
        part = os.read(descriptor, 1 << 16)
        if not part:
            sys.exit(1)
        found += part
    return found


def _all(descriptor: int) -> bytes:
    found = b""
    while part := os.read(descriptor, 4096):
        found += part
    return found


if __name__ == "__main__":
    main(int(sys.argv[1]))
