"""The namespace backend: no helper binary, only system calls.

Init and the command's process, in namespaces of their own (`nest`), get their orders; the supervisor waits until the
command's process says that it is complete. See `init` for what happens inside.
"""

import os
import time

from sbc_runtime import libc, nest, orders
from sbc_runtime.backends.interface import ChildDescriptors, Readiness, Watch
from sbc_runtime.backends.namespace_sandbox import NamespaceSandbox
from sbc_runtime.errors import SetupFailed
from sbc_runtime.job import Job
from sbc_runtime.mount_options import settable
from sbc_runtime.mount_sources import Sources, clone_sources, closed_targets
from sbc_runtime.outcome import Level, RunLoss
from sbc_runtime.prepared import Prepared
from sbc_runtime.rlimits import lowered, rlimits
from sbc_runtime.socket_filters import narrowed

_FOR_NOTHING = nest.NAMESPACES | libc.CLONE_NEWNS | libc.CLONE_NEWCGROUP | libc.CLONE_NEWNET


class NamespaceBackend:
    """Makes sandboxes out of namespaces."""

    name = "namespace"
    level: Level = "namespaces"

    def __init__(self, caller: tuple[tuple[int, int, int], ...] = ()) -> None:
        """`caller`: the caller's rlimits (resource, soft, hard), above which none can be set."""
        self._caller = caller

    def losses(self, prepared: Prepared) -> tuple[RunLoss, ...]:
        """Give what the second filter takes away; what no namespace can enforce, `prepared.losses` says already."""
        return narrowed(prepared)

    def start(self, prepared: Prepared, child: ChildDescriptors, watch: Watch) -> NamespaceSandbox:
        """Have the sandbox made; `read_back` waits until it is."""
        limits = lowered(rlimits(prepared, os.uname().release, watch.enforced), self._caller)
        made = nest.take(prepared)
        sources = Sources({}, {})
        sandbox = NamespaceSandbox(prepared, made, limits)
        try:
            if watch.cgroup is not None:
                # Before either has unshared the cgroup namespace.
                watch.cgroup.add(made.init_pid)
                watch.cgroup.add(made.command_pid)
            if prepared.ids.mapped_by_root:
                sources, gone = _sources(prepared)
                if gone:
                    prepared = prepared._replace(mounts=tuple(m for m in prepared.mounts if m.place not in gone))
            told = orders.Orders(prepared, limits, tuple(sources.trees), tuple(sources.targets))
            content = orders.written(orders.pack(told))
            try:
                # Init has more to do.
                orders.send(made.to_init, content, [watch.lifeline, *sources.descriptors()])
                orders.send(made.to_command, content, [one for one in child if one >= 0])
            except OSError as error:
                # It has failed with what it had begun.
                made.next(time.monotonic() + nest.SETUP_SECONDS)
                raise SetupFailed.of("start", error) from None
            finally:
                os.close(content)
        except BaseException:
            sandbox.kill()
            sandbox.wait()
            raise
        finally:
            for one in sources.descriptors():
                os.close(one)
        return sandbox


def backend(job: Job) -> NamespaceBackend:
    """Give the backend for a job."""
    return NamespaceBackend(job.caller.limits)


def readiness() -> Readiness:
    """Tell whether the namespaces can be made: makes them once, for nothing."""
    try:
        pid = libc.clone(_FOR_NOTHING)
    except OSError as error:
        return Readiness(False, str(error.strerror), nest.REMEDIES.get(error.errno or 0, "see `sbc doctor`"))
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return Readiness(True, "", "")


def _sources(prepared: Prepared) -> tuple[Sources, frozenset[str]]:
    """Give what is mounted, and on what; and the places of covers that are not needed any more."""
    try:
        root = os.open("/", os.O_PATH | os.O_CLOEXEC)
        can = settable(root)
        os.close(root)
        trees = clone_sources(prepared.mounts, prepared.host_root, options=can)
        targets, gone = closed_targets(prepared, trees)
        return Sources(trees, targets), gone
    except OSError as error:
        raise SetupFailed.of("mounts", error, "run as root with CAP_SYS_ADMIN, or as an ordinary user") from None
