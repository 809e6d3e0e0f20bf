"""Structures and constants of Windows that a Job Object and a new process need, for 64 and 32 bits.

Names as in winnt.h and processthreadsapi.h. The types have fixed widths: `ctypes.wintypes` has those of the system that
it runs on. The sizes for 64 bits are tested anywhere; no Windows has run this.
"""

from ctypes import Structure, c_int64, c_size_t, c_uint16, c_uint32, c_uint64, c_void_p
from typing import ClassVar

CREATE_SUSPENDED = 0x00000004
CREATE_UNICODE_ENVIRONMENT = 0x00000400
EXTENDED_STARTUPINFO_PRESENT = 0x00080000
STARTF_USESTDHANDLES = 0x00000100
PROC_THREAD_ATTRIBUTE_HANDLE_LIST = 0x00020002
HANDLE_FLAG_INHERIT = 0x00000001

JOB_OBJECT_LIMIT_JOB_TIME = 0x00000004
JOB_OBJECT_LIMIT_ACTIVE_PROCESS = 0x00000008
JOB_OBJECT_LIMIT_JOB_MEMORY = 0x00000200
JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION = 0x00000400
JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE = 0x00002000

BASIC_ACCOUNTING_INFORMATION = 1
EXTENDED_LIMIT_INFORMATION = 9
"""Classes of JOBOBJECTINFOCLASS."""

WAIT_OBJECT_0 = 0
WAIT_TIMEOUT = 0x102

TICKS_PER_MS = 10_000
"""Times are counted in 100 ns."""


class IO_COUNTERS(Structure):  # noqa: N801 - the names of the Windows headers
    """Operations and bytes; filled by the system."""

    _fields_: ClassVar = [
        (f"{what}{kind}Count", c_uint64) for kind in ("Operation", "Transfer") for what in ("Read", "Write", "Other")
    ]


class JOBOBJECT_BASIC_LIMIT_INFORMATION(Structure):  # noqa: N801
    """Limits that every job can have; `LimitFlags` says which of them count."""

    _fields_: ClassVar = [
        ("PerProcessUserTimeLimit", c_int64),
        ("PerJobUserTimeLimit", c_int64),
        ("LimitFlags", c_uint32),
        ("MinimumWorkingSetSize", c_size_t),
        ("MaximumWorkingSetSize", c_size_t),
        ("ActiveProcessLimit", c_uint32),
        ("Affinity", c_size_t),
        ("PriorityClass", c_uint32),
        ("SchedulingClass", c_uint32),
    ]


class JOBOBJECT_EXTENDED_LIMIT_INFORMATION(Structure):  # noqa: N801
    """Those and the limits on memory, in bytes."""

    _fields_: ClassVar = [
        ("BasicLimitInformation", JOBOBJECT_BASIC_LIMIT_INFORMATION),
        ("IoInfo", IO_COUNTERS),
        ("ProcessMemoryLimit", c_size_t),
        ("JobMemoryLimit", c_size_t),
        ("PeakProcessMemoryUsed", c_size_t),
        ("PeakJobMemoryUsed", c_size_t),
    ]


class JOBOBJECT_BASIC_ACCOUNTING_INFORMATION(Structure):  # noqa: N801
    """What the processes of a job have used."""

    _fields_: ClassVar = [
        ("TotalUserTime", c_int64),
        ("TotalKernelTime", c_int64),
        ("ThisPeriodTotalUserTime", c_int64),
        ("ThisPeriodTotalKernelTime", c_int64),
        ("TotalPageFaultCount", c_uint32),
        ("TotalProcesses", c_uint32),
        ("ActiveProcesses", c_uint32),
        ("TotalTerminatedProcesses", c_uint32),
    ]


class STARTUPINFOW(Structure):
    """How a process starts; here only its three standard handles are said."""

    _fields_: ClassVar = [
        ("cb", c_uint32),
        ("lpReserved", c_void_p),
        ("lpDesktop", c_void_p),
        ("lpTitle", c_void_p),
        *((name, c_uint32) for name in ("dwX", "dwY", "dwXSize", "dwYSize", "dwXCountChars", "dwYCountChars")),
        ("dwFillAttribute", c_uint32),
        ("dwFlags", c_uint32),
        ("wShowWindow", c_uint16),
        ("cbReserved2", c_uint16),
        ("lpReserved2", c_void_p),
        ("hStdInput", c_void_p),
        ("hStdOutput", c_void_p),
        ("hStdError", c_void_p),
    ]


class STARTUPINFOEXW(Structure):
    """The same with a list of attributes: which handles are inherited."""

    _fields_: ClassVar = [("StartupInfo", STARTUPINFOW), ("lpAttributeList", c_void_p)]


class PROCESS_INFORMATION(Structure):  # noqa: N801
    """What CreateProcessW gives."""

    _fields_: ClassVar = [
        ("hProcess", c_void_p),
        ("hThread", c_void_p),
        ("dwProcessId", c_uint32),
        ("dwThreadId", c_uint32),
    ]
