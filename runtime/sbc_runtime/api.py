"""Runs commands under a bundle: `load(path).run([...])`, or `start` for a run that goes on meanwhile.

Both are safe to call from any thread. From asyncio, a run is awaited by its descriptor or in a thread:

    run = profile.start(["make", "test"], params={"workdir": tree})
    outcome = await asyncio.to_thread(run.wait)
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from sbc_runtime import calling, request
from sbc_runtime.bundle import decode
from sbc_runtime.environment import build
from sbc_runtime.errors import SetupFailed
from sbc_runtime.host import HOST
from sbc_runtime.job import Job
from sbc_runtime.loaded import Loaded, pack
from sbc_runtime.loader import for_this_machine
from sbc_runtime.loader import load as load_bundle
from sbc_runtime.outcome import Outcome
from sbc_runtime.params import fill
from sbc_runtime.request import Request
from sbc_runtime.running import Run
from sbc_runtime.wire import encode_job
from sbc_runtime.words import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

if TYPE_CHECKING:
    from sbc_runtime.macos.run import MacRun

_P = ParamSpec("_P")
_T = TypeVar("_T")


def load(path: str | bytes | os.PathLike[str]) -> Profile:
    """Read a bundle for this machine; `BundleError` where it cannot be used here."""
    return Profile(load_bundle(path))


def of_content(data: bytes) -> Profile:
    """Take the content of a bundle's file; `BundleError` where it cannot be used here."""
    return Profile(for_this_machine(decode(data)))


def _asking(
    ask: Callable[_P, Request], act: Callable[[Profile, Request], _T]
) -> Callable[Concatenate[Profile, _P], _T]:
    """Give the method that takes what a request is made of, the command first and all else by name."""

    def method(self: Profile, *args: _P.args, **kwargs: _P.kwargs) -> _T:
        if len(args) > 1:
            raise TypeError("the command is one sequence; everything else is given by its name")
        return act(self, ask(*args, **kwargs))

    method.__doc__ = f"{act.__doc__}\n\n{Request.__doc__}"
    return method


def _start(self: Profile, asked: Request) -> Run | MacRun:
    """Start a command. What goes wrong with the run is told by its outcome.

    `TypeError` or `ValueError` where the command or an option cannot be meant.
    """
    return self.begin(asked)


def _run(self: Profile, asked: Request) -> Outcome:
    """Run a command and wait for it. Never raises for what goes wrong with the run: the outcome says it.

    `TypeError` or `ValueError` where the command or an option cannot be meant.
    """
    if asked.bypass is not None or sys.platform == "win32":
        from sbc_runtime import windows_run  # noqa: PLC0415 - only there

        return windows_run.run(self.loaded, asked)
    started = self.begin(asked)
    try:
        return started.wait()
    except BaseException:
        started.cancel()
        started.wait()
        raise


class Profile:
    """A bundle that is ready to run commands. `run` and `start` take what a `Request` is made of."""

    def __init__(self, loaded: Loaded) -> None:
        self.loaded = loaded
        self._packed = pack(loaded)

    run = _asking(Request, _run)
    start = _asking(Request, _start)

    def announce(self) -> None:
        """Let the helper, if it was started already, get ready for a run while the rest of this program does."""
        HOST.announce(self._packed)

    def begin(self, asked: Request) -> Run | MacRun:
        """Start what is asked for; see `start`."""
        if self.loaded.system == "macos":
            from sbc_runtime.macos.run import MacRun  # noqa: PLC0415 - only there

            return MacRun(self.loaded, asked)
        command, given = request.command(asked), request.streams(asked)
        bundle = self.loaded.bundle
        run = Run(os.urandom(8).hex(), self.loaded)
        try:
            if asked.bypass is not None or sys.platform == "win32":
                from sbc_runtime.bypass import refusal, require_windows  # noqa: PLC0415 - only there

                require_windows(sys.platform)
                raise refusal()
            caller, variables = calling.caller(), calling.environment()
            options = request.options(asked, given, caller.cwd, variables.get("SBC_CGROUP_BASE") or None)
            run.values = fill(bundle.params, asked.params or {}, caller.cwd)
            run.variables = build(bundle.plan.environment, variables, run.values)
            job = Job(run.run_id, command, run.values, run.variables, caller, options)
            run.begin(encode_job(bundle.address, job), self._packed, given, job)
        except SetupFailed as failed:
            run.fail(failed.failure)
        except OSError as error:
            run.fail(SetupFailed.of("start", error).failure)
        return run
