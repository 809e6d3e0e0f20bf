"""The process that becomes the command: everything between its fork and its exec."""

import errno
import fcntl
import os
import resource
import signal
import termios
from collections.abc import Callable, Iterable

from sbc_runtime import libc, orders
from sbc_runtime.arch import own_arch
from sbc_runtime.classify import NOT_EXECUTABLE, NOT_FOUND
from sbc_runtime.command_filters import command_filters
from sbc_runtime.errors import SetupFailed
from sbc_runtime.init_guard import init_guard
from sbc_runtime.messages import send, send_failure
from sbc_runtime.prepared import Ids, Prepared
from sbc_runtime.records import NamedTuple
from sbc_runtime.rlimits import Rlimit
from sbc_runtime.words import NoReturn, TypeVar

_T = TypeVar("_T")

SETUP_FAILED = 125
UMASK = 0o022

_GATE = 3
_CHANNEL = 4
_INIT = 5
_HIGH = 16
CHANGED = (signal.SIGPIPE, signal.SIGCHLD, signal.SIGXFSZ)
"""What helper, supervisor and init handle otherwise than by default."""

ALL = tuple(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})


class Task(NamedTuple):
    """What the process is given: the read end of its gate, the socket to the supervisor."""

    gate: int
    channel: int
    last_capability: int
    sample: orders.Orders | None


BUILT = b"b"
GO = b"g"
"""What init says through the gate: the root is there; become the command."""


def become(task: Task) -> NoReturn:
    """Wait for orders, get everything that the command gets, say so, wait at the gate, and become the command.

    What needs nothing of the run is done before it is known, and what needs nothing of the new root while init builds
    it.
    """
    channel = task.channel
    try:
        init = _opened_init()
        here = {_GATE: task.gate, _CHANNEL: task.channel, **init.place}
        step("descriptors", lambda: _place(here))
        channel = _CHANNEL
        step("process", lambda: _process(task.last_capability))
        step("filter", libc.FilterProgram(init_guard(own_arch())).load)
        send(_CHANNEL, "here")
        if task.sample is not None and not orders.waiting(_CHANNEL):
            _prepare(orders.rehearse(task.sample).prepared)
        told = orders.receive(_CHANNEL)
        if told is None:
            os._exit(SETUP_FAILED)
        (prepared, limits, *_), streams = told
        step("descriptors", lambda: _place({**{one: one for one in here}, **dict(enumerate(streams))}))
        step("ids", lambda: take_ids(prepared.ids))
        programs, candidates, arguments, environment = _prepare(prepared)
        step("limits", lambda: _limits(limits))
        if os.read(_GATE, 1) != BUILT:
            os._exit(SETUP_FAILED)
        step("namespaces of init", lambda: _join(init))
        step("capabilities", lambda: libc.drop_capabilities(-1))
        # The supervisor reads this process's /proc; until then nothing of the command's is running.
        libc.prctl(libc.PR_SET_DUMPABLE, 1)
        if prepared.terminal:
            step("terminal", _terminal)
        step(f"start-in {prepared.cwd}", lambda: os.chdir(prepared.cwd))
        send(_CHANNEL, "waits")
        # From here on only seccomp(2), read(2), execve(2), write(2) and exit_group(2) are called.
        for program in programs:
            step("filter", program.load)
        if os.read(_GATE, 1) != GO:
            os._exit(SETUP_FAILED)
        number = execute(candidates, arguments, environment)
        send(_CHANNEL, "not executed", str(number))
        os._exit(NOT_FOUND if number in {errno.ENOENT, errno.ENOTDIR} else NOT_EXECUTABLE)
    except SetupFailed as failed:
        send_failure(channel, failed)
    except Exception as error:
        send_failure(channel, SetupFailed("command", repr(error)))
    finally:
        os._exit(SETUP_FAILED)


def _prepare(
    prepared: Prepared,
) -> tuple[tuple[libc.FilterProgram, ...], tuple[bytes, ...], list[bytes], dict[bytes, bytes]]:
    """Give the filters beside the guard of init, and what to execute: candidates, arguments, environment."""
    return (
        tuple(libc.FilterProgram(one) for one in command_filters(prepared)[1:]),
        search(prepared.argv[0], dict(prepared.environment).get("PATH")),
        [os.fsencode(one) for one in prepared.argv],
        {os.fsencode(name): os.fsencode(value) for name, value in prepared.environment},
    )


def step(name: str, act: Callable[[], _T]) -> _T:
    """Do one step of the set-up; where it fails, `SetupFailed` of that name."""
    try:
        return act()
    except OSError as error:
        raise SetupFailed.of(name, error) from None
    except ValueError as error:
        raise SetupFailed(name, str(error)) from None


def _process(last_capability: int) -> None:
    os.setsid()
    reset_signals(CHANGED)
    os.umask(UMASK)
    libc.reset_personality()
    libc.drop_bounding(last_capability)
    libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)


def take_ids(ids: Ids) -> None:
    """Take the ids of the run, which are mapped."""
    if ids.mapped_by_root:
        os.setgroups([])
    os.setresgid(ids.group, ids.group, ids.group)
    os.setresuid(ids.user, ids.user, ids.user)


class _Init(NamedTuple):
    """A pidfd of init by the place that it is for; or why there is none."""

    place: dict[int, int]
    failed: OSError | None = None


def _opened_init() -> _Init:
    """Open it while that may be done. What is in its way may be in init's, too, which then has more to say of it."""
    try:
        return _Init({_INIT: os.pidfd_open(1)})
    except OSError as error:
        return _Init({}, error)


def _join(init: _Init) -> None:
    """Enter the namespaces that init has made since this process was forked (setns(2), Linux 5.8)."""
    if init.failed is not None:
        raise init.failed
    libc.setns(_INIT, libc.CLONE_NEWNS | libc.CLONE_NEWCGROUP)
    os.close(_INIT)


def _terminal() -> None:
    """Take the first terminal of the sandbox's own devpts, which init has opened the other side of."""
    # 0, 1 and 2 are free: this is 0.
    os.set_inheritable(os.open("/dev/pts/0", os.O_RDWR | os.O_NOCTTY), True)
    for place in (1, 2):
        os.dup2(0, place)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _limits(limits: tuple[Rlimit, ...]) -> None:
    for one in limits:
        resource.setrlimit(one.resource, (one.soft, one.hard))


def _place(wanted: dict[int, int]) -> None:
    """Close everything else at once, and put what is left in its place; 0, 1 and 2 are for the command."""
    libc.close_all_but(tuple(wanted.values()))
    high = [(place, fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, _HIGH)) for place, one in wanted.items()]
    for place, one in high:
        os.dup2(one, place, inheritable=place < _GATE)
    libc.close_all_but(tuple(wanted))


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
