"""Hosts whose mounts are shared, as those are that systemd starts: nothing that is mounted passes, either way."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.support import HOST, SYSTEM, USER, Caller, bundle, interpreter_for_anybody, missing
from tests.shared_data import ROOT

OWN = f"""param t : dir
files {{ root private; {SYSTEM}; write ${{t}} as /work; tmp /tmp size 1MiB; devices minimal; start-in /work }}
environment {{ set PATH = "/usr/bin:/bin" }}
network none"""
BUDGET = OWN.replace("size 1MiB", "size 1MiB inodes 64")
HOSTS = """param t : dir
files { root host; read /; write ${t}; tmp /tmp size 1MiB; devices standard; start-in ${t} }
environment { set PATH = "/usr/bin:/bin" }
network none"""

SCRIPT = """
import subprocess, sys
runtime, bundle, tree, backend, user, python, host = json.load(sys.stdin)
sys.path.insert(0, runtime)
from sbc_runtime import libc
libc.unshare(libc.CLONE_NEWNS)
libc.mount(None, "/", None, libc.MS_REC | libc.MS_PRIVATE)  # or these mounts would be shared with the machine's
libc.mount(None, "/", None, libc.MS_REC | libc.MS_SHARED)


def lines():
    with open("/proc/self/mountinfo", "rb") as file:
        return [one.rpartition(b" - ")[0].split()[4] for one in file]


before = lines()
ids = {"user": user, "group": user, "extra_groups": []} if user else {}
pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
with subprocess.Popen([python, "-I", "-c", host], text=True, **pipes, **ids) as one:
    print(json.dumps([runtime, bundle, tree, backend]), file=one.stdin, flush=True)
    one.stdin.close()
    started = one.stdout.readline()
    during = lines()
    libc.mount("tmpfs", tree + "/late", "tmpfs", 0, "mode=777")
    open(tree + "/late/secret", "w").close()
    open(tree + "/go", "w").close()
    told = json.loads(one.stdout.readline())
libc.umount(tree + "/late")
print(json.dumps([before == during, before == lines(), told]))
"""

RUN = """
profile = sbc_runtime.load(bundle)
said, end = os.pipe()
shell = "echo ready >&2; until [ -e go ]; do sleep 0.01; done; ls -a late; cut -d' ' -f7 /proc/self/mountinfo | sort -u"
run = profile.start(["/bin/sh", "-c", shell], params={"t": tree}, backend=given[0], stderr=end)
os.close(end)
os.read(said, 5)
print("started", flush=True)
outcome = run.wait()
tell([*told(outcome), outcome.isolation is not None and outcome.isolation.verified])
"""


@pytest.mark.parametrize("backend", ["namespace", "bwrap"])
@pytest.mark.parametrize("profile", [OWN, BUDGET, HOSTS], ids=["own", "budget", "hosts"])
def test_nothing_passes(caller: Caller, profile: str, backend: str) -> None:
    if os.geteuid() != 0:
        missing("root", "mounts are shared in a mount namespace of root's")
    tree = caller.tree()
    late = tree / "late"
    late.mkdir()
    caller.own(late)
    assert seen(caller, tree, profile, backend) == [True, True, ["exited", 0, ".\n..\n-\n", "", True]]


def seen(caller: Caller, tree: Path, profile: str, backend: str) -> Any:  # noqa: ANN401 - what the script tells
    python = interpreter_for_anybody() if caller.other else sys.executable
    user = USER if caller.other else 0
    given = [str(ROOT / "runtime"), str(bundle(profile)), str(tree), backend, user, python, HOST + RUN]
    start = "import json\n" + SCRIPT
    done = subprocess.run(
        [sys.executable, "-I", "-c", start],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
        env={},
        cwd="/",
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
