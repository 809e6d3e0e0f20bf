"""A run on Windows: refused, or, by an attestation, without a sandbox and loudly so."""

import errno
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack

from sbc_runtime import classify
from sbc_runtime.bypass import Host, authorize, refusal, require_windows
from sbc_runtime.calling import folder
from sbc_runtime.contents import Bundle
from sbc_runtime.environment import build
from sbc_runtime.errors import SetupFailed
from sbc_runtime.loaded import Loaded
from sbc_runtime.outcome import Bypass, How, LimitReport, Outcome, RunLoss, Stream, Timings, Usage
from sbc_runtime.params import fill
from sbc_runtime.plan import Environment, System
from sbc_runtime.prepare import select
from sbc_runtime.prepared import LimitValue
from sbc_runtime.report_text import unsandboxed
from sbc_runtime.repository import inside
from sbc_runtime.request import Input, Output, Request, command, milliseconds
from sbc_runtime.running import failed_outcome
from sbc_runtime.windows_job import End, Start
from sbc_runtime.windows_job import launch as launch_in_job
from sbc_runtime.windows_words import command_line, environment_block, find_program
from sbc_runtime.words import IO, Protocol, TypeVar

TREE = "worktree"
"""The parameter that names what the run works on."""

_HOW: dict[str, tuple[How, str]] = {
    "wall": ("timer", ""),
    "cpu": ("job", "the user time of all processes"),
    "memory": ("job", "what is asked for beyond it is not given; nothing is ended"),
    "processes": ("job", "processes, not tasks; more are not started"),
}
_NOT_HELD = "Windows has nothing that holds it"
_HELD_BLOCKS = frozenset({"environment", "limits", "seatbelt"})


def run(
    loaded: Loaded, asked: Request, host: Host | None = None, launch: Callable[[Start], End] = launch_in_job
) -> Outcome:
    """Run a command as an attestation allows it, or say why not. `host`, `launch`: other ones serve tests.

    The attestation is used up before anything is started, and after all that can be checked before.
    """
    here = host or Host(sys.platform)
    argv, timeout = command(asked), milliseconds(asked.timeout)
    run_id, begun = os.urandom(8).hex(), time.monotonic()
    by: Bypass | None = None
    try:
        if asked.bypass is None:
            raise refusal()
        require_windows(here.platform)
        values = fill(loaded.bundle.params, asked.params or {}, folder())
        limits = _limits(loaded.bundle, values, timeout)
        variables = _variables(loaded.bundle.plan.environment, here.environ, values)
        tree = values.get(TREE)
        start_in = _folder(tree if isinstance(tree, str) else os.getcwd())
        program = find_program(argv[0], dict(variables).get("PATH", ""), start_in)
        line, block = command_line(program, argv[1:]), environment_block(variables)
        with _Streams((asked.stdin, asked.stdout, asked.stderr)) as streams:
            by = authorize(asked.bypass, loaded.bundle.profile, tree if isinstance(tree, str) else None, here)
            released = time.monotonic()
            end = launch(Start(program, line, block, start_in, streams.descriptors, limits))
            stopped = time.monotonic()
            out, err = streams.captured()
    except SetupFailed as refused:
        one = failed_outcome(by.run_id if by else run_id, loaded, refused.failure, "setup-failed")
        number = refused.failure.errno
        if refused.failure.step == "command" and number in _EXIT:
            return one._replace(kind="exited", code=_EXIT[number], status=_EXIT[number])
        return one._replace(bypass=by)
    times = (released - begun, stopped - released, 0.0, stopped - begun)
    return _outcome(loaded, by, end, limits)._replace(
        stdout=out,
        stderr=err,
        environment=tuple(name for name, _ in variables),
        timings=Timings(*(round(1000 * one, 3) for one in times)),
    )


_EXIT = {errno.ENOENT: classify.NOT_FOUND, errno.EACCES: classify.NOT_EXECUTABLE}


def _outcome(loaded: Loaded, by: Bypass, end: End, limits: LimitValue) -> Outcome:
    status = end.code if end.code < 256 else 255
    notes = [unsandboxed(by)]
    if end.code != status:
        notes.append(f"the command's exit code was 0x{end.code:08x}")
    if end.left:
        notes.append(f"{end.left} processes of the command had not ended 10 s after they were told to")
    own = end.kind == "exited"
    nothing = SetupFailed("windows", "what watched the command was lost", "run it again").failure
    return failed_outcome(by.run_id, loaded, nothing, "sandbox-failed")._replace(
        kind=end.kind,
        by="command" if own else "sandbox",
        code=status if own else classify.code(end.kind, None),
        status=status if own else None,
        failure=nothing if end.kind == "sandbox-failed" else None,
        usage=Usage(end.cpu, end.memory, None),
        limits=tuple(_limit(key, value) for key, value in limits._asdict().items() if value is not None),
        losses=_losses(loaded.bundle),
        notes=tuple(notes),
        bypass=by,
    )


def _limit(field: str, value: int) -> LimitReport:
    how, note = _HOW.get(field, ("none", _NOT_HELD))
    return LimitReport(field.replace("_", "-"), value, (how,), note)


def _losses(bundle: Bundle) -> tuple[RunLoss, ...]:
    """Every statement that a sandbox would have to enforce is lost."""
    return tuple(
        RunLoss("wider", row.statement.where(), row.statement.text, "there was no sandbox")
        for row in bundle.coverage.rows
        if row.on is None and row.statement.block not in _HELD_BLOCKS
    )


class _Entry(Protocol):
    @property
    def on(self) -> System | None: ...


_E = TypeVar("_E", bound=_Entry)


def _everywhere(entries: tuple[_E, ...]) -> tuple[_E, ...]:
    return tuple(one for one in entries if one.on is None)


def _variables(
    plan: Environment, environ: Mapping[str, str], values: Mapping[str, str | int]
) -> tuple[tuple[str, str], ...]:
    """Give the command's environment. What is dropped on any system is dropped here too."""
    patterns = tuple(one._replace(on=None) for one in plan.patterns if one.on is None or one.verb == "drop")
    return build(Environment(patterns, _everywhere(plan.variables)), environ, values)


def _limits(bundle: Bundle, values: dict[str, str | int], timeout: int | None) -> LimitValue:
    return select.limits(_everywhere(bundle.plan.limits), values, timeout)


def _folder(tree: str) -> str:
    """Give the folder to start in: the caller's where it is in the tree, else the tree."""
    here, top = os.path.realpath(os.getcwd()), os.path.realpath(tree)
    return here if inside(here, top) else top


class _Streams:
    """Descriptors for the command's 0, 1 and 2, and what was written to those that are captured."""

    def __init__(self, given: tuple[Input, Output, Output]) -> None:
        self._given = given
        self._held = ExitStack()
        self._files: list[IO[bytes] | None] = [None, None]
        self.descriptors = (-1, -1, -1)

    def __enter__(self) -> "_Streams":
        stdin, *outputs = self._given
        try:
            self.descriptors = (self._input(stdin), self._output(0, outputs[0]), self._output(1, outputs[1]))
        except OSError as error:
            self._held.close()
            raise SetupFailed.of("streams", error) from None
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def captured(self) -> tuple[Stream, Stream]:
        """Give what both wrote; nothing where it went elsewhere."""
        found: list[Stream] = []
        for file in self._files:
            kept = b""
            if file is not None:
                file.seek(0)
                kept = file.read()
            found.append(Stream(kept, len(kept), False))
        return found[0], found[1]

    def _input(self, given: Input) -> int:
        if given is None:
            return self._null(os.O_RDONLY)
        if isinstance(given, bytes):
            file = self._temporary()
            file.write(given)
            file.seek(0)
            return file.fileno()
        return given if isinstance(given, int) else given.fileno()

    def _output(self, index: int, given: Output) -> int:
        if given == "capture":
            file = self._files[index] = self._temporary()
            return file.fileno()
        if given == "null":
            return self._null(os.O_WRONLY)
        if isinstance(given, str):
            raise ValueError("a descriptor or an open file is needed here")
        return given if isinstance(given, int) else given.fileno()

    def _temporary(self) -> IO[bytes]:
        file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with all that is held
        self._held.callback(file.close)
        return file

    def _null(self, flags: int) -> int:
        descriptor = os.open(os.devnull, flags)
        self._held.callback(os.close, descriptor)
        return descriptor
