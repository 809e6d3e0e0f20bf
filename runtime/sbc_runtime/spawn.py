"""How a helper is started: an interpreter that imports what a run needs, and serves a socket.

`ahead` imports next to nothing, so that a program which will run one command can start its helper before all else. It
forks this interpreter where nothing of the caller's environment stays in the child, and executes another one otherwise.
"""

import os
import sys

_PROGRAM = """import gc, sys
gc.disable()
sys.path.insert(0, sys.argv[1])
from sbc_runtime.helper import main
main(int(sys.argv[2]), int(sys.argv[3]), once=sys.argv[4] == "once")
"""
_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def command_line(connection: int, *, once: bool) -> tuple[str, ...]:
    """Give the command line of a helper of this process that serves the socket `connection`; `once`: for one run."""
    program = (sys.executable, "-I", "-S", "-X", "utf8", "-c", _PROGRAM, _FOLDER)
    return (*program, str(connection), str(os.getpid()), "once" if once else "")


class _Ahead:
    """The helper that was started ahead: the descriptor of its connection, and its pid."""

    made: tuple[int, int] | None = None


def ahead() -> None:
    """Start the helper of the one run to come. A failure shows at the run."""
    import _socket  # noqa: PLC0415 - not on every platform; `socket` itself takes far longer

    try:
        ours, theirs = _socket.socketpair()
        arguments, host = command_line(theirs.fileno(), once=True), os.getpid()
        pid = os.fork()
    except OSError:
        return
    if pid == 0:
        try:
            _detach(theirs.fileno())
            if _serves_as_it_is() and _forget_environment():
                _serve(theirs.detach(), host)
            os.set_inheritable(theirs.fileno(), True)
            os.execve(arguments[0], arguments, {})  # noqa: S606 (this interpreter)
        finally:
            os._exit(1)
    theirs.close()
    _Ahead.made = (ours.detach(), pid)


def _detach(connection: int) -> None:
    """Leave the caller's session, streams, folder and descriptors."""
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    os.chdir("/")
    for number in map(int, os.listdir("/proc/self/fd")):
        if number > 2 and number != connection:
            _close(number)


def _close(number: int) -> None:
    try:
        os.close(number)
    except OSError:
        return  # that of the listing itself


def _serves_as_it_is() -> bool:
    """Tell whether this interpreter is as the one that `command_line` starts: it has one thread, UTF-8, nothing loaded
    into it from outside, and nobody who traces it.
    """
    return (
        sys.implementation.name == "cpython"
        and (sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()) == ("utf-8", "surrogateescape")
        and sys.gettrace() is None
        and sys.getprofile() is None
        and len(os.listdir("/proc/self/task")) == 1
        and not any(name.startswith("LD_") for name in os.environ)
    )


def _forget_environment() -> bool:
    """Overwrite this process's environment, where the kernel put it and where the interpreter keeps it; gives whether
    that was possible.

    The kernel's is what stat tells (proc_pid_stat(5): env_start, env_end), and what /proc/PID/environ shows. The
    interpreter's are the bytes of `posix.environ`, in place: what would be freed would still be there to be read. (It
    has one object for each single byte, which all else uses, too.)
    """
    from posix import environ  # noqa: PLC0415 - not on every platform; `os.environ` writes through to it

    head = bytes.__basicsize__ - 1
    places = [(id(one) + head, one) for pair in environ.items() for one in pair if len(one) > 1]
    try:
        with open("/proc/self/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        memory = os.open("/proc/self/mem", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False  # of a process that may not look into itself (PR_SET_DUMPABLE, prctl(2))
    start, end = int(fields[47]), int(fields[48])
    try:
        if not 0 < start <= end or any(os.pread(memory, len(one), at) != one for at, one in places):
            return False
        done = [os.pwrite(memory, bytes(end - start), start) == end - start]
        done += [os.pwrite(memory, bytes(len(one)), at) == len(one) for at, one in places]
    finally:
        os.close(memory)
    environ.clear()
    return all(done)


def _serve(connection: int, host: int) -> None:
    """Be the helper, with modules of this package and of the standard library alone."""
    library = os.path.dirname(os.__file__)
    dynamic = [one for one in sys.path if os.path.basename(one) == "lib-dynload"]
    sys.path[:] = [_FOLDER, library, *dynamic]
    from sbc_runtime.helper import main  # noqa: PLC0415 - this is what takes long

    main(connection, host, once=True)


def taken() -> tuple[int, int] | None:
    """Give what was started ahead, once."""
    made, _Ahead.made = _Ahead.made, None
    return made
