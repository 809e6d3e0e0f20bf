"""`network none`: no socket of a family that reaches beyond a network namespace, whatever the profile's filter says."""

import errno
import os
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sbc.backends.bpf.interpreter import run
from sbc.kernel.numbers import numbers
from sbc_runtime import loader
from sbc_runtime.action import ALLOW, KILL_PROCESS, Action, Verdict, errno_verdict
from sbc_runtime.arch import ARCHES, X32_BIT, Arch
from sbc_runtime.filter_outcomes import may_pass
from sbc_runtime.instruction import OFFSET_ARCH, OFFSET_NR, unpack
from sbc_runtime.socket_filters import OUTSIDE, SOCKET_CALLS, guard, passes
from sbc_runtime.verifier import verify_bytes
from tests.runtime.support import PATHS, SYSTEM, Caller, bundle, out, stock

DENIED = errno_verdict(errno.EAFNOSUPPORT)
ABSENT = errno_verdict(errno.ENOSYS)
FILES = f"files {{ root private; {SYSTEM}; tmp /tmp size 16MiB; devices minimal; start-in /tmp }}; {PATHS}"
LOOSE = {
    "no filter": "syscalls none",
    "one that lets sockets through": "syscalls { abi x86_64 + i386, aarch64; default allow; deny EPERM mount }",
    "one that denies the sockets alone": (
        "syscalls { abi x86_64, aarch64; default allow; deny EACCES socket when family in { 32 40 42 } }"
    ),
}
FAMILIES = """
import ctypes, errno, socket
libc = ctypes.CDLL(None, use_errno=True)
for family in (40, 40 | 0xdead << 32, 42, 32):
    made = libc.syscall(ctypes.c_long(SOCKET), ctypes.c_long(family), ctypes.c_long(1), ctypes.c_long(0))
    print('made' if made >= 0 else errno.errorcode[ctypes.get_errno()])
print(libc.syscall(ctypes.c_long(425), ctypes.c_long(8), ctypes.c_long(0)), errno.errorcode[ctypes.get_errno()])
for family, kind in ((1, 1), (2, 1), (2, 2), (10, 1), (16, 3)):
    socket.socket(family, kind).close()
print(len(socket.socketpair()))
""".replace("SOCKET", str(SOCKET_CALLS["aarch64" if os.uname().machine == "aarch64" else "x86_64"].socket))


def families(caller: Caller, network: str, syscalls: str, backend: str) -> tuple[list[str], tuple[str, ...]]:
    made = bundle(f"{FILES}; network {network}; {syscalls}")
    outcome = caller.run(made, ["/usr/bin/python3", "-c", FAMILIES], backend=backend)
    return out(outcome).split("\n"), tuple(one.why for one in outcome.losses)


@pytest.mark.parametrize("backend", ["namespace", "bwrap"])
@pytest.mark.parametrize("which", LOOSE)
def test_none_is_made(caller: Caller, which: str, backend: str) -> None:
    told, losses = families(caller, "none", LOOSE[which], backend)
    denied = "EACCES" if "alone" in which else "EAFNOSUPPORT"
    assert told[:5] == [denied] * 4 + ["-1 ENOSYS"]
    assert told[5] == "2"
    assert any("io_uring" in one for one in losses)


@pytest.mark.parametrize("backend", ["namespace", "bwrap"])
def test_the_control(caller: Caller, backend: str) -> None:
    """The same sockets with the host's network."""
    try:
        socket.socket(40, socket.SOCK_STREAM).close()
    except OSError:
        pytest.skip("this kernel has no AF_VSOCK")
    told, losses = families(caller, "host", "syscalls none", backend)
    assert told[:2] == ["made", "made"]
    assert "ENOSYS" not in told[4]
    assert losses == ()


def test_stock_profiles_need_no_second_filter() -> None:
    for name in ("agent-check", "gate", "builder"):
        for one in loader.load(stock(name)).bundle.filters or ():
            for abi in one.abis:
                if abi in SOCKET_CALLS:
                    assert passes(one.program, ARCHES[abi]) == (False, False), (name, abi)
                    assert guard(one.program, ARCHES[abi]) is None


@pytest.mark.parametrize("name", SOCKET_CALLS)
def test_the_guard_decides_as_it_says(name: str) -> None:
    native = ARCHES[name]
    raw = guard(None, native)
    assert raw is not None
    verify_bytes(raw, native.byte_order)
    program = unpack(raw, native.byte_order)

    def decided(arch: Arch, number: int, family: int) -> Verdict:
        return run(program, arch.audit, number, (family, 1, 0), byte_order=native.byte_order).verdict

    for arch in ARCHES.values():
        if arch.kernel != native.kernel:
            assert decided(arch, 41, 40) == KILL_PROCESS
            continue
        table = numbers(arch.name)
        for family in range(-1, 60):
            wanted = DENIED if family in OUTSIDE.values() else ALLOW
            for high in (0, 0xDEADBEEF << 32):
                assert decided(arch, table["socket"], (family & 0xFFFFFFFF) | high) == wanted
        absent = {table[one] for one in ("io_uring_setup", "socketcall") if one in table}
        for number in range(600):
            shown = number + arch.first_number if arch.name == "x32" else number
            verdict = decided(arch, shown, 1)
            if shown in absent:
                assert verdict == ABSENT
            else:
                assert verdict == ALLOW, (arch.name, number)


def test_x32_numbers_of_sockets_are_denied() -> None:
    raw = guard(None, ARCHES["x86_64"])
    assert raw is not None
    program = unpack(raw, "little")
    assert run(program, ARCHES["x86_64"].audit, 41 | X32_BIT, (40, 1, 0)).verdict == DENIED
    assert run(program, ARCHES["x86_64"].audit, 425 | X32_BIT, (1, 1, 0)).verdict == ABSENT


@given(st.sampled_from([1, 2, 10, 16, 32, 40, 42]), st.sampled_from([41, 53, 425, 101]), st.integers(0, 2**64 - 1))
def test_what_passes_is_foreseen(family: int, number: int, rest: int) -> None:
    """What the interpreter lets through, `may_pass` does not rule out; here both are exact."""
    arch: Arch = ARCHES["x86_64"]
    found = next(one for one in loader.load(stock("agent-check")).bundle.filters or () if "x86_64" in one.abis)
    program = unpack(found.program, "little")
    verdict: Verdict = run(program, arch.audit, number, (family, rest, rest)).verdict
    foreseen = may_pass(program, {OFFSET_ARCH: arch.audit, OFFSET_NR: number, 16: family})
    assert foreseen >= (verdict.action is Action.ALLOW)
    if number == 41:
        assert foreseen == (family in {1, 2, 10, 16})
