"""The Job Object: layouts for 64 bits, and the calls in their order, with a stand-in for kernel32.

No Windows has run it. The stand-in knows what the documentation says of each call, and no more.
"""

# ruff: noqa: ANN401 - what ctypes passes to a function has no type that could be named

import ctypes
from typing import Any, cast

import pytest

from sbc_runtime import windows_layout as w
from sbc_runtime.errors import SetupFailed
from sbc_runtime.prepared import LimitValue
from sbc_runtime.windows_job import End, Start, launch

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


class Call:
    """One function of the stand-in: it notes that it was called, and answers."""

    def __init__(self, library: "Kernel", name: str) -> None:
        self._library, self._name = library, name
        self.restype: Any = None
        self.argtypes: Any = None

    def __call__(self, *arguments: Any) -> Any:
        assert self.argtypes is not None, f"{self._name} has no types: handles would be cut to 32 bits"
        assert len(arguments) == len(self.argtypes), self._name
        for given, kind in zip(arguments, self.argtypes, strict=True):
            kind.from_param(given)
        self._library.calls.append(self._name)
        if self._name == self._library.fails:
            return 0xFFFFFFFF if self._name == "ResumeThread" else 0
        act = getattr(self._library, f"on_{self._name}", None)
        return 1 if act is None else act(*arguments)


class Kernel:
    """A stand-in for kernel32. `waits`: what WaitForSingleObject answers first, before it says that it ended."""

    JOB, PROCESS, THREAD = (1 << 40) + 8, (1 << 40) + 16, (1 << 40) + 24

    def __init__(self, fails: str = "", waits: tuple[int, ...] = (), user_ms: int = 5, code: int = 3) -> None:
        self.calls: list[str] = []
        self.fails, self.waits, self.user_ms, self.code = fails, list(waits), user_ms, code
        self.closed: list[int] = []
        self.limits = w.JOBOBJECT_EXTENDED_LIMIT_INFORMATION()
        self.started: dict[str, Any] = {}
        self.active = 2
        self._functions: dict[str, Call] = {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("on_", "_")):
            raise AttributeError(name)
        return self._functions.setdefault(name, Call(self, name))

    def on_CreateJobObjectW(self, *_: Any) -> int:  # noqa: N802
        return self.JOB

    def on_SetInformationJobObject(self, job: int, kind: int, info: Any, size: int) -> int:  # noqa: N802
        assert (job, kind, size) == (self.JOB, 9, ctypes.sizeof(self.limits))
        self.limits = info._obj
        return 1

    def on_InitializeProcThreadAttributeList(self, place: int | None, *rest: Any) -> int:  # noqa: N802
        rest[-1]._obj.value = 48
        return 0 if place is None else 1

    def on_UpdateProcThreadAttribute(self, _list: int, *rest: Any) -> int:  # noqa: N802
        _, attribute, address, size, _, _ = rest
        assert attribute == w.PROC_THREAD_ATTRIBUTE_HANDLE_LIST
        self.started["inherited"] = list((ctypes.c_void_p * (size // 8)).from_address(address))
        return 1

    def on_CreateProcessW(self, program: str, line: Any, *rest: Any) -> int:  # noqa: N802
        _, _, inherits, flags, block, folder, info, made = rest
        self.started |= {"program": program, "line": line.value, "flags": flags, "inherits": inherits}
        self.started |= {"block": block.raw, "folder": folder, "size": info._obj.StartupInfo.cb}
        start = info._obj.StartupInfo
        self.started["handles"] = [start.hStdInput, start.hStdOutput, start.hStdError]
        made._obj.hProcess, made._obj.hThread = self.PROCESS, self.THREAD
        return 1

    def on_AssignProcessToJobObject(self, job: int, process: int) -> int:  # noqa: N802
        assert (job, process) == (self.JOB, self.PROCESS)
        return 1

    def on_ResumeThread(self, thread: int) -> int:  # noqa: N802
        assert thread == self.THREAD
        return 1

    def on_WaitForSingleObject(self, process: int, milliseconds: int) -> int:  # noqa: N802
        assert process == self.PROCESS
        assert 0 <= milliseconds <= 200
        return self.waits.pop(0) if self.waits else w.WAIT_OBJECT_0

    def on_GetExitCodeProcess(self, _process: int, code: Any) -> int:  # noqa: N802
        code._obj.value = self.code
        return 1

    def on_QueryInformationJobObject(self, _job: int, kind: int, info: Any, *_: Any) -> int:  # noqa: N802
        if kind == w.BASIC_ACCOUNTING_INFORMATION:
            info._obj.TotalUserTime = self.user_ms * 10_000
            info._obj.TotalKernelTime = 20_000
            info._obj.ActiveProcesses = self.active
            self.active = 0
        else:
            info._obj.PeakJobMemoryUsed = 1 << 33
        return 1

    def on_CloseHandle(self, handle: int) -> int:  # noqa: N802
        self.closed.append(handle)
        return 1


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
