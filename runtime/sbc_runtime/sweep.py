"""Waits for the end of a sandbox that was killed, and sees to it that it comes.

The kernel kills every process of a PID namespace once its init is: but init has to be scheduled for that, and a command
may have filled every processor, or made its own processes the last in line. So whatever does not end at once is killed
one by one, through the sandbox's own /proc, until init, which the kernel lets end last, is gone.
"""

import contextlib
import os
import select
import signal
import time

PATIENCE = 0.02
"""Seconds for the kernel to end a sandbox by itself: hundreds of times what it takes where nothing is in its way."""

_LONGEST = 0.2
"""Seconds between two sweeps at most."""


def until_ended(process: int, proc: int) -> None:
    """Wait until a process, of which `process` is a pidfd, has ended; kill all that `proc` lists meanwhile.

    `proc`: a descriptor of the /proc of the sandbox whose init has been sent SIGKILL, or -1.
    """
    poll = select.poll()
    poll.register(process, select.POLLIN)
    pause = PATIENCE
    while not poll.poll(int(pause * 1000)):
        begun = time.monotonic()
        if proc >= 0:
            sweep(proc)
        pause = min(max(PATIENCE, 2 * (time.monotonic() - begun)), _LONGEST)


def sweep(proc: int) -> None:
    """Send SIGKILL to every process that a /proc lists."""
    with contextlib.suppress(OSError):
        for name in os.listdir(proc):
            if name.isdecimal():
                with contextlib.suppress(OSError):
                    _kill(proc, name)


def _kill(proc: int, name: str) -> None:
    # A folder of /proc serves as a pidfd (`pidfd_to_pid`, `kernel/signal.c`): no other process can have its number.
    folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=proc)
    try:
        signal.pidfd_send_signal(folder, signal.SIGKILL)
    finally:
        os.close(folder)
