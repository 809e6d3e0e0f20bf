"""The process that becomes bubblewrap: everything between its fork and its exec."""

import fcntl
import os
import signal
import termios

from sbc_runtime import bwrap_stage, libc
from sbc_runtime.backends.interface import ChildDescriptors
from sbc_runtime.bwrap_finish import finish
from sbc_runtime.command import ALL, SETUP_FAILED, UMASK, reset_signals
from sbc_runtime.command_filters import command_filters
from sbc_runtime.errors import SetupFailed
from sbc_runtime.messages import send_failure
from sbc_runtime.prepared import Prepared
from sbc_runtime.records import NamedTuple
from sbc_runtime.words import NoReturn

_GATE = 3
_CHANNEL = 4
_ARGUMENTS = 5
_MORE = (6, 7)
_HIGH = 16
_FROM_TERMINAL = (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)

MARK = b"_"
"""What stands before the name of every variable of the command in bubblewrap's own environment.

With its own name a variable would also mean something to bubblewrap, which is still outside of the sandbox: LD_PRELOAD,
say, naming a library of the work tree. The mark is taken away when the command is executed.
"""

_NOTHING = b"/proc/1/none"
"""Stands for an empty name, which execvp(3) refuses before it asks the kernel; the folder is covered."""

_NOWHERE = b"PATH=/dev/null"


class Order(NamedTuple):
    """What is to be started. `program`: bubblewrap's path; `compiled`: its arguments in the bundle."""

    program: str
    compiled: tuple[str, ...]
    prepared: Prepared
    stage: bwrap_stage.Stage | None
    child: ChildDescriptors


def environment(prepared: Prepared) -> list[bytes]:
    """Give the command's environment as it stands in memory, in order."""
    return [os.fsencode(name) + b"=" + os.fsencode(value) for name, value in prepared.environment]


def become(order: Order, gate: int, channel: int) -> NoReturn:
    """Wait at the gate until the namespaces are mapped and this process is traced; stage; execute bubblewrap."""
    try:
        step = "descriptors"
        try:
            _descriptors(order.child, gate, channel)
            channel = _CHANNEL
            step = "session"
            if order.prepared.terminal:
                os.setsid()
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            step = "signals"
            reset_signals(ALL)
            if order.prepared.terminal:
                # What the terminal sends is for the command. The keeper empties its mask before it is executed.
                signal.pthread_sigmask(signal.SIG_BLOCK, _FROM_TERMINAL)
            os.umask(UMASK)
            libc.reset_personality()
            if os.read(_GATE, 1) != b"g":
                os._exit(SETUP_FAILED)
            step = "staging"
            if order.stage is not None:
                bwrap_stage.build(order.stage)
            os.chdir("/")
            step = "bwrap"
            _execute(order)
        except OSError as error:
            raise SetupFailed.of(step, error) from None
    except SetupFailed as failed:
        send_failure(channel, failed)
    except BaseException as error:
        send_failure(channel, SetupFailed("bwrap", repr(error)))
    finally:
        os._exit(SETUP_FAILED)


def _descriptors(child: ChildDescriptors, gate: int, channel: int) -> None:
    wanted = (child.stdin, child.stdout, child.stderr, gate, channel)
    libc.close_all_but(wanted)
    high = [fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, _HIGH) for one in wanted]
    for place, one in enumerate(high):
        os.dup2(one, place, inheritable=place < _GATE)
    libc.close_all_but((0, 1, 2, _GATE, _CHANNEL))


def _execute(order: Order) -> None:
    prepared = order.prepared
    os.set_inheritable(_CHANNEL, False)
    # The gate has done its work, and its number is free for a filter; after the channel's come those of the arguments
    # and of more filters.
    os.dup2(os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC), _ARGUMENTS)
    os.close(_GATE)
    filters = tuple(
        _file("filter", one, number) for one, number in zip(command_filters(prepared), (_GATE, *_MORE), strict=False)
    )
    finished = finish(order.compiled, prepared, order.stage, filters, _empty)
    given = _file("arguments", b"".join(os.fsencode(one) + b"\0" for one in finished), _ARGUMENTS)
    command = [os.fsencode(one) for one in prepared.argv]
    command[0] = command[0] or _NOTHING
    path = dict(prepared.environment).get("PATH")
    search = _NOWHERE if path is None else b"PATH=" + os.fsencode(path)
    inner = [search, *(MARK + one for one in environment(prepared))]
    pairs = dict(one.split(b"=", 1) for one in inner)
    arguments = [b"bwrap", b"--args", str(given).encode(), b"--", *command]
    os.execve(order.program, arguments, pairs)  # noqa: S606 (found where only root or the caller may write)


def _empty() -> int:
    """Give a descriptor, which bubblewrap closes, from which nothing can be read."""
    return fcntl.fcntl(_ARGUMENTS, fcntl.F_DUPFD, _HIGH)


def _file(name: str, content: bytes, number: int) -> int:
    """Put content into memory, to be read from the beginning by a descriptor of this number."""
    made = os.memfd_create(name)
    left = memoryview(content)
    while left:
        left = left[os.write(made, left) :]
    os.lseek(made, 0, os.SEEK_SET)
    if made == number:
        os.set_inheritable(made, True)
        return number
    os.dup2(made, number)
    os.close(made)
    return number
