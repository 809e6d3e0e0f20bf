"""The watcher of a run without namespaces: starts the command, relays its status, and ends what it can find of it.

It stands outside of everything that the command is put under. The command is told apart from it by its user id where
root calls, and by Landlock's scope for signals (ABI 6); without either, the command can kill it.
"""

import contextlib
import os
import select
import signal

from sbc_runtime import libc, messages
from sbc_runtime.backends import process_tree
from sbc_runtime.backends.process_command import become
from sbc_runtime.backends.process_start import Start
from sbc_runtime.command import SETUP_FAILED
from sbc_runtime.errors import SetupFailed
from sbc_runtime.init import STATUS
from sbc_runtime.words import NoReturn

_NAME = b"sbc-watch"


def main(start: Start) -> NoReturn:
    """Be the watcher."""
    try:
        _main(start)
    except SetupFailed as failed:
        messages.send_failure(start.channel, failed)
    except OSError as error:
        messages.send_failure(start.channel, SetupFailed.of("watcher", error))
    except Exception as error:
        messages.send_failure(start.channel, SetupFailed("watcher", repr(error)))
    finally:
        os._exit(SETUP_FAILED)


def _main(start: Start) -> None:
    libc.close_all_but((start.channel, start.status, start.lifeline, *(one for one in start.child if one >= 0)))
    libc.prctl(process_tree.PR_SET_CHILD_SUBREAPER, 1)
    # A session of its own: what is typed at the caller's terminal is the supervisor's to pass on.
    os.setsid()
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGCHLD,))
    children = libc.signalfd(signal.SIGCHLD)
    gate, opener = os.pipe()
    watcher = os.getpid()
    pid = os.fork()
    if pid == 0:
        become(start, gate, watcher)
    libc.set_name(_NAME)
    libc.prctl(libc.PR_SET_DUMPABLE, 0)
    libc.close_all_but((start.channel, start.status, start.lifeline, opener, children))
    _watch(start, pid, opener, children)


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
