"""Starts `process_run.py`, as the caller's user or as another."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc")
"""What a command needs to be run."""

USER = 1001
"""An ordinary user, for tests that root runs."""


def reads(*paths: str | Path) -> list[dict[str, Any]]:
    """Give mounts that are read-only; folders that are links are left out, as their targets are there."""
    return [{"kind": "bind", "place": str(path)} for path in (*SYSTEM, *paths) if not Path(path).is_symlink()]


def writes(*paths: str | Path, **more: object) -> list[dict[str, Any]]:
    """Give writable mounts."""
    return [{"kind": "bind", "place": str(path), "read_only": False, **more} for path in paths]


def run(spec: dict[str, Any], user: int | None = None) -> dict[str, Any]:
    """Run one command; `user`: as this user, which only root can ask for."""
    command = [sys.executable, "-I", "-S", str(Path(__file__).parent / "process_run.py"), str(ROOT / "runtime")]
    given = spec if user is None else {"user": user, **spec}
    done = subprocess.run([*command, json.dumps(given)], capture_output=True, text=True, check=False, cwd="/")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    found["text"] = found.get("first", "") + found.get("output", "")
    return found


def shell(script: str, /, **spec: object) -> dict[str, Any]:
    """Run a shell script as the ordinary user where root runs the tests, else as the caller."""
    given = {"argv": ["/bin/sh", "-c", script], "mounts": reads(), **spec}
    return run(given, USER if os.getuid() == 0 else None)


def python(source: str, /, **spec: object) -> dict[str, Any]:
    """Run a Python program, likewise."""
    given = {"argv": ["/usr/bin/python3", "-I", "-S", "-c", source], "mounts": reads(), **spec}
    return run(given, USER if os.getuid() == 0 else None)
