"""A ring of io_uring carries out calls that a filter never sees."""

from collections.abc import Iterator

from sbc.analysis.calls import RUNS, Calls
from sbc.analysis.subject import Subject
from sbc.analysis.words import is_enosys
from sbc.diagnostics.catalogue.lints import IoUringOpen
from sbc.policy.syscalls import Rule

RING = ("io_uring_setup", "io_uring_enter", "io_uring_register")

CARRIED = (
    ("open", "creat", "openat", "openat2"),
    ("unlink", "rmdir", "unlinkat"),
    ("rename", "renameat", "renameat2"),
    ("mkdir", "mkdirat"),
    ("symlink", "symlinkat"),
    ("link", "linkat"),
    ("truncate64", "ftruncate64", "truncate", "ftruncate"),
    ("fallocate",),
    ("setxattr", "lsetxattr", "fsetxattr", "setxattrat"),
    ("getxattr", "lgetxattr", "fgetxattr", "getxattrat"),
    ("stat", "lstat", "fstatat64", "newfstatat", "statx"),
    ("socket",),
    ("connect",),
    ("bind",),
    ("listen",),
    ("accept", "accept4"),
    ("shutdown",),
    ("send", "sendmmsg", "sendto", "sendmsg"),
    ("recv", "recvmmsg_time64", "recvmmsg", "recvfrom", "recvmsg"),
    ("read", "readv", "pread64", "preadv", "preadv2"),
    ("write", "writev", "pwrite64", "pwritev", "pwritev2"),
    ("splice", "tee"),
    ("fsync", "fdatasync", "sync_file_range", "sync_file_range2"),
    ("fadvise64", "fadvise64_64", "arm_fadvise64_64"),
)
"""Calls on files and sockets that a ring has an operation for (`enum io_uring_op`, `include/uapi/linux/io_uring.h`).

Those of one row do the same work; the last is one that most ABIs have.
"""


def check(subject: Subject) -> Iterator[IoUringOpen]:
    """Report a ring beside denied work on files or sockets, once for each ABI; equal reports are told once.

    A rule that denies one call of a row is enough, since the ring does what it denies. Two things are no such work
    while another call of the row is carried out whatever its arguments: a call that the default alone denies (an
    allow-list without `open` means `openat`), and a rule that answers ENOSYS, which sends a program to the other call.
    """
    for calls in subject.calls():
        if calls.runs("io_uring_setup"):
            yield from _of_abi(calls)


def _of_abi(calls: Calls) -> Iterator[IoUringOpen]:
    opened = tuple(call for call in RING if calls.runs(call))
    opening = [rule for call in opened for rule in calls.rules(call) if rule.verdict.action in RUNS]
    for row in CARRIED:
        present = [call for call in row if calls.number(call) is not None]
        denied = [call for call in present if not calls.always_runs(call)]
        denying = calls.denying_rules(denied)
        if len(denied) < len(present):
            denying = [rule for rule in denying if not is_enosys(rule.verdict, calls.abi.arch.name)]
        if not denied or (len(denied) < len(present) and not denying):
            continue
        deciding: list[Rule] = opening[:1] + denying[:1]
        origin = deciding[0].origin if deciding else calls.abi.default_origin
        others = tuple(rule.origin.span for rule in deciding[1:] if rule.origin.span is not None)
        yield IoUringOpen(origin.span, denying[0].call if denying else present[-1], opened, others)
        return
