"""Parameters and links that lead to what is reserved: /proc, /dev, a writable /sys, `/` under another name."""

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.runtime.support import PATHS, Caller, bundle, out
from tests.runtime.test_paths import BASE, host, profile
from tests.shared_data import ROOT


@pytest.fixture
def tree(caller: Caller) -> Path:
    return caller.tree()


def refused(caller: Caller, made: Path, params: dict[str, object], word: str) -> None:
    outcome = caller.run(made, ["/bin/true"], params)
    assert outcome.kind == "setup-failed"
    assert outcome.failure is not None
    assert outcome.failure.step == "paths"
    assert word in outcome.failure.why


@pytest.mark.parametrize("access", ["read ${t}", "write ${t}", "read ${t} as /x", "write ${t} as /x"])
@pytest.mark.parametrize("target", ["/proc", "/proc/sys", "/dev", "/dev/shm"])
def test_a_parameter_that_leads_there(caller: Caller, access: str, target: str) -> None:
    refused(caller, profile(f"{access}; start-in /"), {"t": target}, "of its own")


@pytest.mark.parametrize("target", ["/proc", "/dev"])
def test_a_link_that_leads_there(caller: Caller, tree: Path, target: str) -> None:
    (tree / "link").symlink_to(target)
    refused(caller, profile("read ${t}; start-in /"), {"t": tree / "link"}, "of its own")
    made = bundle(f"files {{ {BASE}; read {tree}/link; start-in / }}; {PATHS}")
    refused(caller, made, {}, "of its own")


def test_the_whole_tree_under_another_name(caller: Caller, tree: Path) -> None:
    (tree / "root").symlink_to("/")
    for target in ("/", tree / "root"):
        refused(caller, profile("read ${t} as /x; start-in /"), {"t": target}, "would be seen below")
        refused(caller, profile("hide ${t}; start-in /"), {"t": target}, "cannot be hidden")


def test_sysfs_is_never_writable(caller: Caller) -> None:
    for target in ("/sys", "/sys/kernel"):
        refused(caller, profile("write ${t}; start-in /"), {"t": target}, "whole machine")
    assert out(caller.run(profile("read ${t}; start-in /"), "ls /sys", {"t": "/sys"}))


@pytest.mark.parametrize("place", ["${t}", "${t}/x"])
@pytest.mark.parametrize("target", ["/proc", "/dev"])
def test_a_private_folder_there(caller: Caller, place: str, target: str) -> None:
    refused(caller, profile(f"tmp {place} size 1MiB; start-in /"), {"t": target}, "of its own")


def test_covers_where_the_hosts_folder_is_seen(caller: Caller, tree: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tree / "s"))
        for made in (host("write ${t}", "network none"), profile("read /; write ${t}; start-in /", "network none")):
            outcome = caller.run(made, "ls -A /run", {"t": tree})
            assert out(outcome) == ""
            assert {"/run", str(tree / "s")} <= set(outcome.covered)


def test_all_of_the_host_writable() -> None:
    caller = Caller("user")
    tree = caller.tree()
    script = f"echo 1 > {tree}/n && cat {tree}/n; grep ' /sys r' /proc/self/mountinfo | tail -1 | cut -d' ' -f6"
    script += "; ls /proc | grep -c '^[0-9]'"
    outcome = caller.run(bundle(f"files {{ {BASE}; write /; start-in / }}; {PATHS}; network host"), script)
    told = out(outcome).split()
    assert told[0] == "1"
    assert told[1].startswith("ro,")
    assert int(told[2]) < 10
    assert outcome.isolation is not None
    assert outcome.isolation.verified
    assert not outcome.isolation.protections.private_root
    assert not outcome.isolation.protections.read_only_root


PROBE = """
import ctypes, os, sys
sys.path[:0] = sys.argv[1:2]
libc = ctypes.CDLL(None, use_errno=True)
def mount(source, target, kind, flags):
    if libc.mount(source, target.encode(), kind, flags, None):
        raise OSError(ctypes.get_errno(), "mount")
if libc.unshare(0x20000):
    raise OSError(ctypes.get_errno(), "unshare")
mount(b"none", "/", None, 0x44000)
tree = sys.argv[3]
mount(b"proc", f"{tree}/jail/proc", b"proc", 0)
mount(b"sysfs", f"{tree}/jail/sys", b"sysfs", 0)
import sbc_runtime
def run(script, t):
    outcome = sbc_runtime.load(sys.argv[2]).run(["/bin/sh", "-c", script], params={"t": t})
    print(outcome.stdout.kept.decode().split(), outcome.covered, outcome.failure and outcome.failure.why, sep="|")
run("ls -A jail/proc | wc -l; (echo x > jail/sys/kernel/x) 2>&1; grep jail/sys /proc/self/mountinfo", tree)
run("true", f"{tree}/jail/proc")
run("true", f"{tree}/jail/sys")
"""


def test_another_proc_and_sysfs_of_the_host() -> None:
    caller = Caller("root")
    made = caller.tree()
    for one in ("jail", "jail/proc", "jail/sys"):
        (made / one).mkdir()
        caller.own(made / one)
    command = [sys.executable, "-c", PROBE, str(ROOT / "runtime"), str(profile("write ${t} as /w; start-in /w"))]
    told = subprocess.run([*command, str(made)], capture_output=True, text=True, check=True).stdout.splitlines()
    seen, covered, why = told[0].split("|")
    assert seen.startswith("['0'")
    assert "'ro,nosuid,nodev" in seen
    assert covered == "('/w/jail/proc',)"
    assert why == "None"
    assert "/proc of its own" in told[1]
    assert "whole machine" in told[2]
    assert os.listdir(made / "jail/proc") == []


@pytest.mark.parametrize("backend", ["namespace", "bwrap"])
@pytest.mark.parametrize("root", ["root host; read /", "root private; read /"])
def test_no_devices_where_the_host_is_shown(caller: Caller, tree: Path, root: str, backend: str) -> None:
    """Neither the host's devices nor its shm and pts; the control is a file in the host's shm."""
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
        Path(file.name).chmod(0o644)
        made = bundle(
            f"param t : dir\nfiles {{ {root}; write ${{t}}; devices none; start-in / }}; {PATHS}; network host"
        )
        script = (
            f"cat {file.name} /dev/zero /dev/null >{tree}/n 2>&1; ls -AR /dev | grep -v /dev: | grep -v '^$' | wc -l"
        )
        outcome = caller.run(made, script, {"t": tree}, backend=backend)
        assert out(outcome) == "0\n"
        assert outcome.isolation is not None
        assert outcome.isolation.verified
        made = bundle(
            f"param t : dir\nfiles {{ {root}; write ${{t}}; devices host; start-in / }}; {PATHS}; network host"
        )
        if backend == "namespace":
            assert int(out(caller.run(made, "ls /dev | wc -l", {"t": tree}))) > 3
