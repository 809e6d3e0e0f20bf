"""A ring of io_uring carries out calls that a filter never sees."""

from collections.abc import Iterator

from sbc.analysis.calls import RUNS, Calls
from sbc.analysis.subject import Subject
from sbc.diagnostics.catalogue.lints import IoUringOpen
from sbc.policy.syscalls import Rule

RING = ("io_uring_setup", "io_uring_enter", "io_uring_register")

CARRIED = (
    ("open", "openat", "openat2"),
    ("unlink", "unlinkat"),
    ("rename", "renameat", "renameat2"),
    ("mkdir", "mkdirat"),
    ("symlink", "symlinkat"),
    ("link", "linkat"),
    ("truncate", "ftruncate"),
    ("setxattr", "lsetxattr", "fsetxattr"),
    ("stat", "lstat", "newfstatat", "statx"),
    ("socket",),
    ("connect",),
    ("bind",),
    ("listen",),
    ("accept", "accept4"),
    ("send", "sendto", "sendmsg"),
    ("recv", "recvfrom", "recvmsg"),
)
"""Calls on files and sockets that a ring has an operation for (`enum io_uring_op`, `include/uapi/linux/io_uring.h`).

Those of one row do the same work: while one of them is open, the ring adds nothing.
"""


def check(subject: Subject) -> Iterator[IoUringOpen]:
    """Report a ring beside denied work on files or sockets, once for each ABI; equal reports are told once."""
    for calls in subject.calls():
        if calls.runs("io_uring_setup"):
            yield from _of_abi(calls)


def _of_abi(calls: Calls) -> Iterator[IoUringOpen]:
    opened = tuple(call for call in RING if calls.runs(call))
    opening = [rule for call in opened for rule in calls.rules(call) if rule.verdict.action in RUNS]
    for row in CARRIED:
        present = [call for call in row if calls.number(call) is not None]
        if not present or any(calls.always_runs(call) for call in present):
            continue
        denying = calls.denying_rules(present)
        deciding: list[Rule] = opening[:1] + denying[:1]
        origin = deciding[0].origin if deciding else calls.abi.default_origin
        others = tuple(rule.origin.span for rule in deciding[1:] if rule.origin.span is not None)
        yield IoUringOpen(origin.span, denying[0].call if denying else present[-1], opened, others)
        return
