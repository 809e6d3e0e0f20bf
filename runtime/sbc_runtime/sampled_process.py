"""One process whose memory is sampled: statm (proc_pid_statm(5)) by a descriptor that is kept open.

A kept descriptor belongs to the process that it was opened for: once that one is gone it gives ESRCH, also where its
number has been given to another process. A process whose first thread has ended shows nothing of its memory in
/proc/PID, though the other threads hold it (`get_task_mm`, `kernel/fork.c`): then one of those is read.
"""

import os

PAGE = os.sysconf("SC_PAGE_SIZE")

TABLE = PAGE // 8
"""Pages that one page of page tables leads to: so many bytes of address space cost, touched, no more than that."""

_UNREAD = b"-"
_NOTHING = frozenset({b"", b"0"})
_TRIES = 5
"""How often another thread is looked for where each one found has ended already."""


class Process:
    """What a process held when it was read last, in pages. `path`: where more of it is to be read, below /proc.

    `current`: the descriptor that it is read by, -1 where none is kept; `last`: what that gave.
    """

    __slots__ = (
        "_ended",
        "_leader",
        "_proc",
        "anonymous",
        "current",
        "gone",
        "kept",
        "last",
        "most",
        "page_tables",
        "path",
        "pid",
        "resident",
    )

    def __init__(self, proc: int, pid: str, *, keep: bool) -> None:
        """`proc`: a descriptor of /proc; `keep`: whether descriptors may be kept open. `OSError`: there is no such."""
        self._proc = proc
        self._ended = False
        self.pid = pid
        self.path = pid
        self.kept = keep
        self.gone = False
        self.resident = self.anonymous = 0
        self.most = 0
        """The most that it can hold: what is resident, and page tables for all that is mapped."""
        self.page_tables = 0
        """In bytes, as `status` had them last."""
        self._leader = self.current = self._open(pid) if keep else -1
        self.last = _UNREAD

    def close(self) -> None:
        """Close what is kept open."""
        self.gone = True
        self._leave_thread()
        if self._leader >= 0:
            os.close(self._leader)
            self._leader = self.current = -1

    def read(self) -> bool:
        """Read what it holds; False once it is gone, though another may have its number by now."""
        try:
            text = os.pread(self.current, 128, 0) if self.kept else self._by_name()
            if text == self.last:
                return True  # most processes do nothing most of the time
            size, resident, files, _ = text.split(None, 3)
        except (OSError, ValueError):
            resident = size = files = text = b""
        if resident not in _NOTHING:
            self._set(size, resident, files)
            self.last = text
            return True
        if self.path is not self.pid:
            self._leave_thread()
            return self.read()
        return resident == b"0" and self._read_a_thread()

    def _by_name(self) -> bytes:
        descriptor = self._open(self.path)
        try:
            return os.read(descriptor, 128)
        finally:
            os.close(descriptor)

    def _open(self, path: str) -> int:
        return os.open(f"{path}/statm", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._proc)

    def _leave_thread(self) -> None:
        self.path = self.pid
        if self.current != self._leader:
            os.close(self.current)
            self.current = self._leader

    def _set(self, size: bytes, resident: bytes, files: bytes) -> None:
        self._ended = resident == b"0"
        self.last = _UNREAD
        self.resident = int(resident)
        self.anonymous = self.resident - int(files)
        self.most = self.resident + int(size) // TABLE

    def _read_a_thread(self) -> bool:
        """Read by a thread that lives. With none it has ended, and holds nothing until its parent has waited for it.

        Where each one found ends before it can be read, what was read last stands.
        """
        if self._ended and self.kept:
            return True
        for _ in range(_TRIES):
            try:
                others = [one for one in self._threads() if one != self.pid]
            except OSError:
                return False
            if not others:
                self._set(b"0", b"0", b"0")
                return True
            # The newest first: where threads follow one another, it is the one that lives.
            if any(self._take(one) for one in reversed(others)):
                return True
        return True

    def _threads(self) -> list[str]:
        folder = os.open(f"{self.pid}/task", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self._proc)
        try:
            return os.listdir(folder)
        finally:
            os.close(folder)

    def _take(self, thread: str) -> bool:
        path = f"{self.pid}/task/{thread}"
        try:
            descriptor = self._open(path)
        except OSError:
            return False
        try:
            size, resident, files, _ = os.pread(descriptor, 128, 0).split(None, 3)
            if resident == b"0":
                return False
        except (OSError, ValueError):
            return False
        else:
            self._set(size, resident, files)
            self.path = path
            if self.kept:
                self.current, descriptor = descriptor, -1
            return True
        finally:
            if descriptor >= 0:
                os.close(descriptor)
