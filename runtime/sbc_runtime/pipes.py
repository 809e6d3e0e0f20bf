"""The run's own pipes, or its terminal, and the pumps that move bytes through them."""

import contextlib
import os

from sbc_runtime.backends.interface import ChildDescriptors
from sbc_runtime.handed import give
from sbc_runtime.job import Job
from sbc_runtime.prepared import Prepared
from sbc_runtime.records import NamedTuple
from sbc_runtime.streams import CAPTURE_MOST, Pump, Sink
from sbc_runtime.terminals import set_size


class Streams(NamedTuple):
    """What the streams lead to or come from: the caller's descriptors, -1 for nothing."""

    stdin: int
    stdout: int
    stderr: int


class Pipes:
    """The run's own pipes, and what moves bytes through them."""

    def __init__(self, job: Job, prepared: Prepared, given: Streams) -> None:
        self._given = given
        self._limit = prepared.limits.output
        self._options = job.options
        self._ours: list[int] = []
        self.pumps: list[Pump] = []
        if prepared.terminal:
            self.child = ChildDescriptors(-1, -1, -1)
            return
        stdin, self._in = os.pipe()
        self._out, stdout = os.pipe()
        self._err, stderr = os.pipe()
        self.child = ChildDescriptors(stdin, stdout, stderr)
        for one in self.child:
            give(one, prepared.ids)

    def close_child(self) -> None:
        """Close the command's ends: now only the command has them."""
        for one in self.child:
            if one >= 0:
                os.close(one)

    def close(self) -> None:
        """Close our ends, which nothing has used."""
        for one in (self._in, self._out, self._err):
            with contextlib.suppress(OSError):  # without input it is closed already
                os.close(one)

    def attach(self, terminal: int) -> None:
        """Make the pumps: input first, then output, then errors."""
        if terminal >= 0:
            copy = os.dup(terminal)
            set_size(terminal, self._options.rows, self._options.columns)
            os.set_blocking(terminal, False)
            self.pumps = [
                Pump(self._given.stdin, Sink(terminal, ours=True), limit=None, kept=None),
                self._out_pump(copy, self._given.stdout, captured=False),
            ]
            return
        if self._given.stdin >= 0:
            self.pumps.append(
                Pump(self._given.stdin, Sink(self._in, ours=True), limit=None, kept=None, close_sink=True)
            )
        else:
            os.close(self._in)
            self.pumps.append(Pump(-1, None, limit=None, kept=None))
            self.pumps[0].open = False
        self.pumps.append(self._out_pump(self._out, self._given.stdout, captured=self._options.stdout == "capture"))
        self.pumps.append(self._out_pump(self._err, self._given.stderr, captured=self._options.stderr == "capture"))

    def _out_pump(self, source: int, target: int, *, captured: bool) -> Pump:
        sink = None if target < 0 else Sink(target, ours=captured)
        kept = CAPTURE_MOST if captured else None
        return Pump(source, sink, limit=self._limit, kept=kept, close_source=self.child.stdout >= 0)
