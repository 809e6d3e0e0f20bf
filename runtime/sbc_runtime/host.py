"""The host process's side of the helper: starts it on first use, and again when it is gone or not like the host.

What a run inherits comes from the helper, so the helper must be as the host is now: same ids, namespaces, root and
cgroup. Where any of them has changed, or the calling thread is scheduled in a way that a child of the helper could not
take over, another helper is started.
"""

import _socket as socket
import contextlib
import errno
import os
import struct
import sys
from _thread import allocate_lock

from sbc_runtime import scheduling, spawn, wire
from sbc_runtime.arch import native_arch
from sbc_runtime.errors import SetupFailed
from sbc_runtime.scheduling import Scheduling

_NAMESPACES = ("mnt", "user", "net", "pid_for_children", "ipc", "uts", "cgroup")
_MOST_BUNDLES = 64
_REMEDY = "check that the Python interpreter can be started"


class Helper:
    """One helper and its connection.

    The host may wait for any child and close any descriptor: neither a number of a process nor one of a descriptor is
    used later without a look at whether it is still the same.
    """

    def __init__(self, like: tuple[object, ...], made: tuple[int, int] | None = None) -> None:
        """`made`: one that was started ahead, for one run.

        `SetupFailed` where it cannot be started.
        """
        refuse_width(os.uname().machine, 8 * struct.calcsize("P"))
        self.like = like
        self.scheduling = scheduling.own()
        self.owner = os.getpid()
        self.once = made is not None
        self.defined: set[bytes] = set()
        if made is None:
            self._start()
        else:
            self.end, self._pid = socket.socket(fileno=made[0]), made[1]
        self._identity = _identity(self.end.fileno())
        self._since = _start_of(self._pid)

    def _start(self) -> None:
        try:
            self.end, theirs = socket.socketpair()
        except OSError as error:
            raise SetupFailed.of("helper", error, "let this process have more open files (`ulimit -n`)") from None
        try:
            self._pid = _spawn(theirs.fileno())
        except OSError as error:
            self.end.close()
            raise SetupFailed.of("helper", error, _REMEDY) from None
        finally:
            theirs.close()

    @property
    def intact(self) -> bool:
        """Whether the connection is still this one, this process the one that it was made in, and the helper there.

        A helper that was killed while it forked has left its end to a process which reads nothing from it.
        """
        return (
            self.owner == os.getpid()
            and _identity(self.end.fileno()) == self._identity
            and (self._since is None or _start_of(self._pid, living=True) == self._since)
        )

    def define(self, bundle: bytes) -> None:
        """Send a bundle, once. `OSError`."""
        if bundle not in self.defined:
            wire.send(self.end, wire.DEFINE, bundle)
            self.defined.add(bundle)

    def close(self) -> None:
        """Let it go: it ends with its connection."""
        if _identity(self.end.fileno()) == self._identity:
            self.end.close()
        else:
            self.end.detach()  # the host closed it, and its number may be another's by now
        if self.owner == os.getpid() and self._since is not None and _start_of(self._pid) == self._since:
            with contextlib.suppress(OSError):
                os.waitpid(self._pid, 0)


def _spawn(connection: int) -> int:
    """Start a helper that serves `connection`; gives its pid. `OSError`."""
    import subprocess  # noqa: PLC0415 - not where one was started ahead

    if not sys.executable:
        raise OSError(errno.ENOENT, "this process does not know its Python interpreter (`sys.executable`)")
    # Not in this process's session: signals of a terminal are for the host, which decides what they mean.
    process = subprocess.Popen(  # noqa: S603
        spawn.command_line(connection, once=False),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={},
        cwd="/",
        pass_fds=(connection,),
        start_new_session=True,
        restore_signals=True,
    )
    process.returncode = 0  # it is waited for here, and by nobody's destructor
    return process.pid


def _identity(descriptor: int) -> tuple[int, int] | None:
    try:
        seen = os.fstat(descriptor)
    except OSError:
        return None
    return seen.st_dev, seen.st_ino


def _start_of(pid: int, *, living: bool = False) -> bytes | None:
    """Give when a child of this process was started, in clock ticks (proc_pid_stat(5)): it tells it from a later one.

    None where it has been waited for; with `living`, also where it has ended.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    if int(fields[1]) != os.getpid() or (living and fields[0] in {b"Z", b"X"}):
        return None
    return fields[19]


def refuse_width(machine: str, width: int) -> None:
    """Refuse an interpreter whose pointers have not the machine's own `width` in bits: its calls have other numbers."""
    arch = native_arch(machine)
    if arch is not None and arch.word != width:
        why = f"this Python is a program of {width} bits, and the machine's own ABI is {arch.name}"
        raise SetupFailed("helper", why, f"use a Python of {arch.word} bits")


class Host:
    """The helper of this process, behind a lock."""

    def __init__(self) -> None:
        self._lock = allocate_lock()
        self._helper: Helper | None = None

    def submit(self, bundle: bytes, text: bytes, descriptors: tuple[int, ...], now: Scheduling) -> None:
        """Have a run started; the bundle goes along once. A helper that is gone is replaced, once.

        `now`: how the calling thread is scheduled.
        """
        with self._lock:
            for last in (False, True):
                helper = self._ready(now)
                try:
                    helper.define(bundle)
                    wire.send(helper.end, wire.RUN, text, descriptors)
                except OSError as error:
                    self._drop()
                    if last:
                        raise SetupFailed.of("helper", error, _REMEDY) from None
                else:
                    if helper.once:  # it is the run's own now, and ends with it
                        helper.end.close()
                        self._helper = None
                    return

    def adopt(self) -> None:
        """Take the helper that was started ahead, if one was: for the next run, and for that alone.

        Nothing that it has in common with this process has changed since. A failure shows at the run.
        """
        with contextlib.suppress(SetupFailed, OSError), self._lock:
            made = spawn.taken()
            if made is not None and self._helper is None:
                self._helper = Helper(_like(), made)

    def announce(self, bundle: bytes) -> None:
        """Give the helper, if there is one, the bundle of the run to come, so that it reads it while this process does.

        A failure shows at the run.
        """
        with contextlib.suppress(OSError), self._lock:
            if self._helper is not None and self._helper.intact:
                self._helper.define(bundle)

    def close(self) -> None:
        """End the helper; the next run starts another."""
        with self._lock:
            self._drop()

    def after_fork(self) -> None:
        """In a forked child: the helper is the parent's."""
        self._lock = allocate_lock()
        self._drop()

    def _ready(self, now: Scheduling) -> Helper:
        like = _like()
        helper = self._helper
        if helper is not None and (
            not helper.intact
            or helper.like != like
            or len(helper.defined) > _MOST_BUNDLES
            or not scheduling.reaches(helper.scheduling, now)
        ):
            self._drop()
            helper = None
        if helper is None:
            helper = self._helper = Helper(like)
        return helper

    def _drop(self) -> None:
        if self._helper is not None:
            self._helper.close()
            self._helper = None


def _like() -> tuple[object, ...]:
    """Give what the helper must have in common with this thread now."""
    root = os.stat("/")
    namespaces: list[str] = []
    for name in _NAMESPACES:
        with contextlib.suppress(OSError):
            namespaces.append(os.readlink(f"/proc/thread-self/ns/{name}"))
    cgroup = b""
    with contextlib.suppress(OSError), open("/proc/thread-self/cgroup", "rb") as file:
        cgroup = file.read()
    return (os.getresuid(), os.getresgid(), tuple(os.getgroups()), root.st_dev, root.st_ino, *namespaces, cgroup)


HOST = Host()
if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=HOST.after_fork)
