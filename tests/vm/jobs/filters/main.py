"""Runs in a guest: loads a filter, makes calls, and prints which of them gave another errno than was expected.

`job.json` holds the filter's bytes, in which "allow" is an errno of its own so that every call is harmless, and the
calls: number, six arguments, expected errno (null: the process is killed).
"""

import ctypes
import gc
import json
import mmap
import os
import signal
import struct
import sys

PR_SET_NO_NEW_PRIVS = 38
SECCOMP_SET_MODE_FILTER = 1
SYS_SECCOMP = {"x86_64": 317, "aarch64": 277, "riscv64": 277, "s390x": 348}[os.uname().machine]

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
job = json.load(open("/job/job.json"))
program = bytes.fromhex(job["filter"])


def load_filter():
    buffer = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(struct.pack("@HP", len(program) // 8, ctypes.addressof(buffer)))
    assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    assert libc.syscall(SYS_SECCOMP, SECCOMP_SET_MODE_FILTER, 0, ctypes.byref(header)) == 0, os.strerror(
        ctypes.get_errno()
    )
    return buffer


def made(number, arguments):
    """Prepare a call, so that the child allocates nothing: no call of its own works any more."""
    return tuple(ctypes.c_long(value - (1 << 64) if value >> 63 else value) for value in (number, *arguments))


def run(calls):
    """Give what each call gave, -1 where none came back, and the signal that ended the child."""
    seen = mmap.mmap(-1, 4 * len(calls) + 4)
    results = (ctypes.c_int * len(calls)).from_buffer(seen)
    ready = [made(number, arguments) for number, arguments, _ in calls]
    for index in range(len(calls)):
        results[index] = -1
    pid = os.fork()
    if pid == 0:
        gc.disable()
        kept = load_filter()
        for index, values in enumerate(ready):
            ctypes.set_errno(0)
            results[index] = 0 if libc.syscall(*values) != -1 else ctypes.get_errno()
        ctypes.string_at(0)
        del kept
    _, status = os.waitpid(pid, 0)
    return list(results), os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


returning = [call for call in job["calls"] if call[2] is not None]
killing = [call for call in job["calls"] if call[2] is None]
wrong = 0
got, ended = run(returning)
# The child ends by a fault, which needs no call: SIGSEGV, on some machines SIGILL.
if ended in (0, signal.SIGSYS) or -1 in got:
    print("the child ended with signal", ended, "after", sum(value >= 0 for value in got), "calls")
    wrong += 1
for (number, arguments, expected), value in zip(returning, got):
    if value != expected:
        wrong += 1
        if wrong < 20:
            print("call", number, [hex(a) for a in arguments], "gave errno", value, "instead of", expected)
for call in killing:
    got, ended = run([call])
    if ended != signal.SIGSYS:
        wrong += 1
        print("call", call[0], "was not killed: errno", got[0], "signal", ended)
print(os.uname().machine, os.uname().release, sys.byteorder, len(returning), "calls,", len(killing), "kills")
sys.exit(1 if wrong else 0)
