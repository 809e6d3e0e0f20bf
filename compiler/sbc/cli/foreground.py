"""What a caller's signals and terminal are to its run: the run's, from before it starts until it has ended.

What comes between the start and the moment in which the run can be told is told then: an interrupt right after the
command's first word cancels it, and the first key is never the caller's own terminal's to act on.
"""

import signal
from contextlib import ExitStack
from types import FrameType

from sbc.cli.terminal import Terminal
from sbc_runtime.outcome import Outcome
from sbc_runtime.words import Protocol


class Cancellable(Protocol):
    """A run that can be waited for."""

    def cancel(self) -> None:
        """End it."""

    def resize(self, rows: int, columns: int) -> None:
        """Tell the command's terminal its size."""

    def wait(self) -> Outcome:
        """Wait for its end."""
        ...


class Foreground:
    """Takes signals and terminal over when it is made; `leave` gives them back.

    An interrupt cancels the run; a new size of the terminal is passed on.
    """

    def __init__(self, terminal: Terminal | None) -> None:
        self._terminal = terminal
        self._run: Cancellable | None = None
        self._cancelled = self._resized = False
        self._left = ExitStack()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self._left.callback(signal.signal, number, signal.signal(number, self._cancel))
        self._left.callback(signal.signal, signal.SIGWINCH, signal.signal(signal.SIGWINCH, self._resize))
        if terminal is not None:
            self._left.enter_context(terminal)

    def wait(self, run: Cancellable) -> Outcome:
        """Wait for the end of the run that was started, and tell it what has come and comes until then."""
        self._run = run
        if self._cancelled:
            run.cancel()
        if self._resized:
            self._pass_size(run)
        return run.wait()

    def leave(self) -> None:
        """Give back what was taken over."""
        self._left.close()

    def _cancel(self, _number: int, _frame: FrameType | None) -> None:
        self._cancelled = True
        if self._run is not None:
            self._run.cancel()

    def _resize(self, _number: int, _frame: FrameType | None) -> None:
        self._resized = True
        if self._run is not None:
            self._pass_size(self._run)

    def _pass_size(self, run: Cancellable) -> None:
        if self._terminal is not None:
            run.resize(*self._terminal.size())
