"""A command without a sandbox, for a gate whose caller has switched the sandbox off. It says so in all it reports.

What holds: the profile's environment block, its wall limit, and that the command's process group is killed at the end.
Nothing else of the profile does: no filter, no namespaces, no other limit. A process that leaves the group lives on.
"""

import contextlib
import os
import signal
import subprocess
import time
from errno import ENOENT, ENOTDIR

from sbc_runtime import calling, classify
from sbc_runtime.containment import named
from sbc_runtime.environment import build
from sbc_runtime.errors import SetupFailed
from sbc_runtime.loaded import Loaded
from sbc_runtime.outcome import Failure, Kind, LimitReport, Outcome, Timings
from sbc_runtime.params import fill
from sbc_runtime.plan import System
from sbc_runtime.prepare.select import amount, on_system
from sbc_runtime.report import Report, report
from sbc_runtime.request import Request, command, milliseconds
from sbc_runtime.running import failed_outcome
from sbc_runtime.texts import of_text


class Unsandboxed:
    """One such run, with the methods of `Run`. Of what is asked only the command, parameters and timeout are used."""

    def __init__(self, loaded: Loaded, asked: Request, why: str) -> None:
        """`why`: who switched the sandbox off. `TypeError` or `ValueError` where what is asked cannot be meant."""
        self.run_id = os.urandom(8).hex()
        self.values: dict[str, str | int] = {}
        self.variables: tuple[tuple[str, str], ...] = ()
        self._loaded = loaded
        self._system: System = "macos" if loaded.system == "macos" else "linux"
        self._argv = command(asked)
        self._params = asked.params or {}
        self._timeout = milliseconds(asked.timeout)
        self._why = why
        self._process: subprocess.Popen[bytes] | None = None
        self._cancelled = False
        self._outcome: Outcome | None = None

    def cancel(self) -> None:
        """Kill the command and its process group."""
        self._cancelled = True
        self._kill()

    def resize(self, rows: int, columns: int) -> None:
        """Do nothing: the command has the caller's own terminal."""

    def wait(self) -> Outcome:
        """Run the command with the caller's own 0, 1 and 2, once. Never raises for how that goes."""
        if self._outcome is None:
            self._outcome = named(self._loaded.bundle.plan, self._run())
        return self._outcome

    def report(self) -> Report:
        """Give the report: nothing was in force."""
        return report(self.wait(), self._loaded.bundle, self.values, self.variables)

    def _run(self) -> Outcome:
        begun = time.monotonic()
        plan = self._loaded.bundle.plan
        try:
            self._refuse()
            self.values = fill(self._loaded.bundle.params, self._params, calling.folder())
            self.variables = build(plan.environment, calling.environment(), self.values, self._system)
            stated = on_system(plan.limits, self._system)
            wall = [amount(one.value, self.values, one.statement) for one in stated if one.key == "wall"]
        except SetupFailed as failed:
            return failed_outcome(self.run_id, self._loaded, failed.failure, "setup-failed")
        budgets = [*wall[-1:], *(() if self._timeout is None else (self._timeout,))]
        kind, status, errno = self._execute(min(budgets, default=None))
        total = round(1000 * (time.monotonic() - begun), 3)
        return self._made(kind, status, errno, total)

    def _refuse(self) -> None:
        """Raise where the profile cannot be meant without a sandbox."""
        plan = self._loaded.bundle.plan
        if plan.containment:
            said = plan.containment[0].statement
            why = f"the sandbox is switched off ({self._why}), and the profile says `{said.text}`"
            raise SetupFailed("backend", why, "no option or variable switches this off", where=said.where())
        for rule in on_system(plan.rules, self._system):
            if rule.place is not None:
                said = rule.statement
                raise SetupFailed("paths", f"`{said.text}` moves a path, which needs a sandbox", where=said.where())

    def _execute(self, wall: int | None) -> tuple[Kind, int | None, int]:
        """Give the kind of end, the status as `subprocess` has it, and the errno of execve(2) or 0."""
        variables = {os.fsdecode(of_text(name)): os.fsdecode(of_text(value)) for name, value in self.variables}
        argv = [of_text(one) for one in self._argv]
        if "/" not in self._argv[0] and "PATH" not in variables:
            return "exited", None, ENOENT  # as in the sandbox: the caller's PATH is not used in its place
        try:
            self._process = subprocess.Popen(argv, env=variables, start_new_session=True, umask=0o022)  # noqa: S603
        except OSError as error:
            return "exited", None, error.errno or ENOENT
        if self._cancelled:
            self._kill()  # it was cancelled while there was nothing to kill
        kind: Kind = "exited"
        try:
            self._process.wait(None if wall is None else wall / 1000)
        except subprocess.TimeoutExpired:
            kind = "timed-out"
        finally:
            self._kill()
            status = self._process.wait()
        if self._cancelled:
            kind = "cancelled"
        return ("signalled" if kind == "exited" and status < 0 else kind), status, 0

    def _kill(self) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _made(self, kind: Kind, status: int | None, errno: int, total: float) -> Outcome:
        code = {"timed-out": classify.EXIT_TIMED_OUT, "cancelled": classify.EXIT_CANCELLED}.get(kind)
        if status is None:
            code = classify.NOT_FOUND if errno in {ENOENT, ENOTDIR} else classify.NOT_EXECUTABLE
        elif code is None:
            code = status if status >= 0 else 128 - status
        failure = None
        if errno:
            why = f"`{self._argv[0]}`: {os.strerror(errno)}"
            failure = Failure("command", why, "name a program that is there", errno)
        limits = self._loaded.bundle.plan.limits
        return failed_outcome(self.run_id, self._loaded, failure, "setup-failed")._replace(
            kind=kind,
            by="command" if kind in {"exited", "signalled"} and status is not None else "sandbox",
            code=code,
            status=status if status is not None and status >= 0 else None,
            signal=-status if status is not None and status < 0 else None,
            limits=tuple(
                LimitReport(
                    one.key,
                    amount(one.value, self.values, one.statement) if one.value else 0,
                    ("timer",) if one.key == "wall" else ("none",),
                    "not enforced: no sandbox" if one.key != "wall" else "",
                )
                for one in on_system(limits, self._system)
            ),
            notes=(f"NO SANDBOX: {self._why}; only the environment block and the wall limit were applied",),
            timings=Timings(0.0, total, 0.0, total),
            environment=tuple(name for name, _ in self.variables),
        )
