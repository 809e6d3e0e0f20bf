"""Whether sandbox-exec works on this Mac: a trivial profile lets a program run, and another one stops it."""

import os
import subprocess
import tempfile
from pathlib import Path

from sbc_runtime.doctor_findings import Check, Findings
from sbc_runtime.macos import arguments as sandbox

PROGRAM = "/usr/bin/true"
_ALLOWS = "(version 1)\n(allow default)\n"
_DENIES = f'{_ALLOWS}(deny process-exec* (literal "{PROGRAM}"))\n'
_SECONDS = 30


def diagnose() -> Findings:
    """Try it; nothing is changed, and nothing is left."""
    uname = os.uname()
    check = _seatbelt()
    auto = "seatbelt" if check.ready else None
    return Findings(uname.sysname, uname.release, uname.machine, os.geteuid(), auto, (check,))


def _seatbelt() -> Check:
    name = "backend seatbelt"
    if os.geteuid() == 0:
        return Check(name, False, "root stays root under Seatbelt", "run it as an ordinary user")
    try:
        with tempfile.TemporaryDirectory() as folder:
            lets, said = _status(_ALLOWS, Path(folder) / "allows.sb")
            stops, _ = _status(_DENIES, Path(folder) / "denies.sb")
    except (OSError, subprocess.TimeoutExpired) as error:
        return Check(name, False, f"`{sandbox.SANDBOX_EXEC}`: {error}", "it is a part of macOS")
    if lets != 0:
        why = f"sandbox-exec ended with {lets}: {said}"
        return Check(name, False, why, "start it outside of another sandbox: macOS does not nest them")
    if stops == 0:
        return Check(name, False, "a program ran that its profile denies", "use no other program in its place")
    return Check(name, True, "", "", ("what holds cannot be read back: it is what sandbox-exec was told",))


def _status(profile: str, place: Path) -> tuple[int, str]:
    place.write_text(profile, encoding="utf-8")
    place.chmod(0o600)
    command = sandbox.arguments(str(place), {}, [PROGRAM])
    done = subprocess.run(  # noqa: S603
        command, stdin=subprocess.DEVNULL, capture_output=True, env={}, check=False, timeout=_SECONDS
    )
    return done.returncode, next(iter(done.stderr.decode("utf-8", "replace").splitlines()), "")
