"""The host process's side of the helper: starts it on first use, and again when it is gone or not like the host.

What a run inherits comes from the helper, so the helper must be as the host is now: same ids, namespaces, root and
cgroup. Where any of them has changed, or the calling thread is scheduled in a way that a child of the helper could not
take over, another helper is started.
"""

import contextlib
import os
import socket
import struct
import subprocess
import sys
import threading

from sbc_runtime import scheduling, wire
from sbc_runtime.arch import native_arch
from sbc_runtime.errors import SetupFailed

_PROGRAM = """import sys
sys.path.insert(0, sys.argv[1])
from sbc_runtime.helper import main
main(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "spare")
"""
_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_NAMESPACES = ("mnt", "user", "net", "pid_for_children", "ipc", "uts", "cgroup")
_MOST_BUNDLES = 64


class Helper:
    """One helper and its connection."""

    def __init__(self, like: tuple[object, ...], spare: bool) -> None:
        """`spare`: whether it keeps a spare supervisor for the next run."""
        refuse_width(os.uname().machine, 8 * struct.calcsize("P"))
        self.like = like
        self.scheduling = scheduling.own()
        self.owner = os.getpid()
        self.defined: set[str] = set()
        ours, theirs = socket.socketpair()
        try:
            # Not in this process's group: signals of a terminal are for the host, which decides what they mean.
            self._process = subprocess.Popen(  # noqa: S603
                [
                    sys.executable,
                    "-I",
                    "-S",
                    "-X",
                    "utf8",
                    "-c",
                    _PROGRAM,
                    _FOLDER,
                    str(theirs.fileno()),
                    str(self.owner),
                    "spare" if spare else "",
                ],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={},
                cwd="/",
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
                restore_signals=True,
            )
        except OSError as error:
            ours.close()
            raise SetupFailed.of("helper", error, "check that the Python interpreter can be started") from None
        finally:
            theirs.close()
        self.end = ours

    def close(self) -> None:
        """Let it go: it ends with its connection."""
        self.end.close()
        if self.owner == os.getpid():
            with contextlib.suppress(OSError):
                os.waitpid(self._process.pid, 0)
        self._process.returncode = 0


def refuse_width(machine: str, width: int) -> None:
    """Refuse an interpreter whose pointers have not the machine's own `width` in bits: its calls have other numbers."""
    arch = native_arch(machine)
    if arch is not None and arch.word != width:
        why = f"this Python is a program of {width} bits, and the machine's own ABI is {arch.name}"
        raise SetupFailed("helper", why, f"use a Python of {arch.word} bits")


class Host:
    """The helper of this process, behind a lock."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._helper: Helper | None = None
        self._spare = True

    def submit(self, address: str, bundle: bytes, text: bytes, descriptors: tuple[int, ...]) -> None:
        """Have a run started; the bundle goes along once. A helper that is gone is replaced, once."""
        with self._lock:
            for last in (False, True):
                helper = self._ready()
                try:
                    if address not in helper.defined:
                        wire.send(helper.end, wire.DEFINE, bundle)
                        helper.defined.add(address)
                    wire.send(helper.end, wire.RUN, text, descriptors)
                except OSError as error:
                    self._drop()
                    if last:
                        raise SetupFailed.of(
                            "helper", error, "check that the Python interpreter can be started"
                        ) from None
                else:
                    return

    def warm(self) -> None:
        """Start the helper now, so that it is ready by the time of the one run to come. A failure shows there."""
        self._spare = False
        with contextlib.suppress(SetupFailed), self._lock:
            self._ready()

    def close(self) -> None:
        """End the helper; the next run starts another."""
        with self._lock:
            self._drop()

    def after_fork(self) -> None:
        """In a forked child: the helper is the parent's."""
        self._lock = threading.Lock()
        self._drop()

    def _ready(self) -> Helper:
        like = _like()
        helper = self._helper
        if helper is not None and (
            helper.owner != os.getpid()
            or helper.like != like
            or len(helper.defined) > _MOST_BUNDLES
            or not scheduling.reaches(helper.scheduling, scheduling.own())
        ):
            self._drop()
            helper = None
        if helper is None:
            helper = self._helper = Helper(like, self._spare)
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
