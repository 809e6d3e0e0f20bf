"""Landlock's three system calls and its rights (`include/uapi/linux/landlock.h`; landlock(7))."""

import ctypes
import os
from enum import IntFlag
from struct import Struct

from sbc_runtime.arch import native_arch

NEWEST = 7
"""The newest ABI whose rights are known here; a kernel with a newer one is used as this one."""


class Fs(IntFlag):
    """Rights on files, in the kernel's order; from `REFER` on each needs a newer ABI: 2, 3, 5."""

    EXECUTE = 1 << 0
    WRITE_FILE = 1 << 1
    READ_FILE = 1 << 2
    READ_DIR = 1 << 3
    REMOVE_DIR = 1 << 4
    REMOVE_FILE = 1 << 5
    MAKE_CHAR = 1 << 6
    MAKE_DIR = 1 << 7
    MAKE_REG = 1 << 8
    MAKE_SOCK = 1 << 9
    MAKE_FIFO = 1 << 10
    MAKE_BLOCK = 1 << 11
    MAKE_SYM = 1 << 12
    REFER = 1 << 13
    TRUNCATE = 1 << 14
    IOCTL_DEV = 1 << 15


class Net(IntFlag):
    """Rights on TCP ports (ABI 4)."""

    BIND = 1 << 0
    CONNECT = 1 << 1


class Scope(IntFlag):
    """What is kept inside the domain (ABI 6): connections to abstract sockets, and signals."""

    ABSTRACT_UNIX_SOCKET = 1 << 0
    SIGNAL = 1 << 1


class Log(IntFlag):
    """Which denials the kernel's audit logs (ABI 7); without any: those before the next exec alone."""

    SAME_EXEC_OFF = 1 << 0
    NEW_EXEC_ON = 1 << 1
    SUBDOMAINS_OFF = 1 << 2


FILE_RIGHTS = Fs.EXECUTE | Fs.WRITE_FILE | Fs.READ_FILE | Fs.TRUNCATE | Fs.IOCTL_DEV
"""`ACCESS_FILE` (`security/landlock/fs.c`): rights that a rule on anything but a folder may give; others: EINVAL."""

_VERSION = 1
_PATH_BENEATH, _NET_PORT = 1, 2
_RULESET = {1: Struct("=Q"), 4: Struct("=QQ"), 6: Struct("=QQQ")}
_PATH = Struct("=Qi")
_PORT = Struct("=QQ")
_ZERO = ctypes.c_long(0)

_arch = native_arch(os.uname().machine)
# The same on every ABI but mips, which counts from 5000 (`arch/mips/kernel/syscalls/syscall_n64.tbl`).
_CREATE, _ADD, _RESTRICT = (number + (5000 if _arch and _arch.kernel == "mips" else 0) for number in (444, 445, 446))

_syscall = ctypes.CDLL(None, use_errno=True)["syscall"]
_syscall.restype = ctypes.c_long


def _call(name: str, number: int, *arguments: ctypes.c_long | ctypes.c_char_p) -> int:
    result: int = _syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")
    return result


def abi() -> int:
    """Give the ABI of the running kernel's Landlock, at most `NEWEST`; 0: it has none, or it is switched off."""
    try:
        found = _call(
            "landlock_create_ruleset", _CREATE, ctypes.c_char_p(None), ctypes.c_long(0), ctypes.c_long(_VERSION)
        )
    except OSError:
        return 0
    return min(found, NEWEST)


def create(version: int, fs: Fs, net: Net, scope: Scope) -> int:
    """landlock_create_ruleset(2) with the structure of ABI `version`; gives the ruleset's descriptor."""
    size = max(known for known in _RULESET if known <= version)
    layout = _RULESET[size]
    packed = layout.pack(*(fs, net, scope)[: layout.size // 8])
    return _call("landlock_create_ruleset", _CREATE, ctypes.c_char_p(packed), ctypes.c_long(len(packed)), _ZERO)


def add_path(ruleset: int, descriptor: int, rights: Fs) -> None:
    """landlock_add_rule(2): rights on what a descriptor stands for, and on everything below it."""
    _add(ruleset, _PATH_BENEATH, _PATH.pack(rights, descriptor))


def add_port(ruleset: int, port: int, rights: Net) -> None:
    """landlock_add_rule(2): rights on a TCP port."""
    _add(ruleset, _NET_PORT, _PORT.pack(rights, port))


def _add(ruleset: int, kind: int, packed: bytes) -> None:
    _call("landlock_add_rule", _ADD, ctypes.c_long(ruleset), ctypes.c_long(kind), ctypes.c_char_p(packed), _ZERO)


def restrict(ruleset: int, log: Log) -> None:
    """landlock_restrict_self(2): for the calling thread and its children to come, for good.

    It needs no_new_privs, or CAP_SYS_ADMIN.
    """
    _call("landlock_restrict_self", _RESTRICT, ctypes.c_long(ruleset), ctypes.c_long(log))
