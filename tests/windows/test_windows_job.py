"""The Job Object: layouts for 64 bits, and the calls in their order, with a stand-in for kernel32.

No Windows has run it.
"""

import ctypes
from typing import cast

import pytest

from sbc_runtime import windows_layout as w
from sbc_runtime.errors import SetupFailed
from sbc_runtime.prepared import LimitValue
from sbc_runtime.windows_job import End, Start, launch
from tests.windows.kernel import Kernel

BITS = 8 * ctypes.sizeof(ctypes.c_void_p)


@pytest.mark.skipif(BITS != 64, reason="the sizes are those for 64 bits")
def test_layouts_are_those_of_the_headers_for_64_bits() -> None:
    sizes = {
        w.IO_COUNTERS: 48,
        w.JOBOBJECT_BASIC_LIMIT_INFORMATION: 64,
        w.JOBOBJECT_EXTENDED_LIMIT_INFORMATION: 144,
        w.JOBOBJECT_BASIC_ACCOUNTING_INFORMATION: 48,
        w.STARTUPINFOW: 104,
        w.STARTUPINFOEXW: 112,
        w.PROCESS_INFORMATION: 24,
    }
    assert {one: ctypes.sizeof(one) for one in sizes} == sizes
    places: dict[tuple[type[ctypes.Structure], str], int] = {
        (w.JOBOBJECT_BASIC_LIMIT_INFORMATION, "LimitFlags"): 16,
        (w.JOBOBJECT_BASIC_LIMIT_INFORMATION, "MinimumWorkingSetSize"): 24,
        (w.JOBOBJECT_BASIC_LIMIT_INFORMATION, "ActiveProcessLimit"): 40,
        (w.JOBOBJECT_BASIC_LIMIT_INFORMATION, "Affinity"): 48,
        (w.JOBOBJECT_EXTENDED_LIMIT_INFORMATION, "JobMemoryLimit"): 120,
        (w.JOBOBJECT_EXTENDED_LIMIT_INFORMATION, "PeakJobMemoryUsed"): 136,
        (w.JOBOBJECT_BASIC_ACCOUNTING_INFORMATION, "ActiveProcesses"): 40,
        (w.STARTUPINFOW, "dwFlags"): 60,
        (w.STARTUPINFOW, "hStdInput"): 80,
        (w.STARTUPINFOW, "hStdError"): 96,
        (w.STARTUPINFOEXW, "lpAttributeList"): 104,
        (w.PROCESS_INFORMATION, "dwProcessId"): 16,
    }
    assert {one: getattr(one[0], one[1]).offset for one in places} == places


START = Start("C:\\t.exe", '"C:\\t.exe" "a"', b"A\0=\0001\0\0\0\0\0", "C:\\tree", (0, 1, 1), LimitValue())


def run(kernel: Kernel, limits: LimitValue = START.limits) -> End:
    library = cast("ctypes.CDLL", cast("object", kernel))
    return launch(START._replace(limits=limits), library, lambda descriptor: (1 << 33) + descriptor)


def test_it_is_in_the_job_before_it_runs() -> None:
    kernel = Kernel()
    assert run(kernel) == End("exited", 3, 7, 1 << 33, 0)
    order = [
        "CreateJobObjectW", "SetInformationJobObject", "CreateProcessW", "AssignProcessToJobObject", "ResumeThread",
        "WaitForSingleObject", "TerminateJobObject", "GetExitCodeProcess",
    ]  # fmt: skip
    places = [kernel.calls.index(one) for one in order]
    assert places == sorted(places)
    assert kernel.started["flags"] & w.CREATE_SUSPENDED
    assert kernel.started["flags"] & w.CREATE_UNICODE_ENVIRONMENT
    assert (kernel.started["program"], kernel.started["folder"]) == ("C:\\t.exe", "C:\\tree")
    assert kernel.started["line"] == '"C:\\t.exe" "a"'
    assert kernel.started["block"] == START.environment
    assert kernel.started["size"] == ctypes.sizeof(w.STARTUPINFOEXW)
    assert sorted(kernel.closed) == [Kernel.JOB, Kernel.PROCESS, Kernel.THREAD]
    assert kernel.closed[-1] == Kernel.JOB


def test_only_the_three_streams_are_inherited_and_only_by_it() -> None:
    kernel = Kernel()
    run(kernel)
    assert kernel.started["handles"] == [1 << 33, (1 << 33) + 1, (1 << 33) + 1]
    assert kernel.started["inherited"] == [1 << 33, (1 << 33) + 1], "a handle stands twice"
    assert kernel.started["inherits"] == 1
    assert kernel.calls.count("SetHandleInformation") == 4, "two are made inheritable, and two not any more"


def test_limits_of_the_job() -> None:
    kernel = Kernel()
    run(kernel)
    assert kernel.limits.BasicLimitInformation.LimitFlags == 0x2400
    kernel = Kernel()
    run(kernel, LimitValue(cpu=1500, memory=1 << 32, processes=7))
    basic = kernel.limits.BasicLimitInformation
    assert basic.LimitFlags == 0x2400 | 0x4 | 0x8 | 0x200
    assert (basic.PerJobUserTimeLimit, basic.ActiveProcessLimit) == (15_000_000, 7)
    assert kernel.limits.JobMemoryLimit == 1 << 32


@pytest.mark.parametrize(
    "call",
    [
        "CreateJobObjectW", "SetInformationJobObject", "SetHandleInformation", "UpdateProcThreadAttribute",
        "CreateProcessW", "AssignProcessToJobObject", "ResumeThread",
    ],
)  # fmt: skip
def test_where_a_call_fails_nothing_runs_and_nothing_is_left(call: str) -> None:
    kernel = Kernel(fails=call)
    with pytest.raises(SetupFailed, match=call):
        run(kernel)
    made = {"CreateProcessW"} & set(kernel.calls) and call != "CreateProcessW"
    assert ("TerminateProcess" in kernel.calls) == bool(made)
    assert call == "ResumeThread" or "ResumeThread" not in kernel.calls
    assert (Kernel.JOB in kernel.closed) == (call != "CreateJobObjectW")
    assert (Kernel.PROCESS in kernel.closed) == bool(made)


def test_the_wall_limit_ends_all() -> None:
    class Endless(Kernel):
        def on_WaitForSingleObject(self, process: int, milliseconds: int) -> int:  # noqa: N802
            return w.WAIT_OBJECT_0 if "TerminateJobObject" in self.calls else w.WAIT_TIMEOUT

    assert run(Endless(code=137), LimitValue(wall=1)).kind == "timed-out"


def test_the_limit_on_user_time() -> None:
    assert run(Kernel(user_ms=1500, code=1816), LimitValue(cpu=1500)).kind == "cpu-limit"
    assert run(Kernel(user_ms=1499), LimitValue(cpu=1500)).kind == "exited"


def test_what_is_not_known_is_not_said() -> None:
    assert run(Kernel(waits=(0xFFFFFFFF,))).kind == "sandbox-failed"
    assert run(Kernel(fails="GetExitCodeProcess")).kind == "sandbox-failed"


def test_an_interrupt_ends_all() -> None:
    class Interrupted(Kernel):
        def on_WaitForSingleObject(self, process: int, milliseconds: int) -> int:  # noqa: N802
            raise KeyboardInterrupt

    kernel = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        run(kernel)
    assert "TerminateJobObject" in kernel.calls
    assert kernel.closed[-1] == Kernel.JOB
