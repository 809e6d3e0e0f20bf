"""Makes system calls under filters, in children that do nothing else; run as a program of its own, on a file of jobs.

A child maps the file, and a few machine instructions go through the job's records: they install the filter first (and
stop where that fails), then make one call after the other and write down what each returned. Under the filter the
child needs no call of its own: it ends by an invalid instruction, or by the filter's kill.

    header   6 words: offset and number of the filter's instructions, offset and number of the records, the wait
             status (written here), one unused
    record   16 words: number, six arguments, result, how (0: `syscall`, 1: `int 0x80`, 2: `syscall` that must give 0)
"""

import ctypes
import mmap
import os
import resource
import struct
import sys
from pathlib import Path

HEADER = struct.Struct("=6Q")
RECORD = struct.Struct("=7Qq8Q")
COUNT = struct.Struct("=Q")

SYSCALL, INT80, MUST_SUCCEED = range(3)
NOT_RUN = 0x7FFFFFFFFFFFFFFF

NR_PRCTL, PR_SET_NO_NEW_PRIVS = 157, 38
NR_SECCOMP, SECCOMP_SET_MODE_FILTER = 317, 1

PREPARATION = 2
"""Records that the driver fills in itself: no_new_privs, then the filter."""

# rdi: the first record, rsi: how many. Never returns.
CODE = bytes.fromhex(
    "4989fc 4989f5"  # mov r12, rdi; mov r13, rsi
    "498b0424 498b7c2408 498b742410 498b542418"  # again: mov rax, rdi, rsi, rdx
    "49837c244001 7413"  # cmp qword [r12+64], 1; je compat
    "4d8b542420 4d8b442428 4d8b4c2430 0f05 eb1b"  # mov r10, r8, r9; syscall; jmp done
    "498b5c2408 498b4c2410 498b742420 498b7c2428 498b6c2430 cd80"  # compat: mov rbx, rcx, rsi, rdi, rbp; int 0x80
    "4989442438"  # done: mov [r12+56], rax
    "49837c244002 7505 4885c0 750c"  # cmp qword [r12+64], 2; jne next; test rax, rax; jnz out
    "4981c480000000 49ffcd 7599"  # next: add r12, 128; dec r13; jnz again
    "0f0b"  # out: ud2
)


def run_job(area: mmap.mmap, base: int, header: int, loop: int) -> int:
    """Run one job in a child and give its wait status."""
    program_at, instructions, records_at, records, _, _ = HEADER.unpack_from(area, header)
    described = ctypes.create_string_buffer(struct.pack("@HP", instructions, base + program_at))
    arguments = (SECCOMP_SET_MODE_FILTER, 0, ctypes.addressof(described), 0, 0, 0)
    RECORD.pack_into(area, records_at, NR_PRCTL, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0, NOT_RUN, MUST_SUCCEED, *(0,) * 7)
    RECORD.pack_into(area, records_at + RECORD.size, NR_SECCOMP, *arguments, NOT_RUN, MUST_SUCCEED, *(0,) * 7)
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t)(loop)(base + records_at, records)
        os.abort()
    return os.waitpid(child, 0)[1]


def main(path: str) -> None:
    """Run every job of a file and write the wait statuses into it."""
    with Path(path).open("r+b") as file:
        area = mmap.mmap(file.fileno(), 0)
    base = ctypes.addressof(ctypes.c_char.from_buffer(area))
    code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(CODE)
    loop = ctypes.addressof(ctypes.c_char.from_buffer(code))
    (jobs,) = COUNT.unpack_from(area, 0)
    for job in range(jobs):
        header = COUNT.size + job * HEADER.size
        fields = HEADER.unpack_from(area, header)
        status = run_job(area, base, header, loop)
        HEADER.pack_into(area, header, *fields[:4], status, 0)


if __name__ == "__main__":
    main(sys.argv[1])
