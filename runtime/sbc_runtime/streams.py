"""Carries bytes between the run's own pipes and what the caller gave, without ever waiting for either side.

The command never holds an open file of the caller's: through `/proc/self/fd/1` it could truncate it. The supervisor
must never block either: limits would not hold while it does.
"""

import _socket as socket
import contextlib
import errno
import os
import select
import stat

CHUNK = 65536
"""How much is moved at once: what a pipe holds (pipe(7))."""

CAPTURE_MOST = 256 << 20
"""How much of a captured stream is kept where the profile sets no limit, in bytes."""

_SAFE = getattr(select, "PIPE_BUF", 512)
"""What a blocking pipe takes at once when poll(2) or select(2) says that it is writable; Windows has neither."""

_NO_SIGNAL = getattr(socket, "MSG_NOSIGNAL", 0)
"""macOS has none; Python ignores SIGPIPE there as everywhere."""

_AGAIN = frozenset({errno.EAGAIN, errno.EINTR})


class Sink:
    """Where bytes go: a descriptor of the caller's, or one of ours. Never blocks."""

    def __init__(self, descriptor: int, ours: bool) -> None:
        self.descriptor = descriptor
        self._socket: socket.socket | None = None
        self._most = CHUNK
        self.error = 0
        self._owned = (descriptor,) if ours else ()
        mode = os.fstat(descriptor).st_mode
        self.pollable = not stat.S_ISREG(mode)
        if ours:
            if self.pollable:
                os.set_blocking(descriptor, False)
        elif stat.S_ISSOCK(mode):
            self._socket = socket.socket(fileno=os.dup(descriptor))
        elif stat.S_ISFIFO(mode) or stat.S_ISCHR(mode):
            # O_NONBLOCK belongs to the open file, which the caller shares: only a new one can have it.
            try:
                self.descriptor = _opened_again(descriptor)
                self._owned = (self.descriptor,)
            except OSError:
                self._most = _SAFE

    def write(self, data: memoryview) -> int:
        """Write what can be written now, and give how much; -1: nothing ever can be again, and `error` says why."""
        try:
            if self._socket is not None:
                return self._socket.send(data[: self._most], socket.MSG_DONTWAIT | _NO_SIGNAL)
            return os.write(self.descriptor, data[: self._most])
        except OSError as error:
            if error.errno in _AGAIN:
                return 0
            self.error = error.errno or errno.EIO
            return -1

    def close(self) -> None:
        """Close what is ours of it, once."""
        owned, self._owned = self._owned, ()
        for one in owned:
            with contextlib.suppress(OSError):
                os.close(one)
        if self._socket is not None:
            self._socket.close()


def _opened_again(descriptor: int) -> int:
    flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    try:
        return os.open(f"/proc/self/fd/{descriptor}", flags)
    except FileNotFoundError:  # macOS has no /proc, and its /dev/fd gives the same open file again
        return os.open(os.ttyname(descriptor), flags)


class Pump:
    """Moves one stream from `source` to `sink` (None: it is counted and thrown away).

    `limit`: bytes that may come (None: any number); `kept`: bytes that are written at most. `close_sink`: at the end
    of the source the sink is closed, which tells the command that its input has ended. `close_source`: once nothing
    can be written any more the source is closed, which tells the command that nobody listens, as its own pipe would.
    """

    def __init__(
        self,
        source: int,
        sink: Sink | None,
        *,
        limit: int | None,
        kept: int | None,
        close_sink: bool = False,
        close_source: bool = False,
    ) -> None:
        self.source = source
        self.sink = sink
        self.limit = limit
        self.kept = kept
        self.close_sink = close_sink
        self.close_source = close_source
        self.passed_on = sink is not None
        self.error = 0
        self.total = 0
        self.written = 0
        self.open = True
        self._source_ended = False
        self._waiting = memoryview(b"")

    @property
    def over(self) -> bool:
        """Whether more came than may come."""
        return self.limit is not None and self.total > self.limit

    @property
    def cut(self) -> bool:
        """Whether more came than was passed on."""
        return self.over or (self.passed_on and self.written < self.total)

    def interest(self) -> tuple[int, int] | None:
        """Give the descriptor and the events (poll(2)) that this pump waits for now."""
        if not self.open:
            return None
        if self._waiting:
            return (self.sink.descriptor, select.POLLOUT) if self.sink is not None else None
        return self.source, select.POLLIN

    def step(self) -> None:
        """Move what can be moved now."""
        if self.open and not self._waiting and not self._source_ended:
            self._read()
        if self._waiting:
            self._flush()
        if self._source_ended and not self._waiting and self.open:
            self._finish()

    def _read(self) -> None:
        try:
            data = os.read(self.source, CHUNK)
        except OSError as error:
            if error.errno in _AGAIN:
                return
            data = b""  # EIO: nobody holds the other side of the terminal any more
        if not data:
            self._source_ended = True
            return
        self.total += len(data)
        self.took(data)
        most = min(value for value in (self.limit, self.kept, self.total) if value is not None)
        accepted = max(0, len(data) - max(0, self.total - most))
        if self.sink is not None and accepted:
            self._waiting = memoryview(data)[:accepted]

    def took(self, data: bytes) -> None:
        """Be told what came; for who listens."""

    def _flush(self) -> None:
        done = -1 if self.sink is None else self.sink.write(self._waiting)
        if done < 0:
            self._waiting = memoryview(b"")
            if self.sink is not None:
                self.error = self.sink.error
            self.sink = None
            if self.close_sink:
                self._source_ended = True
            elif self.close_source:
                os.close(self.source)
                self.open = False
            return
        self.written += done
        self._waiting = self._waiting[done:]

    def _finish(self) -> None:
        self.open = False
        if self.close_sink and self.sink is not None:
            self.sink.close()
            self.sink = None
