"""Runs where something is in the way: a /proc that is covered in part, a session keyring that cannot be left."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runtime.support import PATHS, SYSTEM, Caller, bundle, missing
from tests.shared_data import ROOT

FILES = f"files {{ root private; {SYSTEM}; tmp /tmp size 1MiB; devices minimal; start-in /tmp }}; {PATHS}; network none"

ONE_RUN = """
import sys, json
sys.path.insert(0, sys.argv[1])
import sbc_runtime
outcome = sbc_runtime.load(sys.argv[2]).run(["/bin/true"], backend=sys.argv[3])
failure = outcome.failure
print(json.dumps([outcome.kind, [failure.step, failure.why, failure.remedy] if failure else None, outcome.notes]))
"""


@pytest.mark.parametrize("backend", ["namespace", "bwrap", "auto"])
def test_a_sandbox_in_a_sandbox_says_why_it_cannot_be(caller: Caller, backend: str) -> None:
    """A /proc that is covered in part: the kernel allows no new one, and says only EPERM."""
    if os.geteuid() != 0:
        missing("root", "parts of /proc are covered in a mount namespace of root's")
    python = sys.executable if caller.name == "root" else "/usr/bin/python3"
    drop = "" if caller.name == "root" else f"setpriv --reuid {caller.owner} --regid {caller.owner} --clear-groups"
    command = f'mount -t tmpfs none /proc/irq && exec {drop} {python} -I -c "$@"'
    given = [ONE_RUN, str(ROOT / "runtime"), str(bundle(FILES)), backend]
    arguments = ["unshare", "-m", "/bin/sh", "-c", command, "sh", *given]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=600, cwd="/")
    assert done.returncode == 0, done.stderr
    kind, failure, _ = json.loads(done.stdout)
    assert kind == "setup-failed"
    _, why, remedy = failure
    assert "`/proc/irq`" in why
    assert why.count("sandboxes cannot be nested here") == 1
    assert "unmasked /proc" in remedy


KEYS = (
    """
import os, struct, sys
sys.path.insert(0, sys.argv[1])
from sbc_runtime import libc
from sbc_runtime.numbers import calls
number, code = calls(os.uname().machine).keyctl, int(sys.argv[4])
refuse = (6, 0, 0, 0x50000 | code)
low = 16 + (4 if sys.byteorder == "big" else 0)
# What is refused: everything, or KEYCTL_JOIN_SESSION_KEYRING (1) alone.
whole = [(0x20, 0, 0, 0), (0x15, 0, 1, number), refuse, (6, 0, 0, 0x7FFF0000)]
alone = [(0x20, 0, 0, 0), (0x15, 0, 3, number), (0x20, 0, 0, low), (0x15, 0, 1, 1), refuse, (6, 0, 0, 0x7FFF0000)]
libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
libc.FilterProgram(b"".join(struct.pack("=HBBI", *one) for one in (whole if sys.argv[5] == "whole" else alone))).load()
"""
    + ONE_RUN
)


def with_keys(caller: Caller, made: Path, code: int, how: str) -> tuple[str, list[str] | None, list[str]]:
    given = ["-c", KEYS, str(ROOT / "runtime"), str(made), "namespace", str(code), how]
    kind, failure, notes = json.loads(caller.python(given))
    return kind, failure, notes


@pytest.mark.parametrize("code", [errno.EPERM, errno.ENOSYS])
@pytest.mark.parametrize("syscalls", ["", "; syscalls none"])
def test_no_keyctl_at_all_is_told(caller: Caller, code: int, syscalls: str) -> None:
    kind, failure, notes = with_keys(caller, bundle(FILES + syscalls), code, "whole")
    assert kind == "exited", failure
    assert [one for one in notes if "session keyring" in one and "nor by the command" in one]


def test_a_session_keyring_that_cannot_be_left(caller: Caller) -> None:
    """Reached by the command it is refused; where the profile denies keyctl(2), told."""
    kind, failure, notes = with_keys(caller, bundle(FILES), errno.EPERM, "alone")
    assert kind == "exited", failure
    assert [one for one in notes if "session keyring" in one and "denies keyctl" in one]
    kind, failure, notes = with_keys(caller, bundle(f"{FILES}; syscalls none"), errno.EPERM, "alone")
    assert kind == "setup-failed"
    assert failure is not None
    assert failure[0] == "keyring"
    assert "deny @keyring" in failure[2]


def test_nothing_is_said_where_it_is_left(caller: Caller) -> None:
    outcome = caller.run(bundle(FILES), ["/bin/true"])
    assert not [one for one in outcome.notes if "keyring" in one]
