"""Init of a sandbox: process 1 of its PID namespace.

It starts the process that becomes the command, begins to build the sandbox once a run is asked for, waits for its
orders, builds the rest, waits to be told to let the command go, reaps whatever ends, passes on the command's status,
and ends with the command, or when the host process is gone: with it the kernel kills every process of the namespace
(pid_namespaces(7)).
"""

import _socket as socket
import array
import contextlib
import fcntl
import os
import select
import signal
import sys
from struct import Struct

from sbc_runtime import command, libc, orders
from sbc_runtime.errors import SetupFailed
from sbc_runtime.messages import send_failure
from sbc_runtime.mount_sources import Sources
from sbc_runtime.mounts import Builder, Frame, rehearse
from sbc_runtime.orders import Orders
from sbc_runtime.prepared import Ids
from sbc_runtime.records import NamedTuple
from sbc_runtime.system_v import open_tables
from sbc_runtime.words import NoReturn

STATUS = Struct("=i")
"""What init writes once: the command's status, as waitpid(2) gives it."""

BEGIN = b"b"
"""What the supervisor says once a run is asked for."""

_SIOCSIFFLAGS = 0x8914
_TIOCSPTLCK = 0x80045431 if os.uname().machine.startswith(("mips", "ppc", "sparc")) else 0x40045431
_UP_RUNNING_LOOPBACK = 0x49
_NAME = b"sbc-init"


class Start(NamedTuple):
    """What init is given. Descriptors: `channel` to the supervisor, `command` to it from the command's process, and
    `status` for one `STATUS`. `filter`: init's own. `sample`: orders like those to come, to get ready for.
    """

    channel: int
    command: int
    status: int
    ids: Ids
    network: str
    frame: Frame
    last_capability: int
    filter: bytes
    sample: Orders | None


class _Watched(NamedTuple):
    """What init waits on: the host's lifeline, ends of children; and the command's gate and process."""

    lifeline: int
    children: int
    opener: int
    pid: int


def main(start: Start) -> NoReturn:
    """Be init."""
    try:
        _main(start)
    except SetupFailed as failed:
        send_failure(start.channel, failed)
    except OSError as error:
        send_failure(start.channel, SetupFailed.of("init", error))
    except BaseException as error:
        send_failure(start.channel, SetupFailed("init", repr(error)))
    finally:
        os._exit(command.SETUP_FAILED)


def _main(start: Start) -> None:
    libc.close_all_but((start.channel, start.command, start.status))
    libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
    os.umask(command.UMASK)
    libc.set_name(_NAME)
    # The supervisor writes the id maps, and then this.
    if os.read(start.channel, 1) != b"m":
        return
    if start.network == "none":
        _loopback()
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGCHLD,))
    gate, opener = os.pipe()
    pid = libc.clone(0)
    if pid == 0:
        command.become(command.Task(gate, start.command, start.last_capability, start.sample))
    os.close(gate)
    os.close(start.command)
    children = libc.signalfd(signal.SIGCHLD)
    program = libc.FilterProgram(start.filter)
    _send_tables(start.channel)
    libc.drop_bounding(start.last_capability)
    libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
    if start.sample is not None and not orders.waiting(start.channel):
        rehearse(orders.rehearse(start.sample).prepared)
    if os.read(start.channel, 1) != BEGIN:
        return
    libc.unshare(libc.CLONE_NEWNS)
    command.take_ids(start.ids)
    # The kernel clears it when ids change (prctl(2)).
    libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
    builder = Builder(start.frame)
    builder.begin()
    told = orders.receive(start.channel)
    if told is None:
        return
    # The supervisor has moved this process into the run's cgroup, if there is one.
    libc.unshare(libc.CLONE_NEWCGROUP)
    (prepared, _, trees, targets), (lifeline, *given) = told
    socket.sethostname(prepared.hostname)
    sources = Sources(dict(zip(trees, given, strict=False)), dict(zip(targets, given[len(trees) :], strict=True)))
    builder.take(prepared, sources)
    builder.build()
    if prepared.terminal:
        _terminal(start.channel)
    libc.drop_capabilities(-1)
    # The supervisor reads /proc of both processes, and the command's joins the namespaces of this one; until both have
    # done so nothing of the command's is running.
    libc.prctl(libc.PR_SET_DUMPABLE, 1)
    try:
        os.write(opener, command.BUILT)
    except BrokenPipeError:
        return  # the command's process has ended, and said why
    libc.close_all_but((start.channel, start.status, lifeline, opener, children))
    program.load()
    _supervise(start, _Watched(lifeline, children, opener, pid))


def _loopback() -> None:
    with contextlib.closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as one:
        request = b"lo".ljust(16, b"\0") + _UP_RUNNING_LOOPBACK.to_bytes(2, sys.byteorder) + bytes(22)
        fcntl.ioctl(one, _SIOCSIFFLAGS, request)


def _terminal(channel: int) -> None:
    """Open a terminal of the sandbox's own; its controlling side goes to the supervisor."""
    controlling = os.open("/dev/pts/ptmx", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    fcntl.ioctl(controlling, _TIOCSPTLCK, b"\0\0\0\0")
    _send_descriptors(channel, "terminal", (controlling,))
    os.close(controlling)


def _send_tables(channel: int) -> None:
    """Give the supervisor a view of this IPC namespace's System V objects: it is bound to who opens it."""
    tables = open_tables()
    _send_descriptors(channel, "System V", tables)
    for one in tables:
        os.close(one)


def _send_descriptors(channel: int, word: str, descriptors: tuple[int, ...]) -> None:
    with contextlib.closing(socket.socket(fileno=os.dup(channel))) as end:
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))
        end.sendmsg([word.encode()], [rights])


def _supervise(start: Start, watched: _Watched) -> None:
    """Reap until the command has ended. Nothing in here may be reached by the command."""
    poll = select.poll()
    poll.register(start.channel, select.POLLIN)
    poll.register(watched.lifeline, 0)
    poll.register(watched.children, select.POLLIN)
    while True:
        for descriptor, _ in poll.poll():
            if descriptor == watched.lifeline:
                os._exit(command.SETUP_FAILED)
            elif descriptor == start.channel:
                if os.read(start.channel, 1) != b"g":
                    os._exit(command.SETUP_FAILED)
                # From now on the command runs: even a process with its ids can no longer look into this one.
                libc.prctl(libc.PR_SET_DUMPABLE, 0)
                poll.unregister(start.channel)
                os.close(start.channel)
                os.write(watched.opener, command.GO)
                os.close(watched.opener)
            else:
                os.read(watched.children, 4096)
                _reap(start.status, watched.pid)


def _reap(status_end: int, pid: int) -> None:
    while True:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if ended == 0:
            return
        # A child that calls PTRACE_TRACEME is told of whenever it stops, too (ptrace(2)).
        if ended == pid and not os.WIFSTOPPED(status):
            os.write(status_end, STATUS.pack(status))
            os._exit(0)
