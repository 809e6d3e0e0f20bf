"""A stand-in for kernel32: it knows what the documentation says of each call, and no more."""

# ruff: noqa: ANN401 - what ctypes passes to a function has no type that could be named

import ctypes
from typing import Any

from sbc_runtime import windows_layout as w


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
