"""A process tree bounded by a Job Object. NOT RUN: no Windows has executed this file.

What was tested, elsewhere: the layouts (`windows_layout`), the command line and the environment (`windows_words`), and
the order of the calls, with a stand-in for kernel32. A Job Object is no sandbox: it ends a tree as a whole and bounds
its number of processes, memory and user time; it hides and forbids nothing.

The process is made suspended, put into the job, and only then resumed: no instruction of it runs outside, and its
children are in the job. When the job's one handle is closed, also by the end of this program, all in it is ended.
Microsoft's reference: CreateJobObjectW, SetInformationJobObject, JOBOBJECT_EXTENDED_LIMIT_INFORMATION, CreateProcessW.
"""

import ctypes
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from ctypes import byref, c_int, c_size_t, c_uint32, c_void_p, c_wchar_p, sizeof

from sbc_runtime import windows_layout as w
from sbc_runtime.errors import SetupFailed
from sbc_runtime.prepared import LimitValue
from sbc_runtime.records import NamedTuple
from sbc_runtime.words import Any, Literal

_SLICE_MS = 200
"""How long one wait is: in between an interrupt is noticed."""

_ENDED_BY_US = 137
_GONE_MS = 10_000
_GONE_POLL = 0.02


class Start(NamedTuple):
    """What is started: the program's file, its command line and environment block, its folder, its descriptors."""

    program: str
    command_line: str
    environment: bytes
    folder: str
    streams: tuple[int, int, int]
    limits: LimitValue


class End(NamedTuple):
    """How it ended: `code` is the process's 32-bit exit code; cpu in milliseconds, memory in bytes.

    `left`: how many processes of the tree were still there some seconds after they were ended.
    """

    kind: Literal["exited", "timed-out", "cpu-limit", "sandbox-failed"]
    code: int
    cpu: int
    memory: int
    left: int


def kernel32() -> ctypes.CDLL:
    """Give the library, whose calls leave their error for `ctypes.get_last_error`."""
    loader: type[ctypes.CDLL] = ctypes.__dict__["WinDLL"]
    return loader("kernel32", use_last_error=True)


def handle_of(descriptor: int) -> int:
    """Give the system's handle of a descriptor."""
    from importlib import import_module  # noqa: PLC0415

    handle: int = import_module("msvcrt").get_osfhandle(descriptor)
    return handle


def launch(start: Start, library: ctypes.CDLL | None = None, handle: Callable[[int], int] = handle_of) -> End:
    """Run it to its end, and end what is left of its tree. `SetupFailed`: nothing was run."""
    return _Launcher(library or kernel32(), handle).run(start)


class _Launcher:
    """The calls of one run."""

    def __init__(self, library: ctypes.CDLL, handle: Callable[[int], int]) -> None:
        self._library = library
        self._handle = handle
        for name, result, *arguments in _SIGNATURES:
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments

    def run(self, start: Start) -> End:
        with ExitStack() as held:
            job = self._made("CreateJobObjectW", self._library.CreateJobObjectW(None, None))
            held.callback(self._library.CloseHandle, job)
            self._limit(job, start.limits)
            made = self._process(start)
            held.callback(self._library.CloseHandle, made.hThread)
            held.callback(self._library.CloseHandle, made.hProcess)
            try:
                self._done("AssignProcessToJobObject", self._library.AssignProcessToJobObject(job, made.hProcess))
                if self._library.ResumeThread(made.hThread) == 0xFFFFFFFF:
                    self._done("ResumeThread", 0)
            except BaseException:
                self._library.TerminateProcess(made.hProcess, _ENDED_BY_US)
                raise
            try:
                waited = self._wait(made.hProcess, start.limits.wall)
            finally:
                self._library.TerminateJobObject(job, _ENDED_BY_US)
            self._wait(made.hProcess, _GONE_MS)
            return self._end(job, made.hProcess, start.limits, waited)

    def _limit(self, job: int, limits: LimitValue) -> None:
        info = w.JOBOBJECT_EXTENDED_LIMIT_INFORMATION()
        basic = info.BasicLimitInformation
        basic.LimitFlags = w.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | w.JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION
        if limits.processes is not None:
            basic.LimitFlags |= w.JOB_OBJECT_LIMIT_ACTIVE_PROCESS
            basic.ActiveProcessLimit = min(limits.processes, 0xFFFFFFFF)
        if limits.cpu is not None:
            basic.LimitFlags |= w.JOB_OBJECT_LIMIT_JOB_TIME
            basic.PerJobUserTimeLimit = min(limits.cpu * w.TICKS_PER_MS, 2**63 - 1)
        if limits.memory is not None:
            basic.LimitFlags |= w.JOB_OBJECT_LIMIT_JOB_MEMORY
            info.JobMemoryLimit = min(limits.memory, 2 ** (8 * sizeof(c_size_t)) - 1)
        given = self._library.SetInformationJobObject(job, w.EXTENDED_LIMIT_INFORMATION, byref(info), sizeof(info))
        self._done("SetInformationJobObject", given)

    def _process(self, start: Start) -> w.PROCESS_INFORMATION:
        with ExitStack() as held:
            handles = [self._handle(one) for one in start.streams]
            for one in dict.fromkeys(handles):
                held.enter_context(self._inheritable(one))
            info = w.STARTUPINFOEXW()
            info.StartupInfo.cb = sizeof(info)
            info.StartupInfo.dwFlags = w.STARTF_USESTDHANDLES
            info.StartupInfo.hStdInput, info.StartupInfo.hStdOutput, info.StartupInfo.hStdError = handles
            listed = (c_void_p * len(set(handles)))(*dict.fromkeys(handles))
            info.lpAttributeList = held.enter_context(self._attributes(listed))
            made = w.PROCESS_INFORMATION()
            line = ctypes.create_unicode_buffer(start.command_line)
            block = ctypes.create_string_buffer(start.environment, len(start.environment))
            flags = w.CREATE_SUSPENDED | w.CREATE_UNICODE_ENVIRONMENT | w.EXTENDED_STARTUPINFO_PRESENT
            given = self._library.CreateProcessW(
                start.program, line, None, None, 1, flags, block, start.folder, byref(info), byref(made)
            )
            self._done("CreateProcessW", given)
            return made

    @contextmanager
    def _inheritable(self, handle: int) -> Generator[None]:
        """Let the one new process have a handle."""
        flag = w.HANDLE_FLAG_INHERIT
        self._done("SetHandleInformation", self._library.SetHandleInformation(handle, flag, flag))
        try:
            yield
        finally:
            self._library.SetHandleInformation(handle, flag, 0)

    @contextmanager
    def _attributes(self, handles: ctypes.Array[c_void_p]) -> Generator[int]:
        """Give a list of attributes that says which handles are inherited: these, and no others."""
        size = c_size_t(0)
        self._library.InitializeProcThreadAttributeList(None, 1, 0, byref(size))  # it fails, and says the size
        room = ctypes.create_string_buffer(max(1, size.value))
        place = ctypes.addressof(room)
        given = self._library.InitializeProcThreadAttributeList(place, 1, 0, byref(size))
        self._done("InitializeProcThreadAttributeList", given)
        try:
            given = self._library.UpdateProcThreadAttribute(
                place, 0, w.PROC_THREAD_ATTRIBUTE_HANDLE_LIST, ctypes.addressof(handles), sizeof(handles), None, None
            )
            self._done("UpdateProcThreadAttribute", given)
            yield place
        finally:
            self._library.DeleteProcThreadAttributeList(place)

    def _wait(self, process: int, milliseconds: int | None) -> Literal["exited", "timed-out", "sandbox-failed"]:
        """Wait for the end of a process, at most so long."""
        until = None if milliseconds is None else time.monotonic() + milliseconds / 1000
        while True:
            left = _SLICE_MS if until is None else min(_SLICE_MS, max(0, int(1000 * (until - time.monotonic()))))
            told = self._library.WaitForSingleObject(process, left)
            if told == w.WAIT_OBJECT_0:
                return "exited"
            if told != w.WAIT_TIMEOUT:
                return "sandbox-failed"
            if until is not None and time.monotonic() >= until:
                return "timed-out"

    def _end(
        self, job: int, process: int, limits: LimitValue, waited: Literal["exited", "timed-out", "sandbox-failed"]
    ) -> End:
        code, most = c_uint32(_ENDED_BY_US), w.JOBOBJECT_EXTENDED_LIMIT_INFORMATION()
        known = self._library.GetExitCodeProcess(process, byref(code))
        used = self._gone(job)
        self._library.QueryInformationJobObject(job, w.EXTENDED_LIMIT_INFORMATION, byref(most), sizeof(most), None)
        user = used.TotalUserTime // w.TICKS_PER_MS
        over = waited == "exited" and limits.cpu is not None and user >= limits.cpu
        cpu = user + used.TotalKernelTime // w.TICKS_PER_MS
        kind = "cpu-limit" if over else waited if known else "sandbox-failed"
        return End(kind, code.value, cpu, most.PeakJobMemoryUsed, used.ActiveProcesses)

    def _gone(self, job: int) -> w.JOBOBJECT_BASIC_ACCOUNTING_INFORMATION:
        """Wait, not for ever, until no process of the job is left, and give what all have used."""
        used, until = w.JOBOBJECT_BASIC_ACCOUNTING_INFORMATION(), time.monotonic() + _GONE_MS / 1000
        while True:
            kind = w.BASIC_ACCOUNTING_INFORMATION
            known = self._library.QueryInformationJobObject(job, kind, byref(used), sizeof(used), None)
            if not known or not used.ActiveProcesses or time.monotonic() >= until:
                return used
            time.sleep(_GONE_POLL)

    def _made(self, call: str, handle: int | None) -> int:
        self._done(call, 1 if handle else 0)
        return handle or 0

    def _done(self, call: str, given: int) -> None:
        if not given:
            last: Callable[[], int] = ctypes.__dict__.get("get_last_error", int)
            raise SetupFailed("windows", f"{call} fails with the system's error {last()}")


_SIGNATURES: tuple[tuple[Any, ...], ...] = (
    ("CreateJobObjectW", c_void_p, c_void_p, c_wchar_p),
    ("SetInformationJobObject", c_int, c_void_p, c_int, c_void_p, c_uint32),
    ("QueryInformationJobObject", c_int, c_void_p, c_int, c_void_p, c_uint32, c_void_p),
    ("AssignProcessToJobObject", c_int, c_void_p, c_void_p),
    ("TerminateJobObject", c_int, c_void_p, c_uint32),
    ("TerminateProcess", c_int, c_void_p, c_uint32),
    ("ResumeThread", c_uint32, c_void_p),
    ("WaitForSingleObject", c_uint32, c_void_p, c_uint32),
    ("GetExitCodeProcess", c_int, c_void_p, c_void_p),
    ("CloseHandle", c_int, c_void_p),
    ("SetHandleInformation", c_int, c_void_p, c_uint32, c_uint32),
    ("InitializeProcThreadAttributeList", c_int, c_void_p, c_uint32, c_uint32, c_void_p),
    ("UpdateProcThreadAttribute", c_int, c_void_p, c_uint32, c_size_t, c_void_p, c_size_t, c_void_p, c_void_p),
    ("DeleteProcThreadAttributeList", None, c_void_p),
    (
        "CreateProcessW", c_int, c_wchar_p, c_void_p, c_void_p, c_void_p, c_int, c_uint32, c_void_p, c_wchar_p,
        c_void_p, c_void_p,
    ),
)  # fmt: skip
"""Name, result and arguments of each call: without them ctypes would cut 64-bit handles to 32."""
