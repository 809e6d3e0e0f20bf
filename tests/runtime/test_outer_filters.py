"""Runs inside somebody else's filter, as containers have: calls that are missing or refused have a way round."""

import errno
import json
from pathlib import Path

import pytest

from tests.runtime.support import Caller
from tests.runtime.test_paths import host, profile
from tests.shared_data import ROOT

RUN = """
import json, struct, sys
asked = json.load(sys.stdin)
sys.path.insert(0, asked["runtime"])
import os, sbc_runtime
from sbc_runtime import libc
from sbc_runtime.numbers import calls
numbers = [getattr(calls(os.uname().machine), name) for name in asked["calls"]]
code = [(0x20, 0, 0, 0)]
for at, number in enumerate(numbers):
    code.append((0x15, len(numbers) - at, 0, number))
code += [(6, 0, 0, 0x7FFF0000), (6, 0, 0, 0x50000 | asked["errno"])]
libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
libc.FilterProgram(b"".join(struct.pack("=HBBI", *one) for one in code)).load()
profile = sbc_runtime.load(asked["bundle"])
for _ in range(2):
    outcome = profile.run(["/bin/sh", "-c", asked["script"]], params=asked["params"])
isolation = outcome.isolation
print(json.dumps([
    outcome.kind, outcome.stdout.kept.decode(), str(outcome.failure or ""), isolation and isolation.verified,
    isolation and isolation.backend,
]))
"""


def told(caller: Caller, made: Path, script: str, tree: Path, refused: dict[str, object]) -> list[str]:
    asked = {
        "runtime": str(ROOT / "runtime"),
        "bundle": str(made),
        "script": script,
        "params": {"t": str(tree)},
        **refused,
    }
    kind, stdout, failure, verified, backend = json.loads(caller.python(["-c", RUN], json.dumps(asked)))
    assert kind == "exited", failure
    assert (verified, backend) == (True, "namespace")
    return str(stdout).split()


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EPERM])
@pytest.mark.parametrize("calls", [["mount_setattr"], ["clone3"], ["mount_setattr", "clone3"]])
def test_calls_that_are_missing(caller: Caller, calls: list[str], number: int) -> None:
    refused: dict[str, object] = {"calls": calls, "errno": number}
    tree = caller.tree()
    (tree / "a").mkdir()
    (tree / "g").write_text("g")
    caller.own(tree / "a", tree / "g")
    made = profile("write ${t} as /w noexec; read ${t}/a; hide ${t}/g; start-in /w")
    script = (
        "touch n && echo 1; (touch a/n) 2>/dev/null || echo 2; wc -c < g; (echo x > g) 2>/dev/null || echo 3;"
        "(echo x > /proc/sys/kernel/domainname) 2>/dev/null || echo 4; echo x > /dev/null && echo 5;"
        "cp /bin/true t; ./t 2>/dev/null || echo 6"
    )
    assert told(caller, made, script, tree, refused) == ["1", "2", "0", "3", "4", "5", "6"]
    script = "grep -v -e ' /dev' -e ' /proc' /proc/self/mountinfo | cut -d' ' -f6 | cut -c-15 | sort -u"
    made = host("write ${t}/a; tmp /tmp size 1MiB", "network host")
    seen = told(caller, made, f"touch {tree}/a/n && {script}", tree, refused)
    assert set(seen) == {"ro,nosuid,nodev", "rw,nosuid,nodev"}
