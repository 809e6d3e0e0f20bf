"""The caller's terminal: nothing that the command does types into it (ioctl_tty(2), TIOCSTI)."""

import os
import pty
import sys

import pytest

from tests.runtime.support import PATHS, SYSTEM, Caller, bundle
from tests.shared_data import ROOT

TYPE = """
import fcntl, os
for place in (0, 1, 2, '/dev/tty', '/dev/pts/0', '/proc/1/fd/0'):
    try:
        there = place if isinstance(place, int) else os.open(place, os.O_RDWR | os.O_NOCTTY)
        for one in b'id\\n':
            fcntl.ioctl(there, 0x5412, bytes((one,)))
    except OSError:
        pass
"""
HOST = """
import array, fcntl, os, sys, termios, tty
sys.path.insert(0, sys.argv[1])
import sbc_runtime
tty.setraw(0)
def waiting():
    there = array.array('i', [0])
    fcntl.ioctl(0, termios.FIONREAD, there)
    return there[0]
more = {'terminal': (24, 80)} if sys.argv[4] == 'terminal' else {'stderr': 2}
sink = os.open('/dev/null', os.O_RDWR)
run = sbc_runtime.load(sys.argv[2]).start(
    ['/usr/bin/python3', '-c', sys.argv[5]], stdin=0, stdout=sink if 'terminal' in more else 1,
    backend=sys.argv[3], **more)
kind, after = run.wait().kind, waiting()
try:
    fcntl.ioctl(0, 0x5412, b'x')
    control = waiting() - after
except OSError:
    control = 'denied'
os.write(1, f'{kind} {after} {control}.'.encode())
"""


@pytest.mark.parametrize("backend", ["namespace", "bwrap"])
@pytest.mark.parametrize("streams", ["terminal", "given"])
def test_nothing_is_typed_into_it(backend: str, streams: str) -> None:
    """Also where it is given as the command's 0, 1 and 2; the control types into it from outside."""
    Caller("root" if os.geteuid() == 0 else "user")
    files = f"root private; {SYSTEM}; tmp /tmp size 1MiB; devices standard; start-in /tmp"
    made = bundle(f"files {{ {files} }}; {PATHS}; network none; syscalls none")
    pid, terminal = pty.fork()
    if pid == 0:
        given = ["-I", "-c", HOST, str(ROOT / "runtime"), str(made), backend, streams, TYPE]
        os.execv(sys.executable, [sys.executable, *given])  # noqa: S606 - our own interpreter
    told = b""
    while not told.endswith(b"."):
        told += os.read(terminal, 1000)
    os.close(terminal)
    os.waitpid(pid, 0)
    kind, after, control = told.decode().rstrip(".").split()[-3:]
    assert (kind, after) == ("exited", "0"), told
    if control == "denied":
        pytest.skip("dev.tty.legacy_tiocsti is 0 here: the kernel lets no one type but CAP_SYS_ADMIN")
    assert control == "1"
