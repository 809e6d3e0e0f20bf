"""The caller's terminal, where a command gets one of its own: raw while it runs, as it was afterwards."""

import os
import sys
from contextlib import suppress

_DEFAULT = (24, 80)


def one_terminal() -> bool:
    """Tell whether stdin, stdout and stderr are one and the same terminal."""
    try:
        if not all(os.isatty(descriptor) for descriptor in (0, 1, 2)):
            return False
        return len({os.fstat(descriptor).st_rdev for descriptor in (0, 1, 2)}) == 1
    except OSError:
        return False


class Terminal:
    """The terminal of stdin, where that is one."""

    def __init__(self) -> None:
        self._saved: list[int | list[bytes | int]] | None = None

    def size(self) -> tuple[int, int]:
        """Give rows and columns."""
        with suppress(OSError):
            columns, rows = os.get_terminal_size(0)
            if rows and columns:
                return rows, columns
        return _DEFAULT

    def __enter__(self) -> "Terminal":
        if os.isatty(0):
            import termios
            import tty

            with suppress(termios.error):  # it has been hung up meanwhile: then there is nothing to make raw
                self._saved = termios.tcgetattr(0)
                tty.setraw(0, termios.TCSANOW)
        return self

    def __exit__(self, *_: object) -> None:
        if self._saved is not None:
            import termios

            with suppress(OSError):
                sys.stdout.flush()
            with suppress(termios.error):
                termios.tcsetattr(0, termios.TCSADRAIN, self._saved)
