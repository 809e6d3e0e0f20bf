"""The size of terminals."""

import contextlib
import fcntl
import struct
import termios


def set_size(terminal: int, rows: int, columns: int) -> None:
    """Tell a terminal its size (ioctl_tty(2), TIOCSWINSZ); its foreground processes get SIGWINCH."""
    with contextlib.suppress(OSError):
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("=HHHH", rows, columns, 0, 0))
