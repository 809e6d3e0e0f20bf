"""The process that becomes the command, where there are no namespaces: what it is put under, in its order."""

import contextlib
import errno
import fcntl
import os
import resource
import signal
import termios

from sbc_runtime import landlock, libc, messages
from sbc_runtime.backends.process_start import Start
from sbc_runtime.classify import NOT_EXECUTABLE, NOT_FOUND
from sbc_runtime.command import SETUP_FAILED, UMASK, execute, search, step
from sbc_runtime.errors import SetupFailed
from sbc_runtime.words import NoReturn

_GATE = 3
_CHANNEL = 4
_HIGH = 16
_GO = b"g"
_SIGNALS = tuple(signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP})


def become(start: Start, gate: int, watcher: int) -> NoReturn:
    """Get under everything, say so, wait at the gate, and become the command. `watcher`: the parent's pid."""
    channel = start.channel
    try:
        prepared = start.prepared
        step("descriptors", lambda: _descriptors(start, gate))
        channel = _CHANNEL
        step("process", lambda: _process(prepared.terminal))
        # Paths are opened with the caller's rights, before the ids change.
        ruleset = landlock.prepare(start.rules, start.version) if start.version else -1
        step("identity", lambda: _identity(start, watcher))
        if start.version:
            messages.send(channel, "landlock", str(step("landlock", lambda: _restrict(ruleset, start.version))))
        step(f"start-in {prepared.cwd}", lambda: os.chdir(prepared.cwd))
        step("limits", lambda: _limits(start))
        candidates = search(prepared.argv[0], dict(prepared.environment).get("PATH"))
        arguments = [os.fsencode(one) for one in prepared.argv]
        environment = {os.fsencode(name): os.fsencode(value) for name, value in prepared.environment}
        programs = [libc.FilterProgram(one) for one in (start.sockets, prepared.program) if one is not None]
        messages.send(channel, "waits")
        # From here on only seccomp(2), read(2), execve(2), write(2) and exit_group(2) are called.
        for program in programs:
            step("filter", program.load)
        if os.read(_GATE, 1) != _GO:
            os._exit(SETUP_FAILED)
        number = execute(candidates, arguments, environment)
        messages.send(channel, "not executed", str(number))
        os._exit(NOT_FOUND if number in {errno.ENOENT, errno.ENOTDIR} else NOT_EXECUTABLE)
    except SetupFailed as failed:
        messages.send_failure(channel, failed)
    except Exception as error:
        messages.send_failure(channel, SetupFailed("command", repr(error)))
    finally:
        os._exit(SETUP_FAILED)


def _descriptors(start: Start, gate: int) -> None:
    """Close everything else at once, and put what is left in its place."""
    wanted = (*start.child, gate, start.channel)
    libc.close_all_but(wanted)
    high = [fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, _HIGH) for one in wanted]
    for place, one in enumerate(high):
        os.dup2(one, place, inheritable=place < _GATE)
    libc.close_all_but((0, 1, 2, _GATE, _CHANNEL))


def _process(terminal: bool) -> None:
    os.setsid()
    if terminal:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.umask(UMASK)
    libc.reset_personality()


def _identity(start: Start, watcher: int) -> None:
    ids = start.prepared.ids
    if ids.mapped_by_root:
        for capability in range(_last_capability() + 1):
            libc.prctl(libc.PR_CAPBSET_DROP, capability)
        os.setgroups([])
        os.setresgid(ids.host_group, ids.host_group, ids.host_group)
        os.setresuid(ids.host_user, ids.host_user, ids.host_user)
    # An ordinary user cannot empty the bounding set (capabilities(7)); without privileges to gain it gives nothing.
    libc.drop_capabilities(-1)
    libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
    # Cleared by the kernel when ids change, as is the other: who has these ids may look into the waiting process.
    libc.prctl(libc.PR_SET_DUMPABLE, 1)
    libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != watcher:
        os._exit(SETUP_FAILED)


def _last_capability() -> int:
    with contextlib.suppress(OSError, ValueError), open("/proc/sys/kernel/cap_last_cap", "rb") as file:
        return int(file.read())
    return 40


def _limits(start: Start) -> None:
    for one in start.limits:
        resource.setrlimit(one.resource, (one.soft, one.hard))


def _restrict(ruleset: int, version: int) -> bool | None:
    """Restrict this process, and see that it is: /proc has no line for Landlock.

    A process inside a domain may not look into one outside (`hook_ptrace_access_check`, `security/landlock/task.c`):
    what was open before is closed after. None: it was closed before.
    """
    here, there = os.pipe()
    other = os.fork()
    if other == 0:
        os.close(there)
        os.read(here, 1)
        os._exit(0)
    before = _can_look(other)
    landlock.apply(ruleset, version)
    after = _can_look(other)
    os.close(there)
    os.close(here)
    os.close(ruleset)
    os.waitpid(other, 0)
    return not after if before else None


def _can_look(pid: int) -> bool:
    try:
        os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return False
    return True
