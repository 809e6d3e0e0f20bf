"""Finishes plans for bubblewrap as their words ask, and runs them: what applies a plan has to do the same."""

import functools
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from sbc.backends.bwrap.target import BwrapTarget
from sbc.policy.policy import Policy

NOBODY = 65534


def plan(made: Policy) -> list[str]:
    (file,) = BwrapTarget().emit(made).files
    assert file.name == f"{made.name}.bwrap"
    assert file.content.endswith(b"\0")
    return file.content.decode("utf-8", "surrogateescape").split("\0")[:-1]


def filled(text: str, values: Mapping[str, str]) -> str:
    return re.sub(r"\$(?:\$|\{([^}]*)\})", lambda found: values[found[1]] if found[1] else "$", text)


def finished(made: Policy, values: Mapping[str, str]) -> list[str]:
    """Fill in parameters, decide what depends on the machine, leave out the filter."""
    ids = {":user": "1000", ":group": "1000", ":hostname": "sandbox", ":seccomp": "-1"}
    words = iter([filled(word, {**ids, **values}) for word in plan(made)])
    done: list[str] = []
    folders: set[str] = set()
    for word in words:
        match word:
            case "--sbc-hide" | "--sbc-hide-try":
                source, place = Path(next(words)), next(words)
                if not source.exists() and word.endswith("-try"):
                    continue
                if str(source) == place:
                    place = str(source.resolve())
                if place in folders:
                    continue
                if source.resolve().is_dir():
                    folders.add(place)
                    done += ["--perms", "0555", "--tmpfs", place]
                else:
                    assert source.exists()
                    done += ["--dev-bind", "/dev/null", place]
            case "--sbc-seal":
                place = next(words)
                done += ["--remount-ro", place] if place in folders else []
            case "--sbc-inodes" | "--seccomp":
                next(words)
            case _:
                done.append(word)
    return done


@functools.cache
def bwrap() -> str:
    """Give a bubblewrap that works here; the test is skipped where there is none."""
    program = shutil.which("bwrap")
    if program is None:
        pytest.skip("bubblewrap is not installed")
    tried = subprocess.run([program, "--unshare-user", "--ro-bind", "/", "/", "true"], capture_output=True, check=False)
    if tried.returncode:
        pytest.skip(f"bubblewrap does not work here: {tried.stderr.decode().strip()}")
    return program


def run(made: Policy, script: str, values: Mapping[str, str], uid: int) -> subprocess.CompletedProcess[str]:
    """Run a shell script in the sandbox, started by `uid`."""
    if uid != os.geteuid() and os.geteuid() != 0:
        pytest.skip("only root can start it as somebody else")
    command = [bwrap(), *finished(made, {":start-in": "/", **values}), "--", "/bin/sh", "-c", script]
    return (
        subprocess.run(
            command, capture_output=True, text=True, check=False, user=uid, group=uid, extra_groups=[], timeout=600
        )
        if os.geteuid() == 0
        else subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    )
