"""A filter that allows little: what comes between its loading and the command's first call needs next to nothing."""

import os

import pytest

from tests.runtime.support import SYSTEM, Caller, bundle

# The last two are what the compiler asks for, for bubblewrap's sake.
CALLS = """
execve brk mmap openat close fstat newfstatat read pread64 arch_prctl set_tid_address set_robust_list rseq
mprotect prlimit64 munmap exit_group getrandom access
write wait4
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the calls of a program are those of x86_64")
def test_only_what_the_program_itself_calls(caller: Caller) -> None:
    made = bundle(
        f"syscalls {{ abi x86_64; default kill-process; allow {{ {' '.join(CALLS.split())} }} }};"
        f"files {{ root private; {SYSTEM}; devices none; start-in / }}"
    )
    outcome = caller.run(made, ["/bin/true"])
    assert outcome.ok, outcome
    killed = caller.run(made, ["/bin/uname"])
    assert (killed.kind, killed.signal) == ("signalled", 31)


def test_a_filter_that_waits_for_answers_is_refused(caller: Caller) -> None:
    made = bundle(
        "syscalls { abi x86_64, aarch64; default allow; notify mount }; "
        f"files {{ root private; {SYSTEM}; start-in / }}"
    )
    outcome = caller.run(made, ["/bin/true"])
    assert outcome.kind == "setup-failed"
    assert outcome.failure is not None
    assert "notify" in outcome.failure.why
