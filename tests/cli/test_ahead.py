"""The helper that `sbc run` starts ahead of all else: it is this interpreter, and knows nothing of the environment."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.runtime.processes import below, remaining, staying, until, words
from tests.runtime.support import Caller, bundle, interpreter_for_anybody
from tests.shared_data import ROOT

PROFILE = """\
sbx 1
use <stock>
profile small {
  syscalls { include @stock-denylist; default allow }
  files { root private; read { /usr /bin /lib /lib64 } optional; start-in / }
  environment { keep KEPT; set PATH = "/usr/bin:/bin" }
}
"""
CANARY = "sbc-test-5a1f77-not-for-the-sandbox"
KEPT = "sbc-test-93c2e0-for-the-command"
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "SBC_TEST_TOKEN": CANARY, "KEPT": KEPT}


@pytest.fixture(params=["root", "user"])
def caller(request: pytest.FixtureRequest) -> Caller:
    return Caller(request.param)


def sbc(caller: Caller, *command: str, environ: dict[str, str] | None = None) -> "subprocess.Popen[bytes]":
    """Start `sbc run` as a caller."""
    program = interpreter_for_anybody() if caller.other else sys.executable
    assert program is not None
    folders = f"{ROOT / 'compiler'}{os.pathsep}{ROOT / 'runtime'}"
    owner = caller.owner if caller.other else None
    return subprocess.Popen(
        [program, "-m", "sbc.cli.main", "run", str(bundle(PROFILE)), "--", *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT | (environ or {}) | {"PYTHONPATH": folders},
        cwd="/",
        user=owner,
        group=owner,
        extra_groups=None if owner is None else [],
    )


def memory(pid: int) -> bytes:
    """All that a process can read of its own memory; for uid 0."""
    parts: list[bytes] = []
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as file:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            span, modes, *_ = line.split()
            start, end = (int(one, 16) for one in span.split("-"))
            if modes.startswith("r") and end < 1 << 63 and "[v" not in line:
                try:
                    file.seek(start)
                    parts.append(file.read(end - start))
                except OSError:
                    continue  # pages that nobody can read
    return b"".join(parts)


def running(run: "subprocess.Popen[bytes]", command: list[bytes]) -> list[int]:
    """Wait until the command runs; give the processes below `sbc run` but the command's own."""
    found: dict[int, list[bytes]] = {}

    def runs() -> bool:
        found.clear()
        found.update({pid: words(pid) for pid in below(run.pid)})
        return command in found.values()

    if not until(lambda: run.poll() is not None or runs()) or run.poll() is not None:
        run.kill()
        raise AssertionError(run.communicate())
    return [pid for pid, said in found.items() if said != command]


@pytest.mark.skipif(os.geteuid() != 0, reason="looks into processes of other ids, as root may")
@pytest.mark.parametrize("more", [{}, {"LD_BIND_NOW": "1"}])
def test_no_process_of_a_run_has_the_callers_environment_in_its_memory(caller: Caller, more: dict[str, str]) -> None:
    """Also where another interpreter is executed: `LD_` variables say that this one may not be as it should be."""
    run = sbc(caller, "/bin/sleep", "7656", environ=more)
    try:
        others = running(run, [b"/bin/sleep", b"7656"])
        assert CANARY.encode() in memory(run.pid), "what is looked for could be found"
        assert len(others) >= 2, "the supervisor and init"
        for pid in others:
            assert Path(f"/proc/{pid}/environ").read_bytes().strip(b"\0") == b""
            seen = memory(pid)
            assert len(seen) > 1 << 20
            assert CANARY.encode() not in seen
            assert b"SBC_TEST_TOKEN" not in seen
    finally:
        run.terminate()
        run.communicate()


@pytest.mark.parametrize(
    "more", [{}, {"LD_BIND_NOW": "1"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}]
)
def test_a_command_gets_what_the_profile_keeps(caller: Caller, more: dict[str, str]) -> None:
    run = sbc(caller, "/usr/bin/env", environ=more)
    out, err = run.communicate(timeout=300)
    assert (run.returncode, err) == (0, b"")
    assert sorted(out.split()) == sorted([b"PATH=/usr/bin:/bin", b"KEPT=" + KEPT.encode()])


def test_nothing_outlives_a_program_that_is_killed_at_any_moment(caller: Caller) -> None:
    for number in range(30):
        run = sbc(caller, "/bin/sleep", "7657")
        time.sleep(number * 0.004)
        run.send_signal(signal.SIGSTOP)
        started = set(below(run.pid))
        run.kill()
        run.communicate()
        assert (number, staying(lambda started=started: remaining(started))) == (number, [])
