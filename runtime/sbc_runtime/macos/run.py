"""A run on macOS: sandbox-exec with the profile, in a session of its own, watched by a thread of the host process."""

import os
import threading
import time
from contextlib import ExitStack

from sbc_runtime import calling, request
from sbc_runtime.classify import NOT_EXECUTABLE, NOT_FOUND
from sbc_runtime.containment import named
from sbc_runtime.environment import build
from sbc_runtime.errors import SetupFailed
from sbc_runtime.job import Options
from sbc_runtime.loaded import Loaded
from sbc_runtime.macos import arguments as sandbox
from sbc_runtime.macos import limits as macos_limits
from sbc_runtime.macos.ending import outcome
from sbc_runtime.macos.ends import Ends, Wanted
from sbc_runtime.macos.kept import Kept
from sbc_runtime.macos.preparing import Host, Ready, prepare, this_host
from sbc_runtime.macos.profile_file import ProfileFile
from sbc_runtime.macos.streaming import Loop
from sbc_runtime.outcome import Failure, Outcome
from sbc_runtime.params import fill
from sbc_runtime.report import Report, report
from sbc_runtime.report_place import place_outside
from sbc_runtime.request import Request, Streams, size
from sbc_runtime.running import failed_outcome
from sbc_runtime.terminals import set_size


class MacRun:
    """A run that was started, with the methods of `Run`; where it could not be started, its outcome says why."""

    _done = -1

    def __init__(self, loaded: Loaded, asked: Request, host: Host | None = None) -> None:
        """Start it. `host`: another one than this process sees serves tests.

        `TypeError` or `ValueError` where the command or an option cannot be meant.
        """
        argv, given = request.command(asked), request.streams(asked)
        self.run_id = os.urandom(8).hex()
        self.values: dict[str, str | int] = {}
        self.variables: tuple[tuple[str, str], ...] = ()
        self._loaded = loaded
        self._lock = threading.Lock()
        self._kept: Kept | None = None
        self._ends: Ends | None = None
        self._thread: threading.Thread | None = None
        self._outcome: Outcome | None = None
        self._began = time.monotonic()
        try:
            self._start(asked, argv, given, host or this_host())
        except SetupFailed as failed:
            self._outcome = failed_outcome(self.run_id, loaded, failed.failure, "setup-failed")
        except OSError as error:
            self._outcome = failed_outcome(self.run_id, loaded, SetupFailed.of("start", error).failure, "setup-failed")

    def fileno(self) -> int:
        """Give the descriptor that is readable once `wait` does not block; -1 once it has been waited for."""
        return self._done

    def cancel(self) -> None:
        """End the run: the command's process group is killed. The outcome's kind is `cancelled`, if it still ran."""
        with self._lock:
            if self._kept is not None:
                self._kept.kill()

    def resize(self, rows: int, columns: int) -> None:
        """Tell the command's terminal its size; `ValueError` where it cannot be one."""
        size(rows, columns)
        with self._lock:
            if self._ends is not None and self._ends.terminal >= 0:
                set_size(self._ends.terminal, rows, columns)

    def wait(self) -> Outcome:
        """Wait for the outcome. May be called again, and from several threads."""
        if self._thread is not None:
            self._thread.join()
        with self._lock:
            self._close_done()
        if self._outcome is None:
            raise RuntimeError("a run that has ended has an outcome")
        return named(self._loaded.bundle.plan, self._outcome)

    def report(self) -> Report:
        """Wait for the outcome, and give the report."""
        return report(self.wait(), self._loaded.bundle, self.values, self.variables)

    def __del__(self) -> None:
        self._close_done()

    def _start(self, asked: Request, argv: tuple[str, ...], given: Streams, host: Host) -> None:
        options = request.options(asked, given, host.cwd, None)
        streams = Wanted(*given, (asked.stdout == "capture", asked.stderr == "capture"), asked.terminal)
        _refuse_others(asked, options)
        bundle = self._loaded.bundle
        self.values = {**fill(bundle.params, asked.params or {}, host.cwd)}
        self.variables = build(bundle.plan.environment, calling.environment(), self.values, "macos")
        ready = prepare(self._loaded, self.values, host, options.timeout, allow_wider=options.allow_wider)
        self.values |= ready.values.paths
        if options.report is not None:
            place_outside(ready.areas.writable(), options.report)
        program = sandbox.find_program(argv[0], dict(self.variables).get("PATH"), ready.cwd)
        if isinstance(program, Failure):
            code = NOT_FOUND if program.errno == sandbox.MISSING else NOT_EXECUTABLE
            one = failed_outcome(self.run_id, self._loaded, program, "setup-failed")
            self._outcome = one._replace(kind="exited", code=code, status=code)
            return
        if not os.access(sandbox.SANDBOX_EXEC, os.X_OK):
            raise SetupFailed("backend", f"`{sandbox.SANDBOX_EXEC}` cannot be executed", "it is a part of macOS", 2)
        with ExitStack() as undo:
            file = ProfileFile(ready)
            undo.callback(file.remove)
            try:
                ends = Ends(streams, ready.limits.output)
                undo.callback(ends.close)
                done_read, done = os.pipe()
            except OSError as error:
                remedy = "let this process have more open files (`ulimit -n`)"
                raise SetupFailed.of("streams", error, remedy) from None
            undo.callback(os.close, done_read)
            undo.callback(os.close, done)
            kept = Kept(self._orders(ready, file, [program, *argv[1:]], streams), ends.child)
            undo.callback(kept.close)
            ends.close_child()
            self._kept, self._ends = kept, ends
            self._thread = threading.Thread(
                target=self._watch, args=(ready, file, done), name=f"sbc-{self.run_id}", daemon=True
            )
            self._thread.start()
            undo.pop_all()
        self._done = done_read

    def _orders(self, ready: Ready, file: ProfileFile, command: list[str], streams: Wanted) -> dict[str, object]:
        return {
            "terminal": streams.size is not None,
            "cwd": ready.cwd,
            "limits": macos_limits.rlimits(ready.limits),
            "arguments": sandbox.arguments(file.path, ready.values.given, command),
            "environment": self.variables,
            "profile": file.path,
        }

    def _watch(self, ready: Ready, file: ProfileFile, done: int) -> None:
        """Go on until everything is over; the thread's whole life."""
        kept, ends = self._kept, self._ends
        if kept is None or ends is None:
            return
        loop = Loop(ends, kept)
        started = time.monotonic()
        try:
            loop.run(None if ready.limits.wall is None else started + ready.limits.wall / 1000)
        except Exception as error:
            loop.kind, loop.status = "sandbox-failed", None
            loop.fault = repr(error)
        stopped = time.monotonic()
        streams = [one.stream() for one in ends.outputs]
        head = ends.outputs[-1].head
        with self._lock:
            self._kept = self._ends = None
        kept.close()
        ends.close()
        file.remove()
        moments = (self._began, started, stopped, time.monotonic())
        variables = tuple(name for name, _ in self.variables)
        try:
            made = outcome(self._loaded, ready, loop, head, moments)
            made = made._replace(run_id=self.run_id, environment=variables, stdout=streams[0])
            self._outcome = made if len(streams) == 1 else made._replace(stderr=streams[1])
        finally:
            os.close(done)

    def _close_done(self) -> None:
        if self._done >= 0:
            os.close(self._done)
            self._done = -1


def _refuse_others(asked: Request, options: Options) -> None:
    """Refuse what is for other systems."""
    if asked.bypass is not None:
        from sbc_runtime.bypass import require_windows  # noqa: PLC0415 - nowhere else here

        require_windows("darwin")
    if options.backend not in {"auto", "seatbelt"}:
        raise SetupFailed("backend", f"`{options.backend}` is not there on macOS", "take `seatbelt`")
    if options.cgroup_base is not None:
        raise SetupFailed("backend", "macOS has no cgroups", "leave `--cgroup-base` out")
