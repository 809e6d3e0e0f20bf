"""The backend `bwrap`: bubblewrap 0.8 to 0.12 makes the sandbox, from the arguments that are in the bundle.

The arguments, finished for this machine, go through `--args FD`, the filters through `--add-seccomp-fd FD`; nothing
of the environment stands on a command line. A keeper (`bwrap_keeper`) starts bubblewrap, holds the command at its exec,
and tells how it ended. What bubblewrap has no option for is prepared around it (`bwrap_stage`) where that is possible,
and else a loss by name.

Unlike those of the namespace backend, covers are not mounted `noexec` (they are empty and read-only), and bubblewrap's
init can be looked into by a process with its ids: its folder in /proc is covered, it is traced, a filter keeps the
command from it (`init_guard`), and it holds nothing.
"""

import _socket as socket
import contextlib
import os
import signal

from sbc_runtime import bwrap_find, bwrap_keeper, bwrap_stage, handed, kernel_view, messages, readback, sweep
from sbc_runtime.backends.interface import ChildDescriptors, Ended, Watch
from sbc_runtime.bwrap_command import ENDED
from sbc_runtime.bwrap_finish import shown_at
from sbc_runtime.bwrap_ipc import tables
from sbc_runtime.bwrap_start import Order
from sbc_runtime.bwrap_view import BwrapReader
from sbc_runtime.command_filters import command_filters
from sbc_runtime.contents import Bundle
from sbc_runtime.errors import SetupFailed
from sbc_runtime.job import Job
from sbc_runtime.outcome import Level, ReadBack, RunLoss
from sbc_runtime.prepared import Prepared
from sbc_runtime.records import NamedTuple
from sbc_runtime.rlimits import Rlimit, lowered, rlimits
from sbc_runtime.socket_filters import narrowed

SETUP_SECONDS = 30.0
"""How long the set-up may take before it is given up."""

_ATTEMPTS = 3


class BwrapBackend:
    """Makes sandboxes with bubblewrap."""

    name = "bwrap"
    level: Level = "namespaces"

    def __init__(
        self,
        bundle: Bundle,
        caller: tuple[tuple[int, int, int], ...] = (),
        program: bwrap_find.Program | None = None,
    ) -> None:
        """`caller`: its rlimits; `program`: a bubblewrap that has been found already."""
        self._bundle = bundle
        self._caller = caller
        self._program = program

    def losses(self, prepared: Prepared) -> tuple[RunLoss, ...]:
        """Give the compiler's losses of this target, and what would have to be prepared where nothing can be."""
        ours = {mount.where for mount in prepared.mounts if bwrap_stage.asked(mount)}
        found = [
            RunLoss(loss.direction, loss.statement.where(), loss.statement.text, loss.why)
            for loss in self._bundle.losses
            if loss.target == self.name and not loss.deferred and loss.statement.where() not in ours
        ]
        wanting = bwrap_stage.lost(prepared)
        if wanting and not bwrap_stage.possible():
            found += wanting
        return (*found, *narrowed(prepared))

    def start(self, prepared: Prepared, child: ChildDescriptors, watch: Watch) -> "BwrapSandbox":
        """Make the sandbox, up to the command's exec."""
        compiled = self._bundle.bwrap
        if compiled.arguments is None:
            why = f"the compiler made no arguments for bubblewrap: {compiled.why}"
            raise SetupFailed("backend", why, "use another backend")
        program = self._program or bwrap_find.find()
        # Where nothing can be prepared: what is lost by that, `losses` has said.
        can = prepared.ids.mapped_by_root or bwrap_stage.possible()
        stage = bwrap_stage.stage_of(prepared, program.path) if can else None
        terminal = -1
        if prepared.terminal:
            terminal, inner = handed.terminal(prepared.ids)
            child = ChildDescriptors(inner, inner, inner)
        order = Order(program.path, compiled.arguments, prepared, stage, child)
        limits = lowered(rlimits(prepared, os.uname().release, watch.enforced), self._caller)
        try:
            return _retried(order, watch, limits, terminal)
        except BaseException:
            if terminal >= 0:
                os.close(terminal)
            raise
        finally:
            if terminal >= 0:
                os.close(child.stdin)


def backend(job: Job, bundle: Bundle) -> BwrapBackend:
    """Give the backend for a job."""
    return BwrapBackend(bundle, job.caller.limits)


def _retried(order: Order, watch: Watch, limits: tuple[Rlimit, ...], terminal: int) -> "BwrapSandbox":
    """Start; once more, without its cover, where a socket was removed meanwhile: bubblewrap finds nothing to cover."""
    prepared = order.prepared
    for _ in range(_ATTEMPTS):
        there = [one for one in prepared.mounts if one.may_vanish and os.path.lexists(shown_at(one.place, prepared))]
        try:
            return _start(order, watch, limits, terminal)
        except SetupFailed:
            if all(os.path.lexists(shown_at(one.place, prepared)) for one in there):
                raise
    raise SetupFailed("bwrap", "sockets of the host come and go while they are covered", "try again")


def _start(order: Order, watch: Watch, limits: tuple[Rlimit, ...], terminal: int) -> "BwrapSandbox":
    host = readback.own()
    channel, inner = messages.pair()
    status, status_inner = os.pipe()
    supervisor = os.getpid()
    keeper = os.fork()
    if keeper == 0:
        bwrap_keeper.keep(bwrap_keeper.Task(order, watch, limits, inner.fileno(), status_inner), supervisor)
    inner.close()
    os.close(status_inner)
    kept = Kept(order.prepared, order.stage is not None, limits, host, keeper, channel, status)
    sandbox = BwrapSandbox(kept, terminal=terminal)
    try:
        sandbox.make_ready()
    except BaseException:
        sandbox.kill()
        sandbox.wait()
        raise
    return sandbox


class Kept(NamedTuple):
    """A run whose keeper has been forked: its pid, its socket, and the pipe that it will tell the end by."""

    prepared: Prepared
    staged: bool
    limits: tuple[Rlimit, ...]
    host: readback.Own
    keeper: int
    channel: socket.socket
    status: int


class BwrapSandbox:
    """One sandbox made by bubblewrap."""

    def __init__(self, kept: "Kept", *, terminal: int) -> None:
        self._prepared = kept.prepared
        self._staged = kept.staged
        self._host = kept.host
        self._keeper = kept.keeper
        self._channel = kept.channel
        self._limits = kept.limits
        self._filter_bytes: bool | None = None
        self._open: list[int] = []
        self._processes: list[int] = []
        """Pidfds of init and of the outer process."""
        self._folders = (-1, -1)
        self._reaped = False
        self.status = kept.status
        self.terminal = terminal
        self.command_pid = 0
        self.init_pid = 0
        self.proc = -1
        self.system_v: tuple[int, ...] = ()

    def make_ready(self) -> None:
        """Wait until the command is held at its exec; `SetupFailed` where it will never be."""
        self._channel.settimeout(SETUP_SECONDS)
        try:
            message = messages.receive(self._channel)
        except TimeoutError:
            raise SetupFailed("start", f"the set-up took longer than {SETUP_SECONDS:.0f} s") from None
        if message is None:
            raise SetupFailed("start", "the sandbox's keeper ended before the command was ready", "see `sbc doctor`")
        if message.word == "failed":
            raise messages.failure(message.told)
        *pids, equal = message.told
        outer, self.init_pid, self.command_pid = map(messages.number, pids)
        self._filter_bytes = messages.answer(equal)
        # Both are stopped or waited for by the keeper, so the pids are still theirs.
        for pid in (self.init_pid, outer):
            self._processes.append(self._kept(os.pidfd_open(pid)))
        self._folders = (
            self._kept(kernel_view.folder(self.init_pid)),
            self._kept(kernel_view.folder(self.command_pid)),
        )
        with contextlib.suppress(OSError):
            self.proc = self._kept(
                os.open("root/proc", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self._folders[1])
            )
        self.system_v = tables(self._folders[1])
        self._open += self.system_v

    def _kept(self, descriptor: int) -> int:
        self._open.append(descriptor)
        return descriptor

    def read_back(self) -> ReadBack:
        """Ask the kernel."""
        # Bubblewrap's init has the command's.
        filters = len(command_filters(self._prepared))
        reader = BwrapReader(self._prepared, self._host, *self._folders, filters)
        reader.equal = self._filter_bytes
        reader.private = self._staged
        return reader.read(self.command_pid, self._limits)

    def release(self) -> None:
        """Let the keeper let the command go."""
        try:
            self._channel.send(b"g")
        except OSError as error:
            raise SetupFailed.of("start", error) from None

    def ended(self) -> Ended | None:
        """Give what the keeper saw: never what a process of the sandbox says."""
        told = os.read(self.status, ENDED.size)
        return Ended(*ENDED.unpack(told)) if len(told) == ENDED.size else None

    def kill(self) -> None:
        """Kill init, and with it every process of its PID namespace; before there is one, what the keeper traces."""
        if self._reaped:
            return
        if not self._processes:
            os.kill(self._keeper, signal.SIGKILL)
            return
        for process in self._processes:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(process, signal.SIGKILL)

    def wait(self) -> None:
        """Wait until the last process has ended, and the keeper with it."""
        if not self._reaped:
            for process in self._processes:
                sweep.until_ended(process, self.proc)
            os.waitpid(self._keeper, 0)
            self._reaped = True
            self._channel.close()
            for one in (self.status, *self._open):
                os.close(one)
            if self.terminal >= 0:
                os.close(self.terminal)
            self._open, self._processes = [], []
