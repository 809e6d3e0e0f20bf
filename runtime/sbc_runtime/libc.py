"""System calls that Python has no function for, by ctypes.

Every function raises `OSError` with the call's name as `filename`'s stand-in in its message, and returns nothing that
need not be looked at. Structures are packed by hand: their layouts are the kernel's (`include/uapi/linux`). Imported
by the helper alone: the host process never loads ctypes.
"""

import ctypes
import errno
import os
from ctypes import c_char_p, c_int, c_long, c_ulong, c_void_p
from struct import Struct

from sbc_runtime.numbers import calls

_LIBC = ctypes.CDLL(None, use_errno=True)
# PyDLL keeps the interpreter's lock over the call: nothing else may run between clone3 and its two returns.
_PYLIBC = ctypes.PyDLL(None, use_errno=True)
_NR = calls(os.uname().machine)

# clone(2), unshare(2): `include/uapi/linux/sched.h`.
CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

# mount(2): `include/uapi/linux/mount.h`.
MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MS_SHARED = 1 << 20
MNT_DETACH = 2

# mount_setattr(2): the same four, with other values.
ATTR_RDONLY = 1
ATTR_NOSUID = 2
ATTR_NODEV = 4
ATTR_NOEXEC = 8

AT_EMPTY_PATH = 0x1000
AT_RECURSIVE = 0x8000
_OPEN_TREE_CLONE = 1
_MOVE_F_EMPTY = 0x04
_MOVE_T_EMPTY = 0x40

# openat2(2): `include/uapi/linux/openat2.h`.
RESOLVE_NO_MAGICLINKS = 0x02
RESOLVE_NO_SYMLINKS = 0x04
RESOLVE_BENEATH = 0x08
RESOLVE_IN_ROOT = 0x10

# prctl(2): `include/uapi/linux/prctl.h`.
PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_NAME = 15
PR_CAPBSET_DROP = 24
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4

_CLONE_ARGS = Struct("=8Q")
_OPEN_HOW = Struct("=3Q")
_MOUNT_ATTR = Struct("=4Q")
_CAP_HEADER = Struct("=Ii")
_CAP_VERSION_3 = 0x20080522
_KEYCTL_GET_KEYRING_ID = 0
_KEYCTL_JOIN_SESSION_KEYRING = 1
_SESSION_KEYRING = -3
_IOPRIO_WHO_PROCESS = 1
_GET_FILTER = 0x420C
_KCMP_VM = 1
_SECCOMP_SET_MODE_FILTER = 1
_SIGCHLD = 17 if not os.uname().machine.startswith("mips") else 18


def _raw(*types: type) -> "ctypes._NamedFuncPointer":  # pyright: ignore[reportPrivateUsage]
    found = _LIBC["syscall"]
    found.argtypes = (c_long, *types)
    found.restype = c_long
    return found


def _function(name: str, *types: type) -> "ctypes._NamedFuncPointer":  # pyright: ignore[reportPrivateUsage]
    found = _LIBC[name]
    found.argtypes = types
    found.restype = c_int
    return found


_mount = _function("mount", c_char_p, c_char_p, c_char_p, c_ulong, c_char_p)
_umount2 = _function("umount2", c_char_p, c_int)
_unshare = _function("unshare", c_int)
_setns = _function("setns", c_int, c_int)
_prctl = _function("prctl", c_int, c_ulong, c_ulong, c_ulong, c_ulong)
_personality = _function("personality", c_ulong)
_signalfd = _function("signalfd", c_int, c_void_p, c_int)
_pivot_root = _raw(c_char_p, c_char_p)
_capset = _raw(c_char_p, c_char_p)
_keyctl = _raw(c_int, c_char_p)
_keyctl_id = _raw(c_int, c_int, c_int)
_open_tree = _raw(c_int, c_char_p, c_int)
_move_mount = _raw(c_int, c_char_p, c_int, c_char_p, c_int)
_mount_setattr = _raw(c_int, c_char_p, c_int, c_char_p, c_ulong)
_openat2 = _raw(c_int, c_char_p, c_char_p, c_ulong)
_close_range = _raw(c_int, c_int, c_int)
_seccomp = _raw(c_int, c_int, c_char_p)
_io_priority = _raw(c_int, c_int, c_int)
_ptrace = _raw(c_long, c_long, c_ulong, c_ulong)
_kcmp = _raw(c_long, c_long, c_int, c_ulong, c_ulong)
_clone3 = _PYLIBC["syscall"]
_clone3.argtypes = (c_long, c_char_p, c_ulong)
_clone3.restype = c_long
_clone = ctypes.PyDLL(None, use_errno=True)["syscall"]
_clone.argtypes = (c_long, c_ulong, c_ulong, c_ulong, c_ulong, c_ulong)
_clone.restype = c_long
_STACK_FIRST = os.uname().machine.startswith("s390")


def _failed(call: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, f"{call}: {os.strerror(number)}")


def clone(flags: int) -> int:
    """Fork, into new namespaces where `flags` say so (clone3(2)): the child gets 0, the parent its pid.

    To be called by a process of one thread only: no lock of libc or of Python is held by anybody else then, and what
    fork(3) and `os.fork` do beside the system call is for threads. It takes half the time of `os.fork`.
    """
    arguments = _CLONE_ARGS.pack(flags, 0, 0, 0, _SIGCHLD, 0, 0, 0)
    pid: int = _clone3(_NR.clone3, arguments, len(arguments))
    if pid < 0 and ctypes.get_errno() in {errno.ENOSYS, errno.EPERM}:
        # A filter around us may let clone(2) alone through, whose flags it can see. All else is zero: no stack of its
        # own, and with that the order of its arguments, which ABIs differ in, matters for the flags only.
        first, second = (0, flags | _SIGCHLD) if _STACK_FIRST else (flags | _SIGCHLD, 0)
        pid = _clone(_NR.clone, first, second, 0, 0, 0)
        if pid < 0:
            raise _failed("clone")
    if pid < 0:
        raise _failed("clone3")
    return pid


def unshare(flags: int) -> None:
    """unshare(2)."""
    if _unshare(flags) < 0:
        raise _failed("unshare")


def setns(descriptor: int, kinds: int) -> None:
    """setns(2): join namespaces of these kinds of the process of a pidfd."""
    if _setns(descriptor, kinds) < 0:
        raise _failed("setns")


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    """mount(2)."""
    given = [None if text is None else os.fsencode(text) for text in (source, kind, data)]
    if _mount(given[0], os.fsencode(target), given[1], flags, given[2]) < 0:
        raise _failed("mount")


def umount(target: str) -> None:
    """umount2(2), detached at once."""
    if _umount2(os.fsencode(target), MNT_DETACH) < 0:
        raise _failed("umount2")


def pivot_root(new: str, old: str) -> None:
    """pivot_root(2)."""
    if _pivot_root(_NR.pivot_root, os.fsencode(new), os.fsencode(old)) < 0:
        raise _failed("pivot_root")


def open_tree(directory: int, path: str = "", recursive: bool = True) -> int:
    """open_tree(2) with OPEN_TREE_CLONE: a detached copy of a mount, and of all below it; gives its descriptor."""
    flags = _OPEN_TREE_CLONE | os.O_CLOEXEC | (AT_RECURSIVE if recursive else 0) | (0 if path else AT_EMPTY_PATH)
    found: int = _open_tree(_NR.open_tree, directory, os.fsencode(path), flags)
    if found < 0:
        raise _failed("open_tree")
    return found


def move_mount(tree: int, target: int) -> None:
    """move_mount(2): attach a detached tree over the object of the descriptor `target`."""
    if _move_mount(_NR.move_mount, tree, b"", target, b"", _MOVE_F_EMPTY | _MOVE_T_EMPTY) < 0:
        raise _failed("move_mount")


def mount_setattr(tree: int, attributes: int, recursive: bool = True, propagation: int = 0) -> None:
    """mount_setattr(2): set options of a mount, and of every mount below it; none is cleared. And its propagation."""
    packed = _MOUNT_ATTR.pack(attributes, 0, propagation, 0)
    flags = AT_EMPTY_PATH | (AT_RECURSIVE if recursive else 0)
    if _mount_setattr(_NR.mount_setattr, tree, b"", flags, packed, len(packed)) < 0:
        raise _failed("mount_setattr")


def openat2(directory: int, path: str, flags: int, resolve: int) -> int:
    """openat2(2) with O_CLOEXEC and rules for resolving links."""
    packed = _OPEN_HOW.pack(flags | os.O_CLOEXEC, 0, resolve)
    found: int = _openat2(_NR.openat2, directory, os.fsencode(path), packed, len(packed))
    if found < 0:
        raise _failed("openat2")
    return found


def close_all_but(kept: tuple[int, ...]) -> None:
    """Close every descriptor but these (close_range(2))."""
    first = 0
    for descriptor in (*sorted(set(kept)), None):
        last = 2**31 - 1 if descriptor is None else descriptor - 1
        if first <= last and _close_range(_NR.close_range, first, last, 0) < 0:
            raise _failed("close_range")
        if descriptor is not None:
            first = descriptor + 1


def prctl(option: int, value: int = 0, second: int = 0) -> None:
    """prctl(2)."""
    if _prctl(option, value, second, 0, 0) < 0:
        raise _failed("prctl")


def signalfd(number: int) -> int:
    """signalfd(2) for one signal, which has to be blocked: a descriptor that is readable when it has come."""
    # sigset_t of glibc and musl: 1024 bits, the first for signal 1, in words of `long`.
    wanted = ctypes.create_string_buffer(Struct("@L").pack(1 << (number - 1)) + bytes(120), 128)
    found: int = _signalfd(-1, ctypes.addressof(wanted), os.O_CLOEXEC | os.O_NONBLOCK)
    if found < 0:
        raise _failed("signalfd")
    return found


def set_name(name: bytes) -> None:
    """Name the process, for ps(1)."""
    buffer = ctypes.create_string_buffer(name)
    _prctl(PR_SET_NAME, ctypes.addressof(buffer), 0, 0, 0)


def set_command_line(text: bytes) -> None:
    """Show `text` as the command line of the process (proc_pid_cmdline(5)), instead of what it was started with.

    The kernel reads it from where it put it, which stat tells; the interpreter has long made copies.
    """
    with open("/proc/self/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    start, end = int(fields[45]), int(fields[46])
    if 0 < start < end:
        ctypes.memmove(start, text.ljust(end - start, b"\0")[: end - start - 1] + b"\0", end - start)


def drop_bounding(last: int) -> None:
    """Empty the bounding set of capabilities(7): 0..`last`."""
    for capability in range(last + 1):
        prctl(PR_CAPBSET_DROP, capability)


def drop_capabilities(last: int) -> None:
    """Empty all five sets of capabilities(7): bounding (0..`last`), ambient, permitted, effective, inheritable."""
    drop_bounding(last)
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    if _capset(_NR.capset, _CAP_HEADER.pack(_CAP_VERSION_3, 0), bytes(24)) < 0:
        raise _failed("capset")


def reset_personality() -> None:
    """Make the execution domain the default one (personality(2)): no legacy layouts, no READ_IMPLIES_EXEC."""
    if _personality(0) < 0:
        raise _failed("personality")


def new_session_keyring() -> None:
    """Leave the session keyring for a new, anonymous one (keyctl(2))."""
    if _keyctl(_NR.keyctl, _KEYCTL_JOIN_SESSION_KEYRING, None) < 0:
        raise _failed("keyctl")


def has_session_keyring() -> bool:
    """Tell whether the session keyring can be named at all (KEYCTL_GET_KEYRING_ID, which makes none)."""
    return _keyctl_id(_NR.keyctl, _KEYCTL_GET_KEYRING_ID, _SESSION_KEYRING, 0) >= 0


def ptrace(request: int, pid: int, address: int = 0, data: int = 0) -> int:
    """ptrace(2), the raw call."""
    found: int = _ptrace(_NR.ptrace, request, pid, address, data)
    if found < 0:
        raise _failed("ptrace")
    return found


def kcmp_memory(one: int, other: int) -> int:
    """kcmp(2), KCMP_VM: 0 where two processes have the same memory, else how they are ordered (1, 2, or 3: not)."""
    found: int = _kcmp(_NR.kcmp, one, other, _KCMP_VM, 0, 0)
    if found < 0:
        raise _failed("kcmp")
    return found


def loaded_filter(pid: int, index: int) -> bytes:
    """Give the bytes of a filter of a traced, stopped process (PTRACE_SECCOMP_GET_FILTER); 0 is the oldest."""
    length = ptrace(_GET_FILTER, pid, index)
    buffer = ctypes.create_string_buffer(length * 8)
    ptrace(_GET_FILTER, pid, index, ctypes.addressof(buffer))
    return buffer.raw


def io_priority(thread: int) -> int | None:
    """ioprio_get(2) of one thread, 0: the calling one; None where it is gone, or the kernel knows none."""
    found: int = _io_priority(_NR.ioprio_set + 1, _IOPRIO_WHO_PROCESS, thread, 0)
    return None if found < 0 else found


def set_io_priority(priority: int) -> None:
    """ioprio_set(2) for the calling thread."""
    if _io_priority(_NR.ioprio_set, _IOPRIO_WHO_PROCESS, 0, priority) < 0:
        raise _failed("ioprio_set")


class FilterProgram:
    """A filter that is ready to be loaded: `struct sock_fprog` and what it points to, kept alive together."""

    def __init__(self, program: bytes) -> None:
        self._program = ctypes.create_string_buffer(program, len(program))
        self._head = Struct("@HP").pack(len(program) // 8, ctypes.addressof(self._program))

    def load(self) -> None:
        """seccomp(2): the calling process, whose only thread this is, gets the filter."""
        if _seccomp(_NR.seccomp, _SECCOMP_SET_MODE_FILTER, 0, self._head) < 0:
            raise _failed("seccomp")
