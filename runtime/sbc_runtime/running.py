"""A run that goes on: what the host process holds of it, and how its outcome comes back."""

import _socket as socket
import contextlib
import os
import weakref
from _thread import allocate_lock

from sbc_runtime import classify
from sbc_runtime.containment import named
from sbc_runtime.errors import SetupFailed
from sbc_runtime.host import HOST
from sbc_runtime.job import Job
from sbc_runtime.loaded import Loaded
from sbc_runtime.outcome import Failure, Outcome, Stream, Timings, Usage
from sbc_runtime.outcome_codec import decode
from sbc_runtime.request import Streams, size
from sbc_runtime.words import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from sbc_runtime.report import Report

_CANCEL = b"c"
_RESIZE = b"w"


class Run:
    """A run that was started. Its descriptor (`fileno`) is readable once there is an outcome."""

    def __init__(self, run_id: str, loaded: Loaded) -> None:
        self.run_id = run_id
        self.values: dict[str, str | int] = {}
        self.variables: tuple[tuple[str, str], ...] = ()
        self._loaded = loaded
        self._owner = os.getpid()
        self._lock = allocate_lock()
        self._control: socket.socket | None = None
        self._lifeline = -1
        self._captured: dict[str, int] = {}
        self._outcome: Outcome | None = None
        _RUNS.add(self)

    def begin(self, text: bytes, bundle: bytes, given: Streams, job: Job) -> None:
        """Hand the run to the helper; `SetupFailed` where that is not possible: then nothing was started."""
        options = job.options
        with contextlib.ExitStack() as ours:
            try:
                control, theirs = socket.socketpair()
                ours.callback(theirs.close)
                self._control = control
                lifeline, self._lifeline = os.pipe()
                ours.callback(os.close, lifeline)
                descriptors = [theirs.fileno(), lifeline]
                if isinstance(given.stdin, bytes):
                    descriptors.append(_memory("stdin"))
                    ours.callback(os.close, descriptors[-1])
                    _feed(descriptors[-1], given.stdin)
                elif given.stdin is not None:
                    descriptors.append(given.stdin)
                for name, one, kind in (
                    ("stdout", given.stdout, options.stdout),
                    ("stderr", given.stderr, options.stderr),
                ):
                    if kind == "capture":
                        self._captured[name] = _memory(name)
                        descriptors.append(self._captured[name])
                    elif kind != "null" and one is not None:
                        descriptors.append(one)
            except OSError as error:
                remedy = "let this process have more open files (`ulimit -n`), or more memory"
                raise SetupFailed.of("start", error, remedy) from None
            HOST.submit(bundle, text, tuple(descriptors), job.caller.scheduling)

    def fail(self, failure: Failure) -> None:
        """Note that nothing was started."""
        failed = failed_outcome(self.run_id, self._loaded, failure, "setup-failed")
        self._outcome = named(self._loaded.bundle.plan, failed)
        self._close()

    def fileno(self) -> int:
        """Give the descriptor that is readable once `wait` does not block; -1 once it has been waited for."""
        return -1 if self._control is None else self._control.fileno()

    def cancel(self) -> None:
        """End the run: everything in the sandbox is killed. The outcome's kind is `cancelled`, if it still ran."""
        control = self._control
        if control is not None:
            with contextlib.suppress(OSError):
                control.send(_CANCEL, socket.MSG_NOSIGNAL)

    def resize(self, rows: int, columns: int) -> None:
        """Tell the command's terminal its size; `ValueError` where it cannot be one."""
        told = _RESIZE + size(rows, columns)
        control = self._control
        if control is not None:
            with contextlib.suppress(OSError):
                control.send(told, socket.MSG_NOSIGNAL)

    def wait(self) -> Outcome:
        """Wait for the outcome. May be called again, and from several threads."""
        if self._owner != os.getpid():
            self.after_fork()
        with self._lock:
            if self._outcome is None:
                self._outcome = named(self._loaded.bundle.plan, self._read())
                self._close()
            return self._outcome

    def report(self) -> "Report":
        """Wait for the outcome, and give the report: what was in force, as read back from the kernel."""
        from sbc_runtime.report import report  # noqa: PLC0415 - most runs make none

        return report(self.wait(), self._loaded.bundle, self.values, self.variables)

    def _read(self) -> Outcome:
        parts: list[bytes] = []
        if self._control is not None:
            with contextlib.suppress(OSError):
                while part := self._control.recv(65536):
                    parts.append(part)
        kept = [_content(self._captured.get(name, -1)) for name in ("stdout", "stderr")]
        try:
            return decode(b"".join(parts), *kept)
        except (ValueError, TypeError):
            lost = Failure("supervisor", "the run's supervisor ended without an outcome", "run it again")
            one = failed_outcome(self.run_id, self._loaded, lost, "sandbox-failed")
            return one._replace(stdout=Stream(kept[0], len(kept[0]), True), stderr=Stream(kept[1], len(kept[1]), True))

    def after_fork(self) -> None:
        """In a forked child: the run is the parent's alone, which goes on as if there were no child."""
        self._lock = allocate_lock()
        if self._control is not None:
            why = "the run belongs to the process that started it, of which this one was forked"
            failure = Failure("host", why, "wait for it there, or start a run here")
            lost = failed_outcome(self.run_id, self._loaded, failure, "sandbox-failed")
            self._outcome = named(self._loaded.bundle.plan, lost)
            self._close()

    def _close(self) -> None:
        if self._control is not None:
            if os.getpid() == self._owner:
                # Closing does not end a run that nobody waits for, where a child was forked meanwhile: it has it too.
                with contextlib.suppress(OSError):
                    self._control.shutdown(socket.SHUT_RDWR)
            self._control.close()
            self._control = None
        for one in (*self._captured.values(), self._lifeline):
            if one >= 0:
                os.close(one)
        self._captured = {}
        self._lifeline = -1

    def __del__(self) -> None:
        self._close()


_RUNS: "weakref.WeakSet[Run]" = weakref.WeakSet()


def _after_fork() -> None:
    for one in list(_RUNS):
        one.after_fork()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_after_fork)


def failed_outcome(
    run_id: str, loaded: Loaded, failure: Failure | None, kind: Literal["setup-failed", "sandbox-failed"]
) -> Outcome:
    """Give the outcome of a run of which nothing is known but why it failed."""
    nothing = Stream(b"", 0, False)
    bundle = loaded.bundle
    return Outcome(
        kind=kind,
        by="sandbox",
        code=classify.EXIT_SETUP_FAILED,
        status=None,
        signal=None,
        stdout=nothing,
        stderr=nothing,
        isolation=None,
        failure=failure,
        run_id=run_id,
        profile=bundle.profile,
        bundle=bundle.address,
        enforcement=loaded.enforcement,
        usage=Usage(),
        limits=(),
        absent=(),
        losses=(),
        covered=(),
        notes=(),
        timings=Timings(0.0, 0.0, 0.0, 0.0),
    )


def _memory(name: str) -> int:
    return os.memfd_create(f"sbc-{name}", os.MFD_CLOEXEC)


def _feed(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
    os.lseek(descriptor, 0, os.SEEK_SET)


def _content(descriptor: int) -> bytes:
    if descriptor < 0:
        return b""
    size = os.fstat(descriptor).st_size
    return os.pread(descriptor, size, 0) if size else b""
