"""`sbc run` at a terminal: its size and its keys pass on, the caller's modes come back, and options choose."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.test_run import ENVIRONMENT, PROFILE, SBC, given, sandbox
from tests.runtime.processes import until

__all__ = ["sandbox"]


class Screen(NamedTuple):
    """A process whose session has a terminal, and the other side of that."""

    pid: int
    end: int

    def until(self, pattern: bytes) -> bytes:
        """Read until what was written matches, or for five minutes."""
        seen, end = b"", time.monotonic() + 300
        while not re.search(pattern, seen) and time.monotonic() < end:
            if select.select([self.end], [], [], 1)[0]:
                try:
                    part = os.read(self.end, 4096)
                except OSError:
                    break  # the other side is closed
                if not part:
                    break
                seen += part
        assert re.search(pattern, seen), seen
        return seen

    def status(self) -> int:
        """Wait for its end, and read what is left until then."""
        done, status = os.waitpid(self.pid, 0)
        assert done == self.pid
        os.close(self.end)
        return os.waitstatus_to_exitcode(status)


def started(folder: Path, script: str, *options: str, more: str = "", size: tuple[int, int] = (30, 90)) -> Screen:
    tree = given(folder / "tree")
    profile = folder / "small.sbx"
    profile.write_text(PROFILE.format(more=more).replace("root private;", "root private; devices standard;"))
    arguments = ["run", str(profile), "-D", f"tree={tree}", *options, "--", "sh", "-c", script]
    pid, end = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        os.execve(sys.executable, [*SBC, *arguments], ENVIRONMENT)  # noqa: S606 - our own command
    return Screen(pid, end)


def test_a_change_of_size_is_passed_on(tmp_path: Path) -> None:
    script = "trap 'stty size' WINCH; stty size; echo ready; i=0; while [ $i -lt 3000 ]; do sleep 0.1; i=$((i+1)); done"
    screen = started(tmp_path, script)
    assert b"30 90" in screen.until(b"ready")
    fcntl.ioctl(screen.end, termios.TIOCSWINSZ, struct.pack("HHHH", 41, 123, 0, 0))
    screen.until(b"41 123")
    os.write(screen.end, b"\x1c")
    screen.until(b"Quit|SIGQUIT|signal 3|\\^\\\\")
    assert screen.status() == 128 + signal.SIGQUIT


def test_ctrl_c_is_the_commands(tmp_path: Path) -> None:
    """It is a key of the command's terminal: the command may catch it, and goes on."""
    wait = 'while [ -z "$hit" ]; do sleep 0.1; done'
    screen = started(tmp_path, f"trap 'hit=1; echo caught' INT; echo ready; {wait}; read x; echo got $x; exit 5")
    screen.until(b"ready")
    os.write(screen.end, b"\x03")
    screen.until(b"caught")
    os.write(screen.end, b"line\r")
    screen.until(b"got line")
    assert screen.status() == 5


def test_the_callers_modes_come_back(tmp_path: Path) -> None:
    other = pty.openpty()
    before = termios.tcgetattr(other[0])  # as every terminal is at first
    for one in other:
        os.close(one)
    screen = started(tmp_path, "echo ready; read x; kill -9 $$")
    screen.until(b"ready")
    # Raw by now: no key is the outer terminal's.
    assert not termios.tcgetattr(screen.end)[3] & (termios.ICANON | termios.ISIG | termios.ECHO)
    os.write(screen.end, b"\r")
    assert until(lambda: termios.tcgetattr(screen.end)[3] == before[3])
    assert screen.status() == 137


def test_pipes_where_the_option_says_so(tmp_path: Path) -> None:
    screen = started(tmp_path, "test -t 0 || test -t 1 || test -t 2 || echo none; tty; echo end", "--no-pty")
    said = screen.until(b"end")
    assert b"none" in said
    assert b"not a tty" in said
    assert screen.status() == 0


@pytest.mark.parametrize(("option", "seen"), [((), "pipes"), (("--pty",), "terminal")])
def test_a_terminal_where_the_option_says_so(tmp_path: Path, option: tuple[str, ...], seen: str) -> None:
    """Without a terminal of the caller's there is none for the command, unless it is asked for."""
    tree = given(tmp_path / "tree")
    profile = tmp_path / "small.sbx"
    profile.write_text(PROFILE.format(more="").replace("root private;", "root private; devices standard;"))
    script = "if test -t 0 && test -t 1 && test -t 2; then echo terminal; else echo pipes; fi"
    done = subprocess.run(
        [*SBC, "run", str(profile), "-D", f"tree={tree}", *option, "--", "sh", "-c", script],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert (done.returncode, done.stdout.split()) == (0, [seen]), done.stderr


def test_the_output_limit_is_for_the_sum(tmp_path: Path) -> None:
    """A terminal has one stream: what goes to stdout and to stderr counts together."""
    script = "head -c 700 /dev/zero | tr '\\0' a; head -c 700 /dev/zero | tr '\\0' b >&2; sleep 1000"
    screen = started(tmp_path, script, more="limits { output 1KiB; wall 10min }")
    said = screen.until(b"output limit")
    assert said.count(b"a") >= 700
    assert said.count(b"b") <= 1024 - 700 + len("sbc: run: output limit: bytes")
    assert screen.status() == 137
