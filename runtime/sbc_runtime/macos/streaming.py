"""Input, output and time of one run on macOS: one loop, in a thread of the host process."""

import select
import time
from collections.abc import Sequence

from sbc_runtime.macos.ends import Ends
from sbc_runtime.macos.kept import Kept
from sbc_runtime.outcome import Kind
from sbc_runtime.streams import CHUNK, Pump
from sbc_runtime.words import Any

DRAIN_SECONDS = 1.0
"""How long is waited for a stream to end once the command has: one that has left its session may hold it for ever."""


class Loop:
    """After `run`: `kind` where the run was ended by us, and the command's `status`, None where nobody knows it.

    `fault`: what is said of a failure of our own.
    """

    def __init__(self, ends: Ends, kept: Kept) -> None:
        self.kind: Kind | None = None
        self.status: int | None = None
        self.fault = ""
        self._ends = ends
        self._kept = kept

    def run(self, deadline: float | None) -> None:
        """Go on until the command has ended, or was ended; `deadline` as time.monotonic() counts."""
        said: dict[str, Any] | None = {}
        while said is not None and "status" not in said:
            left = None if deadline is None or self.kind is not None else deadline - time.monotonic()
            if left is not None and left <= 0:
                self._end("timed-out")
            elif self._kept.pending or self._turn(left, listen=True):
                said = self._kept.hear()
            if self.kind is None and any(pump.over for pump in self._ends.outputs):
                self._end("output-limit")
        if said is None:
            self.kind = "sandbox-failed"
            self._kept.kill_ourselves()
            return
        self.status = int(said["status"])
        self.kind = (self.kind or "cancelled") if said["killed"] else None
        self._drain()
        if self.kind is None and any(pump.over for pump in self._ends.outputs):
            self.kind = "output-limit"

    def _end(self, kind: Kind) -> None:
        self.kind = kind
        self._kept.kill()

    def _drain(self) -> None:
        """Pass on what the command left in its streams. Only who has left its session could still write to them."""
        most = {pump: pump.total + CHUNK for pump in self._ends.outputs}
        until = time.monotonic() + DRAIN_SECONDS
        while waiting := [one for one in most if one.open and (one.total < most[one] or _writes(one))]:
            slow = self.kind is None and any(_writes(one) for one in waiting)
            left = until - time.monotonic()
            if left <= 0 and not slow:
                return
            self._turn(None if slow else left, pumps=waiting)

    def _turn(self, seconds: float | None, *, listen: bool = False, pumps: Sequence[Pump] | None = None) -> bool:
        """Move what can be moved within a time; tells whether there is word from the keeper."""
        moved = self._ends.pumps if pumps is None else pumps
        word = self._kept.socket.fileno()
        asked = {one: wanted for one in moved if (wanted := one.interest()) is not None}
        readers = [place for place, event in asked.values() if event == select.POLLIN]
        writers = [place for place, event in asked.values() if event == select.POLLOUT]
        # select(2), for poll(2) of macOS refuses terminals.
        can_read, can_write, _ = select.select([*readers, word] if listen else readers, writers, [], seconds)
        for pump, (place, event) in asked.items():
            if place in (can_read if event == select.POLLIN else can_write):
                pump.step()
        return listen and word in can_read


def _writes(pump: Pump) -> bool:
    wanted = pump.interest()
    return wanted is not None and wanted[1] == select.POLLOUT
