"""What the kernel tells of bound sockets, also while others come and go."""

import socket
import threading
from contextlib import ExitStack
from pathlib import Path

from sbc_runtime import unix_diag


def test_none_is_missed_while_others_come_and_go(tmp_path: Path) -> None:
    """The kernel gives a long list in parts and goes on by position: one dump alone misses one now and then."""
    over = threading.Event()

    def churn() -> None:
        for turn in range(10_000):
            with ExitStack() as stack:
                for number in range(50):
                    one = stack.enter_context(socket.socket(socket.AF_UNIX))
                    one.bind(str(tmp_path / f"c{turn}-{number}"))
            if over.is_set():
                return

    with ExitStack() as stack:
        for number in range(300):
            stack.enter_context(socket.socket(socket.AF_UNIX)).bind(str(tmp_path / f"s{number}"))
        other = threading.Thread(target=churn)
        other.start()
        try:
            for _ in range(40):
                told = unix_diag.bound()
                assert told is not None
                assert len([one for one in told if one.name.startswith(str(tmp_path / "s"))]) == 300
        finally:
            over.set()
            other.join()
