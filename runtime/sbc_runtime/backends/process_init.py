"""The watcher of a run without namespaces: starts the command, relays its status, and ends what it can find of it.

It stands outside of everything that the command is put under. The command is told apart from it by its user id where
root calls, and by Landlock's scope for signals (ABI 6); without either, the command can kill it.
"""

import contextlib
import os
import select
import signal
from typing import NamedTuple, NoReturn

from sbc_runtime import command, landlock, libc, messages
from sbc_runtime.backends import process_tree
from sbc_runtime.backends.interface import ChildDescriptors
from sbc_runtime.errors import SetupFailed
from sbc_runtime.init import STATUS
from sbc_runtime.prepared import Prepared
from sbc_runtime.rlimits import Rlimit

_NAME = b"sbc-watch"


class Start(NamedTuple):
    """What the watcher is given. `channel`, `status`, `lifeline`: descriptors, as for `init`.

    `sockets`: the second filter, or None. `version`: Landlock's ABI, 0 for none.
    """

    prepared: Prepared
    child: ChildDescriptors
    channel: int
    status: int
    lifeline: int
    limits: tuple[Rlimit, ...]
    sockets: bytes | None
    rules: landlock.Rules
    version: int


def main(start: Start) -> NoReturn:
    """Be the watcher."""
    try:
        _main(start)
    except SetupFailed as failed:
        messages.send_failure(start.channel, failed)
    except OSError as error:
        messages.send_failure(start.channel, SetupFailed.of("watcher", error))
    finally:
        os._exit(command.SETUP_FAILED)


def _main(start: Start) -> None:
    libc.close_all_but((start.channel, start.status, start.lifeline, *(one for one in start.child if one >= 0)))
    libc.prctl(process_tree.PR_SET_CHILD_SUBREAPER, 1)
    # A session of its own: what is typed at the caller's terminal is the supervisor's to pass on.
    os.setsid()
    with contextlib.suppress(OSError):  # not every container lets keyctl(2) through; nothing is claimed of it
        libc.new_session_keyring()
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGCHLD,))
    children = libc.signalfd(signal.SIGCHLD)
    gate, opener = os.pipe()
    watcher = os.getpid()
    pid = os.fork()
    if pid == 0:
        _become(start, gate, watcher)
    libc.set_name(_NAME)
    libc.prctl(libc.PR_SET_DUMPABLE, 0)
    libc.close_all_but((start.channel, start.status, start.lifeline, opener, children))
    _watch(start, pid, opener, children)


def _become(start: Start, gate: int, watcher: int) -> NoReturn:
    """Get under everything that has to be in force before `command.become` goes on."""
    try:
        try:
            # Paths are opened with the caller's rights, before the ids change.
            ruleset = landlock.prepare(start.rules, start.version) if start.version else -1
            _identity(start)
            libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != watcher:
                os._exit(command.SETUP_FAILED)
            libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
            if start.version:
                messages.send(start.channel, "landlock", _restrict(ruleset, start.version))
            if start.sockets is not None:
                libc.FilterProgram(start.sockets).load()
        except OSError as error:
            raise SetupFailed.of("process", error) from None
        command.become(start.prepared, start.child, gate, start.channel, start.limits)
    except SetupFailed as failed:
        messages.send_failure(start.channel, failed)
    finally:
        os._exit(command.SETUP_FAILED)


def _identity(start: Start) -> None:
    ids = start.prepared.ids
    if ids.mapped_by_root:
        for capability in range(_last_capability() + 1):
            libc.prctl(libc.PR_CAPBSET_DROP, capability)
        os.setgroups([])
        os.setresgid(ids.host_group, ids.host_group, ids.host_group)
        os.setresuid(ids.host_user, ids.host_user, ids.host_user)
        # The kernel clears it when ids change; whoever has these ids may look into the waiting process.
        libc.prctl(libc.PR_SET_DUMPABLE, 1)
    libc.drop_capabilities(-1)


def _last_capability() -> int:
    with open("/proc/sys/kernel/cap_last_cap", "rb") as file:
        return int(file.read())


def _restrict(ruleset: int, version: int) -> bool | None:
    """Restrict this process, and see that it is: /proc has no line for Landlock.

    A process inside a domain may not look into one outside (`hook_ptrace_access_check`, `security/landlock/task.c`):
    what was open before is closed after. None: it was closed before.
    """
    here, there = os.pipe()
    other = os.fork()
    if other == 0:
        os.close(there)
        os.read(here, 1)
        os._exit(0)
    before = _can_look(other)
    landlock.apply(ruleset, version)
    after = _can_look(other)
    os.close(there)
    os.close(here)
    os.waitpid(other, 0)
    return not after if before else None


def _can_look(pid: int) -> bool:
    try:
        os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return False
    return True


def _watch(start: Start, pid: int, opener: int, children: int) -> None:
    poll = select.poll()
    poll.register(start.channel, select.POLLIN)
    poll.register(start.lifeline, 0)
    poll.register(children, select.POLLIN)
    while True:
        for descriptor, _ in poll.poll():
            if descriptor == children:
                os.read(children, 4096)
                _reap(start, pid)
            elif descriptor == start.channel and os.read(start.channel, 1) == b"g":
                os.write(opener, b"g")
                os.close(opener)
            else:
                # The supervisor or the host process is gone.
                _end()


def _reap(start: Start, pid: int) -> None:
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == pid:
                os.write(start.status, STATUS.pack(ended[1]))
                _end()


def _end() -> NoReturn:
    process_tree.kill_below(os.getpid())
    os._exit(0)
