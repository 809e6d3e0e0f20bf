"""What the command is handed: it can open its streams by name, whoever calls, on every backend."""

import os
import select

import pytest

import sbc_runtime
from tests.runtime.support import PATHS, SYSTEM, Caller, bundle, out

BACKENDS = ("namespace", "bwrap", "process")
FILES = f"files {{ root private; {SYSTEM}; tmp /tmp size 1MiB; devices %s; start-in /tmp }}; network none; {PATHS}"
NAMES = "/dev/stdout /dev/stderr /proc/self/fd/1 /proc/self/fd/2 /dev/fd/1"


@pytest.mark.parametrize("backend", BACKENDS)
def test_streams_can_be_opened_by_name(caller: Caller, backend: str) -> None:
    script = f"for n in {NAMES}; do echo $n > $n; done; read x < /dev/stdin; echo $x"
    outcome = caller.run(bundle(FILES % "minimal"), script, stdin=b"line\n", backend=backend, allow_wider=True)
    assert out(outcome).split() == ["/dev/stdout", "/proc/self/fd/1", "/dev/fd/1", "line"]
    assert outcome.stderr.kept.split() == [b"/dev/stderr", b"/proc/self/fd/2"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_terminal_can_be_opened_by_name(backend: str) -> None:
    keys, typed = os.pipe()
    shown, screen = os.pipe()
    script = "for n in 0 1 2; do echo number $n > /proc/self/fd/$n; done; stat -L -c '%a %u' /proc/self/fd/0; id -u"
    run = sbc_runtime.load(bundle(FILES % "standard")).start(
        ["/bin/sh", "-c", script],
        backend=backend,  # pyright: ignore[reportArgumentType]
        allow_wider=True,
        stdin=keys,
        stdout=screen,
        terminal=(24, 80),
    )
    os.close(screen)
    seen = b""
    while select.select([shown], [], [], 120)[0] and (part := os.read(shown, 4096)):
        seen += part
    outcome = run.wait()
    for one in (keys, typed, shown):
        os.close(one)
    assert outcome.ok, (outcome.failure, seen)
    lines = seen.decode().splitlines()
    assert lines[:3] == ["number 0", "number 1", "number 2"]
    # The command's own, and nobody else may open it.
    mode, owner = lines[3].split()
    assert mode[-2:] in {"00", "20"}
    assert owner == lines[4]
