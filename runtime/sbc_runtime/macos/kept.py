"""The host's side of a keeper: starts it, hears what it says, and tells it to kill."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping

from sbc_runtime.errors import SetupFailed
from sbc_runtime.macos import keeper
from sbc_runtime.words import Any


class Kept:
    """One command and its keeper. `socket`: readable when there is word; `pid`: the command's, and its group's."""

    def __init__(self, orders: Mapping[str, object], streams: tuple[int, int, int]) -> None:
        """Start it with its three streams; `SetupFailed` where nothing was run."""
        self.socket, theirs = socket.socketpair()
        self.pid = 0
        self._lock = threading.Lock()
        self._heard = b""
        try:
            self._process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-I", "-S", "-X", "utf8", keeper.__file__, str(theirs.fileno())],
                stdin=streams[0],
                stdout=streams[1],
                stderr=streams[2],
                env={},
                cwd="/",
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        except OSError as error:
            self.socket.close()
            raise SetupFailed.of("start", error, "check that the Python interpreter can be started") from None
        finally:
            theirs.close()
        try:
            self._begin(orders)
        except BaseException:
            self.close()
            raise

    def _begin(self, orders: Mapping[str, object]) -> None:
        with contextlib.suppress(OSError):  # what is wrong shows by its silence
            self.socket.sendall(json.dumps(orders).encode() + b"\n")
        said = self.hear()
        while said == {}:
            said = self.hear()
        if said is None:
            raise SetupFailed("start", "what keeps the command ended at once", "run it again")
        if "failed" in said:
            step, why, number = said["failed"]
            raise SetupFailed(str(step), str(why), "", int(number))
        self.pid = int(said["started"])

    @property
    def pending(self) -> bool:
        """Whether a whole line has been read that was not heard yet."""
        return b"\n" in self._heard

    def hear(self) -> dict[str, Any] | None:
        """Give what it says, waiting for it; empty where its line is not complete yet, None where it is gone."""
        if not self.pending:
            try:
                part = self.socket.recv(4096)
            except OSError:
                part = b""
            if not part:
                return None
            self._heard += part
        if not self.pending:
            return {}
        line, _, self._heard = self._heard.partition(b"\n")
        said: dict[str, Any] = json.loads(line)
        return said

    def kill(self) -> None:
        """Have the command and its group killed, from any thread; its status still comes."""
        with self._lock, contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)

    def kill_ourselves(self) -> None:
        """Kill the group where the keeper is gone, which would have done it."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """Let the keeper end, and wait for it: whatever still ran is killed."""
        with self._lock:
            self.socket.close()
        self._process.wait()
