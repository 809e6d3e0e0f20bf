"""From inside a sandbox: another sandbox, and the machine's other ABIs, by real calls."""

import json
import os
import subprocess
import sys

import pytest

from tests.runtime.support import PATHS, SYSTEM, Caller, bundle
from tests.shared_data import ROOT

NEST = """
import json, sys
sys.path.insert(0, sys.argv[1])
import sbc_runtime
told = []
for backend in ("auto", "namespace"):
    seen = sbc_runtime.load(sys.argv[2]).run(["/bin/true"], backend=backend)
    told.append([seen.kind, seen.by, seen.code, str(seen.failure)])
print(json.dumps(told))
"""
INNER = f"syscalls none; files {{ root private; {SYSTEM}; devices minimal; start-in / }}; network host; {PATHS}"
OUTER = f"files {{ root host; devices minimal; start-in / }}; network host; {PATHS}"
STOCK = "syscalls { abi x86_64, aarch64; foreign-abi kill-process; default allow; include @stock-denylist }"
MASKED = "proc { read-only @container-read-only; hide @container-hidden }"


@pytest.mark.parametrize("backend", ["namespace", "bwrap"])
@pytest.mark.parametrize(
    ("policy", "why"), [(STOCK, ("seccomp filter",)), (f"syscalls none; {MASKED}", ("/proc", "cannot be nested here"))]
)
def test_a_sandbox_in_a_sandbox_says_why_it_cannot_be(
    caller: Caller, backend: str, policy: str, why: tuple[str, ...]
) -> None:
    outer = bundle(f"sbx 1\nuse <stock>\nuse <proc>\nprofile test {{ {policy}\n {OUTER} }}")
    command = ["/usr/bin/python3", "-I", "-c", NEST, str(ROOT / "runtime"), str(bundle(INNER))]
    outcome = caller.run(outer, command, backend=backend)
    assert outcome.ok, (outcome.failure, outcome.stderr)
    for kind, by, code, failure in json.loads(outcome.stdout.kept):
        assert (kind, by, code) == ("setup-failed", "sandbox", 125), failure
        assert all(word in failure for word in why), failure


CALL = """
import ctypes, mmap, os, sys
# `mov eax, NUMBER`, the first two arguments 1 and the rest 0; then `int 0x80` (with rbx saved), or `syscall`.
number = int(sys.argv[2]).to_bytes(4, "little").hex()
if sys.argv[1] == "i386":
    code = bytes.fromhex("53 b8" + number + "bb 01000000 b9 01000000 31d2 31f6 cd80 5b c3")
else:
    code = bytes.fromhex("b8" + number + "bf 01000000 be 01000000 31d2 4d31d2 0f05 c3")
place = mmap.mmap(-1, 4096, prot=7)
place.write(code)
function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(place)))
print("before", flush=True)
print(function(), flush=True)
os._exit(0)
"""
X32 = 0x40000000
GETPID = {"i386": 20, "x32": X32 | 39}
PRLIMIT = {"i386": 340, "x32": X32 | 302}
KNOWN = pytest.mark.skipif(os.uname().machine != "x86_64", reason="needs x86-64, whose kernel serves other ABIs too")


def serves(abi: str) -> bool:
    """Whether the kernel has the ABI: a call of it, without a sandbox."""
    command = [sys.executable, "-c", CALL, abi, str(GETPID[abi])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode == 0 and int(done.stdout.split()[1]) > 0


def called(caller: Caller, backend: str, syscalls: str, abi: str, number: int) -> tuple[str, object, list[bytes]]:
    made = bundle(f"sbx 1\nuse <stock>\nprofile test {{ {syscalls}\n {INNER.partition(';')[2]} }}")
    command = ["/usr/bin/python3", "-I", "-S", "-c", CALL, abi, str(number)]
    outcome = caller.run(made, command, backend=backend)
    return outcome.kind, outcome.signal or outcome.status, outcome.stdout.kept.split()


@KNOWN
@pytest.mark.parametrize("backend", ["namespace", "bwrap"])
@pytest.mark.parametrize("abi", ["i386", "x32"])
def test_a_call_of_another_abi(caller: Caller, backend: str, abi: str) -> None:
    assert called(caller, backend, STOCK, abi, GETPID[abi]) == ("signalled", 31, [b"before"]), "SIGSYS: it is foreign"
    own = f"syscalls {{ abi x86_64 + {abi}; foreign-abi kill-process; default allow; deny EPERM getppid }}"
    for syscalls in (own, "syscalls none"):
        kind, status, told = called(caller, backend, syscalls, abi, GETPID[abi])
        if serves(abi):
            assert (kind, status) == ("exited", 0)
            assert int(told[1]) > 1
        # Init is guarded from every ABI.
        assert called(caller, backend, syscalls, abi, PRLIMIT[abi]) == ("exited", 0, [b"before", b"-1"])


@KNOWN
@pytest.mark.parametrize("abi", ["i386", "x32"])
def test_a_denied_call_of_another_abi(caller: Caller, abi: str) -> None:
    denied = {"i386": 64, "x32": X32 | 110}
    syscalls = f"syscalls {{ abi x86_64 + {abi}; foreign-abi kill-process; default allow; deny EPERM getppid }}"
    kind, status, told = called(caller, "namespace", syscalls, abi, denied[abi])
    assert (kind, status, told) == ("exited", 0, [b"before", b"-1"])
