"""The process that becomes the command: everything between its fork and its exec."""

import errno
import fcntl
import os
import resource
import signal
import termios
from collections.abc import Iterable
from typing import NoReturn

from sbc_runtime import libc
from sbc_runtime.backends.interface import ChildDescriptors
from sbc_runtime.errors import SetupFailed
from sbc_runtime.messages import send, send_failure
from sbc_runtime.prepared import Prepared
from sbc_runtime.rlimits import Rlimit

NOT_EXECUTABLE = 126
NOT_FOUND = 127
"""What shells exit with where a command is there and cannot be executed, and where it is not there."""

SETUP_FAILED = 125
UMASK = 0o022

_GATE = 3
_CHANNEL = 4
_HIGH = 16
CHANGED = (signal.SIGPIPE, signal.SIGCHLD)
"""What helper, supervisor and init handle otherwise than by default."""

ALL = tuple(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})


def become(
    prepared: Prepared, child: ChildDescriptors, gate: int, channel: int, limits: tuple[Rlimit, ...]
) -> NoReturn:
    """Get everything that the command gets, say so, wait at the gate, and become the command."""
    try:
        step = "descriptors"
        try:
            _descriptors(child, gate, channel)
            step = "session"
            _session(prepared.terminal)
            step = "signals"
            reset_signals(CHANGED)
            os.umask(UMASK)
            libc.reset_personality()
            step = f"start-in {prepared.cwd}"
            os.chdir(prepared.cwd)
            step = "limits"
            for one in limits:
                resource.setrlimit(one.resource, (one.soft, one.hard))
        except (OSError, ValueError) as error:
            number = error.errno or 0 if isinstance(error, OSError) else 0
            raise SetupFailed(step, str(error), errno=number) from None
        candidates = search(prepared.argv[0], dict(prepared.environment).get("PATH"))
        arguments = [os.fsencode(one) for one in prepared.argv]
        environment = {os.fsencode(name): os.fsencode(value) for name, value in prepared.environment}
        program = None if prepared.program is None else libc.FilterProgram(prepared.program)
        send(_CHANNEL, "waits")
        if program is not None:
            # From here on only read(2), execve(2), write(2) and exit_group(2) are called.
            try:
                program.load()
            except OSError as error:
                raise SetupFailed.of("filter", error) from None
        if os.read(_GATE, 1) != b"g":
            os._exit(SETUP_FAILED)
        number = execute(candidates, arguments, environment)
        send(_CHANNEL, "not executed", number)
        os._exit(NOT_FOUND if number in {errno.ENOENT, errno.ENOTDIR} else NOT_EXECUTABLE)
    except SetupFailed as failed:
        send_failure(_CHANNEL, failed)
    finally:
        os._exit(SETUP_FAILED)


def _descriptors(child: ChildDescriptors, gate: int, channel: int) -> None:
    """Close everything else at once, and put what is left in its place."""
    wanted = (child.stdin, child.stdout, child.stderr, gate, channel)
    libc.close_all_but(wanted)
    high = [fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, _HIGH) for one in wanted]
    for place, one in enumerate(high):
        os.dup2(one, place, inheritable=place < _GATE)
    libc.close_all_but((0, 1, 2, _GATE, _CHANNEL))


def _session(terminal: bool) -> None:
    os.setsid()
    if terminal:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def reset_signals(numbers: Iterable[int]) -> None:
    """Give signals their default action, and block none.

    The helper does it for all of them once, since the caller may ignore some, and Python does; the supervisor changes
    `CHANGED` again for itself.
    """
    for number in numbers:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def search(name: str, path: str | None) -> tuple[bytes, ...]:
    """Give what to try to execute, in order: as execvp(3) does, but with the profile's PATH, and none by default."""
    if "/" in name:
        return (os.fsencode(name),)
    if not name or path is None:
        return ()
    return tuple(os.fsencode(f"{folder or '.'}/{name}") for folder in path.split(":"))


def execute(candidates: tuple[bytes, ...], arguments: list[bytes], environment: dict[bytes, bytes]) -> int:
    """Execute the first candidate that can be; give the errno that tells best why none could.

    Like shells and execvp(3): what is there and may not be executed outranks what is not there, and a file of an
    unknown format is a script for /bin/sh.
    """
    found = errno.ENOENT
    for candidate in candidates:
        try:
            os.execve(candidate, arguments, environment)  # noqa: S606
        except OSError as error:
            number = error.errno or errno.ENOENT
        if number == errno.ENOEXEC:
            try:
                os.execve(b"/bin/sh", [b"/bin/sh", candidate, *arguments[1:]], environment)  # noqa: S606
            except OSError:
                return errno.ENOEXEC
        if number not in {errno.ENOENT, errno.ENOTDIR, errno.EACCES}:
            return number
        if number == errno.EACCES:
            found = number
    return found
