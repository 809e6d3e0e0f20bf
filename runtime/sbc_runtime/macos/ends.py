"""The command's own streams, never the caller's: pipes or a terminal, and what moves bytes through our ends."""

import os
import tempfile
from contextlib import ExitStack

from sbc_runtime.outcome import Stream
from sbc_runtime.records import NamedTuple
from sbc_runtime.streams import CAPTURE_MOST, Pump, Sink
from sbc_runtime.terminals import set_size

FIRST = 512
"""How many of the first bytes of standard error are kept, to know sandbox-exec's own words."""

_HIGHEST = 1023
"""The greatest descriptor that select(2) takes (FD_SETSIZE)."""


class Wanted(NamedTuple):
    """Where the streams lead: `stdin` what is fed (None: nothing), the others a descriptor, or None for nothing.

    `captured`: whether output and errors are kept for the outcome. `size`: rows and columns of a terminal, or None.
    """

    stdin: bytes | int | None
    stdout: int | None
    stderr: int | None
    captured: tuple[bool, bool]
    size: tuple[int, int] | None


class Heard(Pump):
    """Moves output; remembers its first bytes, and, of one that is captured, all that is kept."""

    def __init__(self, source: int, sink: Sink | None, limit: int | None, *, captured: bool) -> None:
        super().__init__(source, sink, limit=limit, kept=None)
        self._most = FIRST if not captured else CAPTURE_MOST if limit is None else min(limit, CAPTURE_MOST)
        self._captured = captured
        self._content = bytearray()

    def took(self, data: bytes) -> None:
        """Keep what is to be kept."""
        self._content += data[: max(0, max(self._most, FIRST) - len(self._content))]

    @property
    def head(self) -> bytes:
        """The first bytes that came."""
        return bytes(self._content[:FIRST])

    def stream(self) -> Stream:
        """Give what came."""
        kept = bytes(self._content[: self._most]) if self._captured else b""
        return Stream(kept, self.total, self.cut or (self._captured and len(kept) < self.total))


class Ends:
    """Both sides of the streams. `child`: the command's; `pumps`: all, `outputs`: of output and errors."""

    def __init__(self, wanted: Wanted, limit: int | None) -> None:
        """Make them; `OSError`, and nothing is left open."""
        self.terminal = -1
        self.outputs: list[Heard] = []
        self.pumps: list[Pump] = []
        self._child = ExitStack()
        self._ours = ExitStack()
        try:
            self.child = self._of_terminal(wanted, limit) if wanted.size else self._of_pipes(wanted, limit)
            self.pumps += self.outputs
            if any(one > _HIGHEST for pump in self.pumps for one in (pump.source, _descriptor(pump.sink))):
                raise OSError(24, "too many open files for select(2)")
        except BaseException:
            self.close()
            raise

    def close_child(self) -> None:
        """Close the command's ends: now only the command has them."""
        self._child.close()

    def close(self) -> None:
        """Close everything."""
        self._child.close()
        self._ours.close()

    def _of_pipes(self, wanted: Wanted, limit: int | None) -> tuple[int, int, int]:
        stdin, feed = self._pipe(theirs=0)
        out, stdout = self._pipe(theirs=1)
        errors, stderr = self._pipe(theirs=1)
        sink = Sink(feed, ours=True)
        self._ours.callback(sink.close)
        if wanted.stdin is None:
            sink.close()
        else:
            self._feed(wanted.stdin, sink, close=True)
        for source, target, captured in zip(
            (out, errors), (wanted.stdout, wanted.stderr), wanted.captured, strict=True
        ):
            self._ours.callback(os.close, source)
            self._listen(source, target, limit, captured=captured)
        return stdin, stdout, stderr

    def _of_terminal(self, wanted: Wanted, limit: int | None) -> tuple[int, int, int]:
        self.terminal, theirs = os.openpty()
        self._ours.callback(os.close, self.terminal)
        self._child.callback(os.close, theirs)
        set_size(self.terminal, *(wanted.size or (24, 80)))
        if wanted.stdin is not None:
            self._feed(wanted.stdin, Sink(self.terminal, ours=True), close=False)
        self._listen(self.terminal, wanted.stdout, limit, captured=False)
        return theirs, theirs, theirs

    def _feed(self, given: bytes | int, sink: Sink, *, close: bool) -> None:
        if isinstance(given, bytes):
            file = self._ours.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 (it is entered)
            file.write(given)
            file.seek(0)
            given = file.fileno()
        self.pumps.append(Pump(given, sink, limit=None, kept=None, close_sink=close))

    def _listen(self, source: int, target: int | None, limit: int | None, *, captured: bool) -> None:
        sink = None if target is None else Sink(target, ours=False)
        if sink is not None:
            self._ours.callback(sink.close)
        self.outputs.append(Heard(source, sink, limit, captured=captured))

    def _pipe(self, theirs: int) -> tuple[int, int]:
        """Make a pipe, of which the command's end is closed with the others."""
        made = os.pipe()
        self._child.callback(os.close, made[theirs])
        return made


def _descriptor(sink: Sink | None) -> int:
    return -1 if sink is None else sink.descriptor
