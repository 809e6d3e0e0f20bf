"""The keeper of one sandbox: the process that starts bubblewrap, traces it, and tells how the command ended.

It is forked by the supervisor, is never inside the sandbox, and ends when every process of the sandbox has ended.

Three processes are bubblewrap's: the outer one, which waits; init, process 1 of the new PID namespace; and the one that
becomes the command. All are traced from their first moment, so that they are killed when the keeper ends
(PTRACE_O_EXITKILL). The command's process is held at the entry of its execve(2): it is complete then, and has not run.
Once it has been executed it is traced no longer. Init stays traced, from call to call: what its wait4(2) returned is
how the command ended, whatever init itself makes of it, and nothing else can trace it.
"""

import contextlib
import os
import select
import signal
import stat

from sbc_runtime import bwrap_stage, bwrap_trace, libc, messages
from sbc_runtime.backends.interface import Watch
from sbc_runtime.bwrap_command import ENDED, Command, code
from sbc_runtime.bwrap_reasons import remedy
from sbc_runtime.bwrap_start import Order, become
from sbc_runtime.command import SETUP_FAILED
from sbc_runtime.errors import SetupFailed
from sbc_runtime.records import NamedTuple
from sbc_runtime.rlimits import Rlimit
from sbc_runtime.words import NoReturn


class Task(NamedTuple):
    """What a keeper is given. `channel`: the supervisor's socket; `status`: a pipe that gets one `ENDED`."""

    order: Order
    watch: Watch
    limits: tuple[Rlimit, ...]
    channel: int
    status: int


class Keeper:
    """Sees to one sandbox, from the fork of bubblewrap to the end of everything."""

    def __init__(self, task: Task) -> None:
        self._order = task.order
        self._watch = task.watch
        self._limits = task.limits
        self._channel = task.channel
        self._status = task.status
        self._diagnosis = -1
        self._outer = 0
        self._init = 0
        self._command: Command | None = None
        self._numbers = bwrap_trace.numbers()
        self._waiting: set[int] = set()
        self._reaping = 0
        """The address at which init's present wait4(2) puts a status; 0: it is in another call."""
        self._init_waits = False
        self._ready = False
        self._gone = {"outer": False, "init": False}

    def start(self) -> None:
        """Start bubblewrap and hold the command at its exec; `SetupFailed` where it does not get there."""
        self._diagnosis = _reader(self._order.child.stderr)
        gate, opener = os.pipe()
        stage = self._order.stage
        try:
            pid = os.fork() if stage is None else libc.clone(bwrap_stage.NAMESPACES)
        except OSError as error:
            raise SetupFailed.of("namespaces", error, remedy(str(error))) from None
        if pid == 0:
            libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
            become(self._order, gate, self._channel)
        self._outer = pid
        os.close(gate)
        for one in set(self._order.child):
            os.close(one)
        try:
            if self._watch.cgroup is not None:
                # The outer process is in it, beside init.
                self._watch.cgroup.make_room(1)
                self._watch.cgroup.add(pid)
            if stage is not None:
                bwrap_stage.map_ids(pid, stage)
            bwrap_trace.seize(pid)
        except OSError as error:
            why = "the sandbox cannot be held at its start"
            raise SetupFailed("trace", f"{why}: {error}", remedy(f"ptrace: {error}"), error.errno or 0) from None
        os.write(opener, b"g")
        os.close(opener)
        while self._command is None or not self._command.at_exec or not self._init_waits:
            self._step(*os.waitpid(-1, bwrap_trace.WALL))
        self._ready = True
        self._command.prepare(self._order.prepared, self._limits)
        os.close(self._diagnosis)
        self._diagnosis = -1

    def told(self) -> tuple[str, ...]:
        """Give what the supervisor has to know of the waiting command."""
        if (command := self._command) is None:
            raise SetupFailed("bwrap", "there is no command")
        return tuple(map(str, (self._outer, self._init, command.pid, command.filter_bytes())))

    def watch(self) -> None:
        """Wait for the word to go on, then until everything has ended."""
        children = libc.signalfd(signal.SIGCHLD)
        poll = select.poll()
        poll.register(self._channel, select.POLLIN)
        poll.register(self._watch.lifeline, 0)
        poll.register(children, select.POLLIN)
        while not all(self._gone.values()):
            for descriptor, _ in poll.poll():
                if descriptor == self._watch.lifeline:
                    poll.unregister(descriptor)
                    self._end()
                elif descriptor == self._channel:
                    poll.unregister(descriptor)
                    if os.read(self._channel, 1) == b"g" and self._command is not None:
                        self._command.go()
                    else:
                        self._end()
                else:
                    with contextlib.suppress(BlockingIOError):
                        os.read(children, 4096)
                    self._reap()

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, bwrap_trace.WALL | os.WNOHANG)
            except ChildProcessError:
                self._gone = dict.fromkeys(self._gone, True)
                return
            if pid == 0:
                return
            self._step(pid, status)

    def _end(self) -> None:
        """Kill init, and with it all others."""
        for pid in (self._init, self._outer):
            if pid:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def _step(self, pid: int, status: int) -> None:
        """Act on one report of waitpid(2)."""
        if not os.WIFSTOPPED(status):
            self._ended(pid, status)
            return
        number, event = bwrap_trace.stopped(status)
        if event in bwrap_trace.EVENT_FORKS:
            self._forked(pid, bwrap_trace.forked(pid))
            bwrap_trace.resume(pid, calls=pid == self._init)
        elif self._command is not None and pid == self._command.pid:
            if self._command.step(number, event):
                self._tell(self._command.exec_status, self._command.exec_errno)
        elif pid == self._init:
            self._init_step(number, event)
        elif pid == self._outer:
            # With a terminal it is in the command's process group, and `kill 0` is for that.
            bwrap_trace.resume(pid, 0 if event or self._ready else number, calls=False)
        else:
            self._waiting.add(pid)  # its parent's fork will be seen next

    def _forked(self, parent: int, child: int) -> None:
        if parent == self._outer and not self._init:
            self._init = child
        elif parent == self._init and self._command is None:
            self._command = Command(child, self._numbers)
        if child in self._waiting:
            self._waiting.discard(child)
            bwrap_trace.resume(child, calls=True)

    def _init_step(self, number: int, event: int) -> None:
        if event == 0 and number == bwrap_trace.SYSCALL_STOP:
            self._init_call()
        # No signal is passed on: the kernel lets none but SIGSTOP reach an init that handles none, and that one only
        # because it is traced (`sig_ignored`, `kernel/signal.c`).
        bwrap_trace.resume(self._init, calls=self._command is not None)

    def _init_call(self) -> None:
        seen = bwrap_trace.system_call(self._init)
        if isinstance(seen, bwrap_trace.Entry):
            waits = seen.number in {self._numbers.wait4, self._numbers.waitid}
            self._init_waits |= waits
            self._reaping = seen.arguments[1] if seen.number == self._numbers.wait4 else 0
        elif isinstance(seen, bwrap_trace.Exit) and self._command is not None:
            if self._reaping and seen.result == self._command.inner:
                told = bwrap_trace.read_memory(self._init, self._reaping, 4)
                self._tell(code(told), 0)
            self._reaping = 0

    def _tell(self, status: int, exec_errno: int) -> None:
        """Tell how the command ended, once; then everything else ends too."""
        if self._status >= 0:
            os.write(self._status, ENDED.pack(status, exec_errno))
            os.close(self._status)
            self._status = -1
        self._end()

    def _ended(self, pid: int, status: int) -> None:
        ours = {self._outer, self._init, 0 if self._command is None else self._command.pid}
        if not self._ready and pid in ours:
            raise self._failure(status)
        if pid == self._outer:
            self._gone["outer"] = True
        elif pid == self._init:
            self._gone["init"] = True
            if self._status >= 0:
                os.close(self._status)
                self._status = -1
        elif self._command is not None and pid == self._command.pid and self._status >= 0:
            self._tell(status, 0)  # ended while it was still traced

    def _failure(self, status: int) -> SetupFailed:
        said = ""
        if self._diagnosis >= 0:
            with contextlib.suppress(OSError):
                said = os.read(self._diagnosis, 4096).decode("utf-8", "replace").strip().removeprefix("bwrap: ")
        how = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"status {os.WEXITSTATUS(status)}"
        why = said or f"bubblewrap ended with {how} before the command was ready"
        return SetupFailed("bwrap", why, remedy(why))


def keep(task: Task, supervisor: int) -> NoReturn:
    """Be the keeper. `supervisor`: its pid."""
    channel = task.channel
    try:
        libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != supervisor:
            os._exit(SETUP_FAILED)
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGCHLD,))
        libc.close_all_but((channel, task.status, task.watch.lifeline, *task.order.child))
        keeper = Keeper(task)
        try:
            keeper.start()
            messages.send(channel, "waits", *keeper.told())
            keeper.watch()
        except SetupFailed as failed:
            messages.send_failure(channel, failed)
        except OSError as error:
            messages.send_failure(channel, SetupFailed.of("bwrap", error))
        except Exception as error:
            messages.send_failure(channel, SetupFailed("bwrap", repr(error)))
    finally:
        # Whatever is still traced is killed with this process.
        os._exit(0)


def _reader(stderr: int) -> int:
    """Open the other end of the command's error pipe: until the command runs, what comes is bubblewrap's."""
    if not stat.S_ISFIFO(os.fstat(stderr).st_mode):
        return os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)
    return os.open(f"/proc/self/fd/{stderr}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
