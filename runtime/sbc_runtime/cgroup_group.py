"""The cgroup v2 of one run: an empty folder with limits, held by a lock (`Documentation/admin-guide/cgroup-v2.rst`)."""

import fcntl
import os
import signal
import time
from errno import EACCES

from sbc_runtime.cgroup_base import folder_of
from sbc_runtime.cgroup_files import REMEDY, STEP, keyed, put, read, refused, write
from sbc_runtime.errors import SetupFailed
from sbc_runtime.outcome import Usage

PATIENCE = 10.0
"""Seconds in which killed processes must be gone; a process in an uninterruptible sleep can take longer."""


class Group:
    """One folder, and the descriptor whose lock says that its runner lives. A `Cgroup` of `backends.interface`."""

    def __init__(self, path: str, lock: int, enforces: frozenset[str]) -> None:
        self._path = path
        self._lock = lock
        self._enforces = enforces

    @property
    def path(self) -> str:
        """Its folder."""
        return self._path

    @property
    def enforces(self) -> frozenset[str]:
        """The limits that the kernel took: `memory`, `processes`."""
        return self._enforces

    @property
    def removed(self) -> bool:
        """Whether the folder is gone."""
        return not os.path.exists(self._path)

    def make_room(self, tasks: int) -> None:
        """Raise its limit on tasks, where it has one, for so many more of ours; `SetupFailed`."""
        if "processes" in self._enforces:
            file = f"{self._path}/pids.max"
            now = read(file)
            if now is None or not now.isdecimal():
                raise SetupFailed(STEP, f"{file} cannot be read", REMEDY)
            write(file, str(int(now) + tasks))

    def add(self, pid: int) -> None:
        """Move a process into it, and see that it is there.

        `SetupFailed`: the file that may not be written is named; by delegation containment that can be the one of
        the nearest folder above both.
        """
        file = f"{self._path}/cgroup.procs"
        try:
            put(file, str(pid))
        except OSError as error:
            if error.errno == EACCES and os.access(file, os.W_OK, effective_ids=True):
                raise refused(f"{self._common(pid)}/cgroup.procs", str(pid), error) from None
            raise refused(file, str(pid), error) from None
        shown = (read(f"/proc/{pid}/cgroup") or "").splitlines()
        name = os.path.basename(self._path)
        if not any(line.startswith("0::") and line.endswith(f"/{name}") for line in shown):
            raise SetupFailed(STEP, f"process {pid} was moved, and is not in {self._path}", REMEDY)

    def _common(self, pid: int) -> str:
        now = folder_of(pid)
        return os.path.commonpath((now, self._path)) if now else self._path

    def usage(self) -> Usage:
        """Give the most that was used so far: cpu time; memory as the kernel counts it against the limit; tasks.

        Memory here includes pages of files that were only read, which the kernel drops before it kills. Where a kernel
        keeps no highest value (`memory.peak`: Linux 5.19, `pids.peak`: 6.10) it is the present one.
        """
        cpu = keyed(f"{self._path}/cpu.stat").get("usage_usec")
        return Usage(
            None if cpu is None else cpu // 1000,
            self._number("memory.peak", "memory.current"),
            self._number("pids.peak", "pids.current"),
        )

    def _number(self, *names: str) -> int | None:
        """Give the first of these files that is there."""
        for name in names:
            text = read(f"{self._path}/{name}")
            if text and text.isdecimal():
                return int(text)
        return None

    def oom_killed(self) -> bool:
        """Whether the kernel killed something of it because its own limit was reached, not the machine's."""
        events = keyed(f"{self._path}/memory.events")
        return events.get("oom", 0) > 0 and events.get("oom_kill", 0) > 0

    def processes_refused(self) -> bool:
        """Whether a fork(2) in it failed because of a limit on processes, its own or one above it."""
        return keyed(f"{self._path}/pids.events").get("max", 0) > 0

    def kill(self) -> None:
        """Kill every process in it: at once by `cgroup.kill` (Linux 5.14), else one by one, to be repeated."""
        try:
            put(f"{self._path}/cgroup.kill", "1")
        except OSError:
            for folder in _tree(self._path):
                for line in (read(f"{folder}/cgroup.procs") or "").split():
                    _kill_member(int(line), folder)

    def empty(self) -> bool:
        """Whether no process is left in it, or the folder is gone."""
        return keyed(f"{self._path}/cgroup.events").get("populated", 0) == 0

    def remove(self, patience: float = PATIENCE) -> None:
        """Kill what is in it, wait for its end, remove the folder, let go of the lock. May be called again.

        What cannot be removed in `patience` seconds stays for the next run to reclaim; `removed` tells.
        """
        end = time.monotonic() + patience
        while not self._removed_now() and time.monotonic() < end:
            time.sleep(0.002)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def _removed_now(self) -> bool:
        if not self.empty():
            self.kill()
            return False
        for folder in reversed(_tree(self._path)):
            try:
                os.rmdir(folder)
            except FileNotFoundError:
                continue
            except OSError:
                return False
        return True


def _tree(top: str) -> list[str]:
    """Give a folder and all below it, each after the one that holds it."""
    found = [top]
    for folder in found:
        try:
            with os.scandir(folder) as entries:
                found += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue
    return found


def _kill_member(pid: int, folder: str) -> None:
    """Kill one process by a descriptor of it, if it is still the one that was listed (pidfd_open(2))."""
    try:
        process = os.pidfd_open(pid)
    except OSError:
        return
    try:
        if str(pid) in (read(f"{folder}/cgroup.procs") or "").split():
            signal.pidfd_send_signal(process, signal.SIGKILL)
    except OSError:
        pass
    finally:
        os.close(process)


def lock_of(path: str) -> int | None:
    """Take the lock of a folder (flock(2)); None where another process holds it, or the folder is gone."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        held, named = os.fstat(descriptor), os.stat(path)
        if (held.st_dev, held.st_ino) == (named.st_dev, named.st_ino):
            return descriptor
    except OSError:
        pass
    os.close(descriptor)
    return None
