"""The runtime's own two filters, init's and the guard: their numbers, and what they answer for each ABI."""

import itertools

import pytest

from sbc.backends.bpf.interpreter import run
from sbc.kernel.numbers import numbers
from sbc_runtime import bwrap_trace
from sbc_runtime.action import ALLOW, KILL_PROCESS, Action, Verdict
from sbc_runtime.arch import ARCHES, X32_BIT, Arch
from sbc_runtime.errors import SetupFailed
from sbc_runtime.host import refuse_width
from sbc_runtime.init_guard import FIRST, NUMBERS, PRIORITIES, SECOND, init_guard
from sbc_runtime.instruction import unpack
from sbc_runtime.numbers import INIT_CALLS, Calls, calls
from sbc_runtime.seccomp import init_filter, needs_supervisor
from sbc_runtime.verifier import verify_bytes

NATIVE = [arch for arch in ARCHES.values() if arch.machines]
REFUSED = Verdict(Action.ERRNO, 1)

INIT_NEEDS = [
    "read", "write", "close", "poll", "ppoll", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "brk", "mmap",
    "munmap", "mremap", "mprotect", "madvise", "futex", "wait4", "exit", "exit_group", "prctl", "clock_gettime",
]  # fmt: skip
INIT_NEEDS_OF_32_BITS = ["mmap2", "ppoll_time64", "futex_time64", "clock_gettime64"]


def test_there_is_a_list_for_every_abi_that_is_a_machines_own() -> None:
    assert set(INIT_CALLS) == {arch.name for arch in NATIVE}
    assert set(NUMBERS) == set(ARCHES)


@pytest.mark.parametrize("arch", NATIVE, ids=lambda arch: arch.name)
def test_the_numbers_of_raw_calls(arch: Arch) -> None:
    known = numbers(arch.name)
    assert calls(arch.machines[0]) == Calls(*(known[one] for one in Calls._fields))
    assert known["ioprio_get"] == known["ioprio_set"] + 1
    assert bwrap_trace.NUMBERS[arch.name] == bwrap_trace.Numbers(*(known[one] for one in bwrap_trace.Numbers._fields))


@pytest.mark.parametrize("arch", NATIVE, ids=lambda arch: arch.name)
def test_what_init_may_call(arch: Arch) -> None:
    known = numbers(arch.name)
    names = INIT_NEEDS + (INIT_NEEDS_OF_32_BITS if arch.word == 32 else [])
    assert INIT_CALLS[arch.name] == tuple(known[one] for one in names if one in known)
    program = unpack(init_filter(arch), arch.byte_order)
    for name, number in known.items():
        expected = ALLOW if name in names else REFUSED
        assert run(program, arch.audit, number).verdict == expected, name


@pytest.mark.parametrize("arch", NATIVE, ids=lambda arch: arch.name)
def test_both_are_filters_that_the_kernel_takes(arch: Arch) -> None:
    for program in (init_filter(arch), init_guard(arch)):
        verify_bytes(program, arch.byte_order)
        assert needs_supervisor(program, arch) is None


@pytest.mark.parametrize("name", ARCHES)
def test_the_guards_numbers(name: str) -> None:
    known = numbers(name)
    assert [one | (X32_BIT if name == "x32" else 0) for one in NUMBERS[name]] == [
        known[one] for one in (*FIRST, *SECOND, *PRIORITIES)
    ]


WORDS = (0, 1, 2, 3, 0xFFFFFFFF, 1 << 32, 1 << 32 | 1, 0xFFFFFFFF << 32 | 1)


def names_init(name: str, first: int, second: int) -> bool:
    """What the kernel makes of the first two arguments: it takes 32 bits of each."""
    first, second = first & 0xFFFFFFFF, second & 0xFFFFFFFF
    if name in FIRST:
        return first == 1
    if name == "kcmp":
        return 1 in {first, second}
    if name in SECOND:
        return second == 1
    if name in PRIORITIES:
        return first != PRIORITIES.index(name) or second == 1
    return False


@pytest.mark.parametrize("name", ARCHES)
def test_the_guard_refuses_what_names_init_and_nothing_else(name: str) -> None:
    arch = ARCHES[name]
    native = next(one for one in NATIVE if one.kernel == arch.kernel and one.byte_order == arch.byte_order)
    program = unpack(init_guard(native), native.byte_order)
    for call, number in numbers(name).items():
        named = call in {*FIRST, *SECOND, *PRIORITIES}
        for first, second in itertools.product(WORDS, WORDS) if named else ((1, 1), (0, 1)):
            seen = run(program, arch.audit, number, (first, second, 1, 1, 1, 1), byte_order=arch.byte_order).verdict
            assert seen == (REFUSED if names_init(call, first, second) else ALLOW), (call, first, second)


@pytest.mark.parametrize("arch", NATIVE, ids=lambda arch: arch.name)
def test_the_guard_kills_what_it_does_not_know(arch: Arch) -> None:
    program = unpack(init_guard(arch), arch.byte_order)
    served = {one.audit for one in ARCHES.values() if one.kernel == arch.kernel}
    for audit in ({one.audit for one in ARCHES.values()} | {0, 0xFFFFFFFF, 0x16}) - served:
        assert run(program, audit, 0).verdict == KILL_PROCESS


def test_an_interpreter_of_another_width_is_refused() -> None:
    refuse_width("x86_64", 64)
    refuse_width("armv7l", 32)
    refuse_width("i686", 32)
    for machine, width in (("x86_64", 32), ("aarch64", 32), ("mips64", 32)):
        with pytest.raises(SetupFailed, match="use a Python of 64 bits"):
            refuse_width(machine, width)
