"""Runs commands under a bundle: `load(path).run([...])`, or `start` for a run that goes on meanwhile.

Both are safe to call from any thread. From asyncio, a run is awaited by its descriptor or in a thread:

    run = profile.start(["make", "test"], params={"workdir": tree})
    outcome = await asyncio.to_thread(run.wait)
"""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sbc_runtime import scheduling
from sbc_runtime.bundle import encode
from sbc_runtime.contents import Bundle
from sbc_runtime.environment import build
from sbc_runtime.errors import SetupFailed
from sbc_runtime.job import BackendChoice, Caller, Job, Options, OutKind, StdinKind
from sbc_runtime.loader import Loaded, for_machine, machine_name
from sbc_runtime.loader import load as load_bundle
from sbc_runtime.outcome import Outcome
from sbc_runtime.params import fill
from sbc_runtime.running import Input, Output, Run
from sbc_runtime.wire import encode_job

if TYPE_CHECKING:
    from sbc_runtime.bypass import Request


def load(path: str | os.PathLike[str]) -> "Profile":
    """Read a bundle for this machine; `BundleError` where it cannot be used here."""
    return Profile(load_bundle(path))


def of_bundle(bundle: Bundle) -> "Profile":
    """Take a bundle that is already read; `BundleError` where it cannot be used on this machine."""
    return Profile(for_machine(bundle, sys.platform, machine_name(), sys.byteorder))


class Profile:
    """A bundle that is ready to run commands."""

    def __init__(self, loaded: Loaded) -> None:
        self.loaded = loaded
        self._bytes = encode(loaded.bundle)

    def run(
        self,
        argv: Sequence[str],
        *,
        params: Mapping[str, str | int | os.PathLike[str]] | None = None,
        stdin: Input = None,
        stdout: Output = "capture",
        stderr: Output = "capture",
        timeout: float | None = None,
        backend: BackendChoice = "auto",
        allow_wider: bool = False,
        cgroup_base: str | None = None,
        bypass: "Request | None" = None,
    ) -> Outcome:
        """Run a command and wait for it. Never raises for what goes wrong with the run: the outcome says it.

        `stdin`: bytes, or a descriptor or file to read from (None: nothing). `timeout`: seconds; it can only shorten
        the profile's wall limit. `bypass`: the attestation by which the builder may run on Windows without a sandbox;
        refused elsewhere. `ValueError` where a command or an option cannot be one.
        """
        if bypass is not None or sys.platform == "win32":
            from sbc_runtime import windows_run  # noqa: PLC0415 - only there

            wall = None if timeout is None else _milliseconds(timeout)
            asked = windows_run.Asked(_command(argv), params or {}, (stdin, stdout, stderr), wall, bypass)
            return windows_run.run(self.loaded, asked)
        started = self.start(
            argv,
            params=params,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            timeout=timeout,
            backend=backend,
            allow_wider=allow_wider,
            cgroup_base=cgroup_base,
        )
        try:
            return started.wait()
        except BaseException:
            started.cancel()
            started.wait()
            raise

    def start(
        self,
        argv: Sequence[str],
        *,
        params: Mapping[str, str | int | os.PathLike[str]] | None = None,
        stdin: Input = None,
        stdout: Output = "capture",
        stderr: Output = "capture",
        timeout: float | None = None,
        backend: BackendChoice = "auto",
        allow_wider: bool = False,
        cgroup_base: str | None = None,
        report: str | os.PathLike[str] | None = None,
        terminal: tuple[int, int] | None = None,
    ) -> "Run":
        """Start a command; see `run`. `terminal`: rows and columns of one that the command gets as its 0, 1 and 2.

        With a terminal, `stdin` and `stdout` are descriptors, and `stderr` is not used. `report`: where the caller will
        write a report; nothing is run where the command could write there too.
        """
        command = _command(argv)
        run_id = os.urandom(8).hex()
        run = Run(run_id, self.loaded)
        try:
            if sys.platform == "win32":
                from sbc_runtime.bypass import refusal  # noqa: PLC0415 - only there

                raise refusal()
            values = fill(self.loaded.bundle.params, params or {})
            variables = build(self.loaded.bundle.plan.environment, os.environ, values)
            options = Options(
                backend,
                allow_wider,
                None if timeout is None else _milliseconds(timeout),
                "terminal" if terminal else _in_kind(stdin),
                "terminal" if terminal else _out_kind(stdout),
                "null" if terminal else _out_kind(stderr),
                *(terminal or (24, 80)),
                cgroup_base or os.environ.get("SBC_CGROUP_BASE") or None,
                None if report is None else os.path.abspath(report),
            )
            run.values, run.variables = values, variables
            job = Job(run_id, command, values, variables, _caller(), options)
            run.begin(encode_job(self.loaded.bundle.address, job), self._bytes, (stdin, stdout, stderr), options)
        except SetupFailed as failed:
            run.fail(failed.failure)
        return run


def _command(argv: Sequence[str]) -> tuple[str, ...]:
    command = tuple(argv)
    if not command or not all(isinstance(one, str) and "\0" not in one for one in command):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValueError("a command is a sequence of texts without NUL, at least one")
    return command


def _milliseconds(timeout: float) -> int:
    return max(1, int(timeout * 1000))


def _caller() -> Caller:
    import pwd  # noqa: PLC0415 - not on Windows, where this module is imported too
    import resource  # noqa: PLC0415

    uid = os.getuid()
    try:
        home = pwd.getpwuid(uid).pw_dir
    except KeyError:
        home = "/"
    variable = os.environ.get("HOME", "")
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    numbers = sorted({getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")})
    limits = tuple((number, *resource.getrlimit(number)) for number in numbers)
    return Caller(
        os.getcwd(),
        home,
        variable if variable.startswith("/") else None,
        os.environ.get("TMPDIR") or "/tmp",  # noqa: S108 (what unset means)
        limits,
        scheduling.own(),
        runtime if runtime.startswith("/") else None,
    )


def _in_kind(stdin: Input) -> StdinKind:
    return "null" if stdin is None else "bytes" if isinstance(stdin, bytes) else "descriptor"


def _out_kind(output: Output) -> OutKind:
    return output if isinstance(output, str) else "descriptor"
