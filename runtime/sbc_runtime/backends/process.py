"""The process backend: no isolation, and every report says so.

What it does: the profile's environment, a session of its own, rlimits, no capabilities, no_new_privs, the profile's
filter, Landlock where the kernel has it, and for `network none` a filter that lets only AF_UNIX sockets be made. What
it does not, `process_losses` names: `wider`, so that a run needs `--allow-wider`. It is taken by name only, never by
`auto`.
"""

import os
import resource

from sbc_runtime import landlock, landlock_plan, libc, messages, readback
from sbc_runtime.arch import native_arch
from sbc_runtime.backends import process_init, process_tree
from sbc_runtime.backends.interface import ChildDescriptors, Readiness, Watch
from sbc_runtime.backends.process_losses import losses
from sbc_runtime.backends.process_sandbox import Held, ProcessSandbox
from sbc_runtime.backends.process_start import Start
from sbc_runtime.errors import SetupFailed
from sbc_runtime.handed import terminal
from sbc_runtime.job import Job
from sbc_runtime.outcome import Level, RunLoss
from sbc_runtime.prepared import Prepared
from sbc_runtime.rlimits import Rlimit, lowered, rlimits
from sbc_runtime.socket_filters import unix_only


class ProcessBackend:
    """Starts the command as an ordinary process."""

    name = "process"
    level: Level = "none"

    def __init__(self, caller: tuple[tuple[int, int, int], ...] = (), newest: int = landlock.NEWEST) -> None:
        """`caller`: the caller's rlimits (resource, soft, hard). `newest`: Landlock's newest ABI to use, 0: none."""
        self._caller = caller
        self._version = min(landlock.abi(), newest)

    def losses(self, prepared: Prepared) -> tuple[RunLoss, ...]:
        """Give everything that is not isolated, by its name."""
        return losses(prepared, self._version)

    def start(self, prepared: Prepared, child: ChildDescriptors, watch: Watch) -> "ProcessSandbox":
        """Start the watcher and, under everything that can be had, the process that waits to be the command.

        The calling process becomes a subreaper: what loses both parent and watcher falls to it.
        """
        machine = os.uname()
        arch = native_arch(machine.machine)
        if arch is None:
            raise SetupFailed("filter", f"machine {machine.machine} is not supported")
        spared = frozenset(process.pid for process in process_tree.descendants((os.getpid(),)))
        libc.prctl(process_tree.PR_SET_CHILD_SUBREAPER, 1)
        controlling = -1
        rules = landlock_plan.rules(prepared)
        if prepared.terminal:
            controlling, own = terminal(prepared.ids)
            child = ChildDescriptors(own, own, own)
            rules = rules._replace(grants=(*rules.grants, landlock_plan.terminal(own)))
        channel, inner = messages.pair()
        status, status_inner = os.pipe()
        start = Start(
            prepared._replace(cwd=landlock_plan.seen_as(prepared, prepared.cwd)),
            child,
            inner.fileno(),
            status_inner,
            watch.lifeline,
            lowered(_rlimits(prepared, machine.release, watch.enforced), self._caller),
            unix_only(arch) if prepared.network == "none" else None,
            rules,
            self._version,
        )
        host = readback.own()
        pid = os.fork()
        if pid == 0:
            process_init.main(start)
        inner.close()
        os.close(status_inner)
        if controlling >= 0:
            os.close(child.stdin)
        sandbox = ProcessSandbox(start, Held(pid, channel, status, controlling, watch.cgroup, spared), host.filters)
        try:
            sandbox.make_ready()
        except BaseException:
            sandbox.kill()
            sandbox.wait()
            raise
        return sandbox


def _rlimits(prepared: Prepared, release: str, cgroup: frozenset[str]) -> tuple[Rlimit, ...]:
    """Give the rlimits; that on processes counts all of the user's, so those that are there are added."""
    found = rlimits(prepared, release, cgroup)
    if any(one.resource == resource.RLIMIT_NPROC for one in found):
        there = process_tree.tasks_of(prepared.ids.host_user)
        found = tuple(
            Rlimit(one.resource, one.soft + there, one.hard + there) if one.resource == resource.RLIMIT_NPROC else one
            for one in found
        )
    return found


def backend(job: Job) -> ProcessBackend:
    """Give the backend for a job."""
    return ProcessBackend(job.caller.limits)


def readiness() -> Readiness:
    """Tell whether the backend works here, which says nothing of isolation: it has none."""
    machine = os.uname().machine
    if native_arch(machine) is None:
        return Readiness(False, f"machine {machine} is not supported", "")
    return Readiness(True, "", "")
