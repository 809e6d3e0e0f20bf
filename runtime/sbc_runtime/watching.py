"""The poll loop of the supervisor: limits, streams, the host, until the command has ended or must."""

import _socket as socket
import contextlib
import os
import select
import struct
import time

from sbc_runtime.backends.interface import Cgroup, Ended, Watched
from sbc_runtime.outcome import Kind
from sbc_runtime.prepared import Prepared
from sbc_runtime.records import NamedTuple
from sbc_runtime.rlimits import processes_by_rlimit
from sbc_runtime.sampler import Sampler, Scope, timeout
from sbc_runtime.streams import Pump
from sbc_runtime.terminals import set_size

DRAIN_SECONDS = 1.0
"""How long what is left in the pipes of a run that was ended is still passed on to a slow reader."""

_LONGEST = 86400.0
"""Seconds that are waited at once, whatever the limit: poll(2) takes an int of milliseconds."""

CANCEL = b"c"
RESIZE = b"w"
"""What the host says on the socket: end the run; the terminal has another size (two 16-bit numbers follow)."""


class Callers(NamedTuple):
    """Who wants the run: the socket to the host process, and a pidfd of it."""

    control: socket.socket
    process: int


class Loop:
    """Watches one run. After `run`: `kind` where the run was ended by us, `ended` where the command ended."""

    def __init__(
        self,
        prepared: Prepared,
        sandbox: Watched,
        pumps: list[Pump],
        host: Callers,
        cgroup: Cgroup | None,
    ) -> None:
        self._prepared = prepared
        self._sandbox = sandbox
        self._control, self._host = host
        self._cgroup = cgroup
        self._poll: select.poll | None = None
        self._waiting: dict[int, Pump] = {}
        self.pumps = pumps
        self.kind: Kind | None = None
        self.ended: Ended | None = None
        self.host_gone = False
        enforced = frozenset[str]() if cgroup is None else cgroup.enforces
        self.sampler = Sampler(
            Scope(sandbox.proc, sandbox.init_pid, sandbox.system_v, _file_systems(prepared, sandbox)),
            prepared.limits,
            memory="memory" not in enforced,
            processes="processes" not in enforced and not processes_by_rlimit(prepared, os.uname().release),
            exact_cpu=None if cgroup is None else lambda: cgroup.usage().cpu,
        )

    def run(self) -> None:
        """Go on until the command has ended, a limit is exceeded, or nobody wants the run any more."""
        now = time.monotonic()
        wall = self._prepared.limits.wall
        deadline = None if wall is None else now + wall / 1000
        sampled = self.sampler.needed
        next_look = now
        while self.kind is None and self.ended is None and not self.host_gone:
            now = time.monotonic()
            if deadline is not None and now >= deadline:
                self.kind = "timed-out"
                break
            if sampled and now >= next_look:
                next_look = now + self.sampler.look(now)
                self.kind = self.sampler.kind
                if self.kind is not None:
                    break
            if self._poll is None:
                self._poll = self._renewed()
            if sampled and self.sampler.resting:
                ready, next_look = self.sampler.rest(self._poll, next_look, deadline)
            else:
                until = next_look if sampled else deadline
                if until is not None and deadline is not None and deadline < until:
                    until = deadline
                ready = self._poll.poll(None if until is None else timeout(min(until - now, _LONGEST)))
            if ready:
                self._act(ready)
        if self.sampler.needed and self.ended is None:
            with contextlib.suppress(OSError):
                self.sampler.last_look()

    def _act(self, ready: list[tuple[int, int]]) -> None:
        for descriptor, _ in ready:
            if descriptor in self._waiting:
                self._waiting[descriptor].step()
                self._poll = None
        if any(pump.over for pump in self.pumps):
            self.kind = "output-limit"
            return
        for descriptor, _ in ready:
            if descriptor == self._sandbox.status:
                self.ended = self._sandbox.ended()
                if self.ended is None:
                    self.kind = "sandbox-failed"
            elif descriptor == self._host:
                self.host_gone = True
            elif descriptor == self._control.fileno():
                self._listen()

    def _renewed(self) -> select.poll:
        """Give what is waited for now: of a pump that changes by its steps alone."""
        poll = select.poll()
        for one in (self._sandbox.status, self._control, self._host):
            poll.register(one, select.POLLIN)
        self._waiting = {}
        for pump in self.pumps:
            wanted = pump.interest()
            if wanted is not None:
                poll.register(*wanted)
                self._waiting[wanted[0]] = pump
        return poll

    def _listen(self) -> None:
        try:
            said = self._control.recv(64, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except OSError:
            said = b""
        if not said:
            self.host_gone = True
        elif said.startswith(CANCEL):
            self.kind = "cancelled"
        elif said.startswith(RESIZE) and self._sandbox.terminal >= 0:
            rows, columns = struct.unpack("=HH", said[1:5])
            set_size(self._sandbox.terminal, rows, columns)

    def drain(self) -> None:
        """Pass on what is left in the pipes. Everybody who could write to them is gone."""
        self.sampler.close()
        bounded = self.kind is not None
        until = time.monotonic() + DRAIN_SECONDS
        output = self.pumps[1:]
        while not self.host_gone:
            waiting: dict[int, Pump] = {}
            poll = select.poll()
            for pump in output:
                wanted = pump.interest()
                if wanted is not None:
                    poll.register(*wanted)
                    waiting[wanted[0]] = pump
            left = until - time.monotonic()
            if not waiting or (bounded and left <= 0):
                return
            poll.register(self._host, select.POLLIN)
            for descriptor, _ in poll.poll(max(1, int(left * 1000)) if bounded else None):
                if descriptor == self._host:
                    self.host_gone = True
                else:
                    waiting[descriptor].step()
            if self.kind is None and any(pump.over for pump in output):
                self.kind = "output-limit"
                bounded = True


def _file_systems(prepared: Prepared, sandbox: Watched) -> tuple[int, ...]:
    """Open the memory file systems that the command can fill."""
    places = [mount.place for mount in prepared.mounts if mount.kind == "tmpfs"]
    if prepared.devices != "none":
        places.append("/dev/shm")  # noqa: S108 (the sandbox's own)
    found: list[int] = []
    if prepared.limits.memory is not None and sandbox.proc >= 0:
        for place in places:
            with contextlib.suppress(OSError):
                path = f"/proc/{sandbox.command_pid}/root{place}"
                found.append(os.open(path, os.O_PATH | os.O_CLOEXEC))
    return tuple(found)
