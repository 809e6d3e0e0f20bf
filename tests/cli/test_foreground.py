"""What comes between the start of a run and the moment in which it can be told is told then."""

import os
import signal
from pathlib import Path

import pytest

from sbc.cli.foreground import Foreground
from sbc.cli.terminal import Terminal
from sbc_runtime.loader import Loaded, load
from sbc_runtime.outcome import Outcome
from sbc_runtime.request import Request
from sbc_runtime.running import failed_outcome
from sbc_runtime.unsandboxed import Unsandboxed
from tests.runtime.support import stock


class Started:
    """A run that says what it was told."""

    def __init__(self, outcome: Outcome) -> None:
        self.told: list[tuple[int, int] | str] = []
        self._outcome = outcome

    def cancel(self) -> None:
        self.told.append("cancel")

    def resize(self, rows: int, columns: int) -> None:
        self.told.append((rows, columns))

    def wait(self) -> Outcome:
        os.kill(os.getpid(), signal.SIGTERM)
        return self._outcome


@pytest.fixture
def loaded() -> Loaded:
    return load(stock("gate"))


def handlers() -> list[object]:
    return [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGWINCH)]


@pytest.mark.parametrize("terminal", [None, Terminal()])
def test_signals_before_the_run_is_known(terminal: Terminal | None, loaded: Loaded) -> None:
    before, outcome = handlers(), failed_outcome("test", loaded, None, "sandbox-failed")
    foreground, run = Foreground(terminal), Started(outcome)
    try:
        for number in (signal.SIGINT, signal.SIGWINCH):
            os.kill(os.getpid(), number)
        assert foreground.wait(run) is outcome
    finally:
        foreground.leave()
    assert run.told == ["cancel", *([] if terminal is None else [terminal.size()]), "cancel"]
    assert handlers() == before


def test_a_command_without_a_sandbox_that_is_cancelled_before_it_starts(tmp_path: Path, loaded: Loaded) -> None:
    asked = Request(["/bin/sleep", "10000"], params={"worktree": str(tmp_path)})
    run = Unsandboxed(loaded, asked, "test")
    run.cancel()
    assert run.wait().kind == "cancelled"
