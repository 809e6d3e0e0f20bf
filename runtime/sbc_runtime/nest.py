"""A sandbox's init and the command's process, made before the run is known, in every namespace that does not depend on
the host's mounts or on a cgroup.

The spare supervisor makes one while nothing is asked for; where none fits, a run makes its own. Until a run is asked
for both only wait: they have no ids but the supervisor's, no descriptors but their sockets, and end with it. Then init
begins with what it is for, while the supervisor prepares the run. What they took over from the supervisor, and what
they are for, is compared with the run; where anything differs they are dropped.
"""

import contextlib
import errno
import os
import select
import signal
import time

from sbc_runtime import init, libc, messages, readback
from sbc_runtime.arch import own_arch
from sbc_runtime.errors import SetupFailed
from sbc_runtime.mounts import Frame, frame_of
from sbc_runtime.orders import Orders
from sbc_runtime.prepared import Ids, Prepared
from sbc_runtime.records import NamedTuple
from sbc_runtime.seccomp import init_filter

SETUP_SECONDS = 30.0
"""How long the set-up may take before it is given up."""

NAMESPACES = libc.CLONE_NEWUSER | libc.CLONE_NEWPID | libc.CLONE_NEWIPC | libc.CLONE_NEWUTS
"""Made here. The mount namespace is left to init, so that it shows the host's mounts as they are at the run; so is the
cgroup namespace, which it unshares once it has been put into the run's cgroup.
"""

REMEDIES = {
    errno.EPERM: "allow unprivileged user namespaces (`sbc doctor` says how), or run outside the container",
    errno.ENOSPC: "raise user.max_user_namespaces and its siblings (`sbc doctor` says which)",
    errno.EUSERS: "raise user.max_user_namespaces",
    errno.ENOSYS: "use a kernel with namespaces, or a container that lets clone3 through",
}


class Like(NamedTuple):
    """What of a run both processes are made for."""

    ids: Ids
    network: str
    frame: Frame


class Nest:
    """Both processes, and the ends that the supervisor holds."""

    def __init__(self, like: Like, sample: Orders | None = None) -> None:
        """Make them; `SetupFailed` where that is not possible: then nothing is left.

        `sample`: orders like those to come, to get ready for.
        """
        self.like = like
        self._begun = False
        self.system_v: tuple[int, ...] = ()
        self.host = readback.own()
        self.command_pid = 0
        self.to_init, init_end = messages.pair()
        self.to_command, command_end = messages.pair()
        self.status, status_end = os.pipe()
        inner = (init_end.detach(), command_end.detach(), status_end)
        start = init.Start(*inner, *like, _last_capability(), init_filter(own_arch()), sample)
        try:
            self.init_pid = libc.clone(NAMESPACES | (libc.CLONE_NEWNET if like.network == "none" else 0))
        except OSError as error:
            self.close()
            raise SetupFailed.of("namespaces", error, REMEDIES.get(error.errno or 0, "see `sbc doctor`")) from None
        else:
            if self.init_pid == 0:
                init.main(start)
        finally:
            for one in inner:
                os.close(one)
        try:
            _write_maps(self.init_pid, like.ids)
            self.to_init.send(b"m")
            while self.command_pid == 0:
                message = self.next(time.monotonic() + SETUP_SECONDS)
                if message.word == "here":
                    self.command_pid = message.pid
                elif message.word == "System V":
                    self.system_v = message.descriptors
        except BaseException:
            self.drop()
            raise

    def begin(self) -> None:
        """Have init begin, once. Where it is gone, whoever sends it orders finds that out."""
        if not self._begun:
            self._begun = True
            with contextlib.suppress(OSError):
                self.to_init.send(init.BEGIN)

    def next(self, until: float) -> messages.Message:
        """Wait for what either of them says; `SetupFailed` where one has failed, or both stay silent."""
        poll = select.poll()
        # In this order: what init says it has said before it lets the command's process go on.
        for end in (self.to_init, self.to_command):
            poll.register(end, select.POLLIN)
        ready = {one for one, _ in poll.poll(max(1, int((until - time.monotonic()) * 1000)))}
        for end in (self.to_init, self.to_command):
            message = messages.receive(end) if end.fileno() in ready else None
            if message is not None:
                if message.word == "failed":
                    raise messages.failure(message.told)
                return message
        if ready:
            raise SetupFailed("start", "the sandbox ended before it was ready", "see `sbc doctor`")
        raise SetupFailed("start", f"the set-up took longer than {SETUP_SECONDS:.0f} s")

    def drop(self) -> None:
        """End both, and close every end."""
        with contextlib.suppress(OSError):
            os.kill(self.init_pid, signal.SIGKILL)
            os.waitpid(self.init_pid, 0)
        self.close()

    def close(self) -> None:
        """Close every end."""
        self.to_init.close()
        self.to_command.close()
        for one in (self.status, *self.system_v):
            os.close(one)


class _Kept:
    """The one that waits for the next run of this process."""

    nest: Nest | None = None


def keep(like: Like, sample: Orders | None = None) -> None:
    """Make one for a run like the next one. A failure shows there. `sample`: orders like those to come."""
    forget()
    with contextlib.suppress(SetupFailed, OSError):
        _Kept.nest = Nest(like, sample)


def begin() -> None:
    """Have the one that waits begin: a run is asked for."""
    if _Kept.nest is not None:
        _Kept.nest.begin()


def take(prepared: Prepared) -> Nest:
    """Give the one that waits, if it is what a run needs, else a new one; it has begun."""
    wanted = like(prepared)
    made, _Kept.nest = _Kept.nest, None
    if made is not None and made.like != wanted:
        made.drop()
        made = None
    if made is None:
        made = Nest(wanted)
    made.begin()
    return made


def like(prepared: Prepared) -> Like:
    """Give what of a run both processes are made for."""
    return Like(prepared.ids, prepared.network, frame_of(prepared))


def forget() -> None:
    """Drop the one that waits: what it took over from this process, or is for, is not what the run needs."""
    kept, _Kept.nest = _Kept.nest, None
    if kept is not None:
        kept.drop()


def _write_maps(pid: int, ids: Ids) -> None:
    try:
        if not ids.mapped_by_root:
            # Without this an ordinary user may not map a group (user_namespaces(7)).
            _write(f"/proc/{pid}/setgroups", "deny")
        _write(f"/proc/{pid}/uid_map", f"{ids.user} {ids.host_user} 1")
        _write(f"/proc/{pid}/gid_map", f"{ids.group} {ids.host_group} 1")
    except OSError as error:
        remedy = "choose `host-user` and `host-group` that exist in the caller's own user namespace"
        raise SetupFailed.of("id maps", error, remedy) from None


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def _last_capability() -> int:
    with contextlib.suppress(OSError, ValueError), open("/proc/sys/kernel/cap_last_cap", "rb") as file:
        return int(file.read())
    return 40
