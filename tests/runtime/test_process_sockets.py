"""The filter of `network none` without a namespace: proven to be what it says, for every ABI that has one."""

import errno
import os
import signal
import socket
import subprocess

import pytest

from sbc.backends.bpf.interpreter import run
from sbc.decision.prove import Proof, prove
from sbc.kernel.numbers import numbers
from sbc.policy.conditions import Masked, Not
from sbc.policy.origin import Origin
from sbc.policy.syscalls import AbiRules, FilterPolicy, Rule
from sbc_runtime import landlock_calls as landlock
from sbc_runtime.action import ALLOW, KILL_PROCESS, errno_verdict
from sbc_runtime.arch import ARCHES, Arch, native_arch
from sbc_runtime.instruction import unpack
from sbc_runtime.socket_filters import SOCKET_CALLS, unix_only
from sbc_runtime.verifier import verify_bytes
from tests.runtime.process_runner import USER, python, shell

WIDTH = 32
NOT_UNIX = Not(Masked(0, WIDTH, (1 << WIDTH) - 1, socket.AF_UNIX))
ORIGIN = Origin("syscalls", "a statement")
ABSENT = errno_verdict(errno.ENOSYS)


def meaning(arch: Arch) -> FilterPolicy:
    """Say the filter's meaning in the compiler's words, with the compiler's own table of numbers."""
    table = numbers(arch.name)
    rules = [
        Rule(table[name], name, errno_verdict(errno.EACCES), ORIGIN, NOT_UNIX) for name in ("socket", "socketpair")
    ]
    absent = [name for name in ("socketcall", "io_uring_setup") if name in table]
    rules += [Rule(table[name], name, ABSENT, ORIGIN) for name in absent]
    return FilterPolicy((AbiRules(arch, tuple(rules), ALLOW, ORIGIN),), KILL_PROCESS, ORIGIN)


@pytest.mark.parametrize("name", SOCKET_CALLS)
def test_it_is_proven(name: str) -> None:
    arch = ARCHES[name]
    program = verify_bytes(unix_only(arch), arch.byte_order)
    assert isinstance(prove(meaning(arch), program), Proof)


def test_every_native_abi_has_one() -> None:
    assert set(SOCKET_CALLS) == {arch.name for arch in ARCHES.values() if arch.machines}


@pytest.mark.parametrize("family", range(-1, 50))
def test_only_the_low_word_of_the_family_counts(family: int) -> None:
    arch = ARCHES["x86_64"]
    program = unpack(unix_only(arch), arch.byte_order)
    expected = ALLOW if family == socket.AF_UNIX else errno_verdict(errno.EACCES)
    for high in (0, 0xDEADBEEF << 32):
        for call in ("socket", "socketpair"):
            args = ((family & 0xFFFFFFFF) | high, 1, 0)
            assert run(program, arch.audit, numbers("x86_64")[call], args).verdict == expected


FAMILIES = """
import errno, socket, ctypes
for family in range(1, 46):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW):
        try:
            socket.socket(family, kind).close()
            print(family, kind, 'made')
        except OSError as error:
            if family != 1 and error.errno != errno.EACCES:
                print(family, kind, error)
print([one.fileno() > 2 for one in socket.socketpair()])
libc = ctypes.CDLL(None, use_errno=True)
print(libc.syscall(425, 8, None), errno.errorcode[ctypes.get_errno()])
"""


def test_only_unix_sockets_are_made_on_this_kernel() -> None:
    seen = python(FAMILIES)
    lines = seen["text"].splitlines()
    assert [line for line in lines if "made" in line] == ["1 1 made", "1 2 made", "1 3 made"]
    assert lines[-2:] == ["[True, True]", "-1 ENOSYS"]
    assert len(lines) == 5, lines


def test_numbers_of_x32_are_killed_on_this_kernel() -> None:
    if os.uname().machine != "x86_64":
        pytest.skip("x32 is x86's")
    program = "import ctypes; print(ctypes.CDLL(None).syscall(ctypes.c_long(0x40000000 | 41), 2, 1, 0))"
    assert python(program)["status"] == -signal.SIGSYS
    assert python(program, network="host")["status"] == 0


TAKE = """
import ctypes, errno, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
taken = libc.syscall(438, os.pidfd_open(PID), 0, 0)
if taken < 0:
    print(errno.errorcode[ctypes.get_errno()])
else:
    print(socket.socket(fileno=taken).family.name)
"""


@pytest.mark.parametrize("newest", [0, 7])
def test_a_socket_of_another_process(newest: int) -> None:
    """Landlock keeps the command from taking one; without it that is a loss by its name."""
    if newest and not landlock.abi():
        pytest.skip("this kernel has no Landlock")
    who = USER if os.getuid() == 0 else None
    groups: list[int] | None = None if who is None else []
    holder = ["/bin/sleep", "60"]
    with (
        socket.socket() as tcp,
        subprocess.Popen(holder, stdin=tcp.fileno(), user=who, group=who, extra_groups=groups) as other,
    ):
        found = python(TAKE.replace("PID", str(other.pid)), newest=newest)
        other.kill()
    assert found["text"] in ({"AF_INET\n"} if newest == 0 else {"EPERM\n", "EACCES\n"})
    assert any("can be taken" in one[3] for one in found["losses"]) is (newest == 0)


def test_an_open_socket_of_the_callers_is_not_inherited() -> None:
    with socket.socket() as tcp:
        tcp.set_inheritable(True)
        script = "ls -l /proc/self/fd"
        assert "socket" not in shell(script)["text"]


def test_a_foreign_abi_is_killed_on_this_kernel() -> None:
    if os.uname().machine != "x86_64":
        pytest.skip("int 0x80 is x86's")
    if not _has_int80():
        pytest.skip("this kernel does not serve 32-bit calls")
    # mov eax, 20 (getpid); int 0x80; ret
    seen = python(INT80)
    assert seen["status"] == -signal.SIGSYS


INT80 = """
import ctypes, mmap
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes.fromhex('b814000000cd80c3'))
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()
"""


def _has_int80() -> bool:
    return python(INT80, network="host")["status"] == 0


def test_the_machines_own_filter_is_in_its_byte_order() -> None:
    arch = native_arch(os.uname().machine)
    assert arch is not None
    assert unpack(unix_only(arch), arch.byte_order)[1].k == arch.audit
