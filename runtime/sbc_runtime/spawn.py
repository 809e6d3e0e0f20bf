"""How a helper is started: an interpreter that imports what a run needs, and serves a socket.

`ahead` imports next to nothing, so that a program which will run one command can start its helper before all else.
"""

import os
import sys

_PROGRAM = """import gc, sys
gc.disable()
sys.path.insert(0, sys.argv[1])
from sbc_runtime.helper import main
main(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "spare")
"""
_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def command_line(connection: int, spare: bool) -> tuple[str, ...]:
    """Give the command line of a helper of this process that serves the descriptor `connection`."""
    program = (sys.executable, "-I", "-S", "-X", "utf8", "-c", _PROGRAM, _FOLDER)
    return (*program, str(connection), str(os.getpid()), "spare" if spare else "")


class _Ahead:
    """The helper that was started ahead: the descriptor of its connection, and its pid."""

    made: tuple[int, int] | None = None


def ahead() -> None:
    """Start the helper of the one run to come, from a process of one thread. A failure shows at the run."""
    import _socket  # noqa: PLC0415 - not on every platform; `socket` itself takes far longer

    try:
        ours, theirs = _socket.socketpair()
        arguments = command_line(theirs.fileno(), spare=False)
        pid = os.fork()
    except OSError:
        return
    if pid == 0:
        try:
            os.setsid()
            null = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(null, number)
            os.set_inheritable(theirs.fileno(), True)
            os.chdir("/")
            for number in map(int, os.listdir("/proc/self/fd")):
                if number > 2 and number != theirs.fileno():
                    _close(number)
            os.execve(arguments[0], arguments, {})  # noqa: S606 (this interpreter)
        finally:
            os._exit(1)
    theirs.close()
    _Ahead.made = (ours.detach(), pid)


def _close(number: int) -> None:
    try:
        os.close(number)
    except OSError:
        return  # that of the listing itself


def taken() -> tuple[int, int] | None:
    """Give what was started ahead, once."""
    made, _Ahead.made = _Ahead.made, None
    return made
