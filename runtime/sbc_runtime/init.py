"""Init of a sandbox: process 1 of its PID namespace.

It builds the sandbox, starts the process that becomes the command, waits to be told to let it go, reaps whatever ends,
passes on the command's status, and ends with the command, or when the host process is gone: with it the kernel kills
every process of the namespace (pid_namespaces(7)).
"""

import array
import contextlib
import fcntl
import os
import select
import signal
import socket
import sys
from struct import Struct
from typing import NamedTuple, NoReturn

from sbc_runtime import command, libc
from sbc_runtime.backends.interface import ChildDescriptors
from sbc_runtime.errors import SetupFailed
from sbc_runtime.messages import send_failure
from sbc_runtime.mounts import Builder
from sbc_runtime.prepared import Prepared
from sbc_runtime.rlimits import Rlimit

STATUS = Struct("=i")
"""What init writes once: the command's status, as waitpid(2) gives it."""

_SIOCSIFFLAGS = 0x8914
_TIOCSPTLCK = 0x80045431 if os.uname().machine.startswith(("mips", "ppc", "sparc")) else 0x40045431
_UP_RUNNING_LOOPBACK = 0x49
_NAME = b"sbc-init"


class Start(NamedTuple):
    """What init is given. Descriptors: `channel` to the supervisor, `status` for one `STATUS`, `lifeline` to watch."""

    prepared: Prepared
    child: ChildDescriptors
    channel: int
    status: int
    lifeline: int
    trees: dict[str, int]
    limits: tuple[Rlimit, ...]
    last_capability: int
    filter: bytes | None


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
    prepared = start.prepared
    own = (start.channel, start.status, start.lifeline)
    libc.close_all_but((*own, *(one for one in start.child if one >= 0), *start.trees.values()))
    libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
    # The supervisor writes the id maps, and then this; it has moved this process into its cgroup, if there is one.
    if os.read(start.channel, 1) != b"m":
        return
    libc.unshare(libc.CLONE_NEWCGROUP)
    _identity(prepared)
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGCHLD,))
    gate, opener = os.pipe()
    pid = libc.clone(0)
    if pid == 0:
        task = command.Task(prepared, start.child, gate, start.channel, start.limits, start.last_capability)
        command.become(task)
    if prepared.network == "none":
        _loopback()
    Builder(prepared, start.trees).build()
    if prepared.terminal:
        _terminal(start.channel)
    _send_shared_memory(start.channel)
    libc.drop_capabilities(start.last_capability)
    libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
    # The supervisor reads /proc of both processes; until then nothing of the command's is running.
    libc.prctl(libc.PR_SET_DUMPABLE, 1)
    os.write(opener, command.BUILT)
    _supervise(start, pid, opener)


def _identity(prepared: Prepared) -> None:
    ids = prepared.ids
    if ids.mapped_by_root:
        os.setgroups([])
    os.setresgid(ids.group, ids.group, ids.group)
    os.setresuid(ids.user, ids.user, ids.user)
    # The kernel clears it when ids change (prctl(2)).
    libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
    socket.sethostname(prepared.hostname)


def _loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        request = b"lo".ljust(16, b"\0") + _UP_RUNNING_LOOPBACK.to_bytes(2, sys.byteorder) + bytes(22)
        fcntl.ioctl(one, _SIOCSIFFLAGS, request)


def _terminal(channel: int) -> None:
    """Open a terminal of the sandbox's own; its controlling side goes to the supervisor."""
    controlling = os.open("/dev/pts/ptmx", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    fcntl.ioctl(controlling, _TIOCSPTLCK, b"\0\0\0\0")
    _send_descriptor(channel, "terminal", controlling)
    os.close(controlling)


def _send_shared_memory(channel: int) -> None:
    """Give the supervisor a view of this IPC namespace's System V segments: it is bound to who opens it."""
    with contextlib.suppress(OSError):  # a kernel without System V
        descriptor = os.open("/proc/sysvipc/shm", os.O_RDONLY | os.O_CLOEXEC)
        _send_descriptor(channel, "shared memory", descriptor)
        os.close(descriptor)


def _send_descriptor(channel: int, word: str, descriptor: int) -> None:
    with socket.socket(fileno=os.dup(channel)) as end:
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", (descriptor,)))
        end.sendmsg([f'["{word}", null]'.encode()], [rights])


def _supervise(start: Start, pid: int, opener: int) -> None:
    """Reap until the command has ended. Nothing in here may be reached by the command."""
    libc.set_name(_NAME)
    children = libc.signalfd(signal.SIGCHLD)
    libc.close_all_but((start.channel, start.status, start.lifeline, opener, children))
    if start.filter is not None:
        libc.FilterProgram(start.filter).load()
    poll = select.poll()
    poll.register(start.channel, select.POLLIN)
    poll.register(start.lifeline, 0)
    poll.register(children, select.POLLIN)
    while True:
        for descriptor, _ in poll.poll():
            if descriptor == start.lifeline:
                os._exit(command.SETUP_FAILED)
            elif descriptor == start.channel:
                if os.read(start.channel, 1) != b"g":
                    os._exit(command.SETUP_FAILED)
                # From now on the command runs: even a process with its ids can no longer look into this one.
                libc.prctl(libc.PR_SET_DUMPABLE, 0)
                poll.unregister(start.channel)
                os.close(start.channel)
                os.write(opener, command.GO)
                os.close(opener)
            else:
                os.read(children, 4096)
                _reap(start, pid)


def _reap(start: Start, pid: int) -> None:
    while True:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if ended == 0:
            return
        if ended == pid:
            os.write(start.status, STATUS.pack(status))
            os._exit(0)
