"""The figures of the runtime: `/bin/true` in a full sandbox, beside bubblewrap with the same mounts and no filter."""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import sbc_runtime
from sbc_runtime.api import Profile
from tests.bench import same_mounts
from tests.bench.commands import ENVIRONMENT, once
from tests.bench.row import Row
from tests.shared_data import ROOT

RUNS = 40
PAUSE = 0.02
"""Seconds between a run and its yardstick."""


def milliseconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return (time.perf_counter() - start) * 1000


def bundle(folder: Path) -> Path:
    """Compile agent-check, and give its bundle."""
    command = [sys.executable, "-m", "sbc.cli.main", "compile", str(ROOT / "profiles" / "agent-check.sbx"), "-o", "."]
    subprocess.run(command, cwd=folder, env=ENVIRONMENT, check=True, capture_output=True)
    return folder / "agent-check.sbb"


def tree(folder: Path) -> Path:
    made = folder / "tree"
    made.mkdir()
    if os.geteuid() == 0:
        os.chown(made, 65534, 65534)
    return made


def api_rows() -> list[Row]:
    """The API after its first call, in a small process and in one of 2 GiB with 50 threads."""
    if shutil.which("bwrap") is None:
        return [Row("run of /bin/true", "bubblewrap is not installed")]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        profile, work = sbc_runtime.load(bundle(folder)), tree(folder)

        def ours() -> None:
            outcome = profile.run(["/bin/true"], params={"workdir": work})
            if not outcome.ok:
                raise RuntimeError(str(outcome.failure or outcome.kind))

        first = milliseconds(ours)
        peer = _peer(profile, work)
        rows = [Row("first run by the API (starts the helper)", f"{first:.1f} ms")]
        rows.append(_compared("run by the API", ours, peer))
        ballast = bytearray(2 << 30)
        ballast[::4096] = b"\1" * len(ballast[::4096])
        stop = threading.Event()
        threads = [threading.Thread(target=stop.wait) for _ in range(50)]
        for one in threads:
            one.start()
        rows.append(_compared("run by the API, 2 GiB and 50 threads", ours, peer))
        stop.set()
        for one in threads:
            one.join()
        del ballast
    return rows


class _Peer(NamedTuple):
    """Bubblewrap's command line, and how many mounts it makes."""

    line: list[str]
    mounts: int

    def __call__(self) -> None:
        same_mounts.run(self.line)

    def __str__(self) -> str:
        return f"bwrap with the same {self.mounts} mounts"


def _peer(profile: Profile, work: Path) -> _Peer:
    mine, others = same_mounts.both(profile, work)
    if mine != others:
        raise RuntimeError(f"bubblewrap has other mounts: {mine} and {others}")
    return _Peer(same_mounts.command_line(profile, work, ["/bin/true"]), len(others))


def _compared(what: str, ours: Callable[[], None], peer: _Peer) -> Row:
    pairs: list[tuple[float, float]] = []
    for _ in range(RUNS):
        took = milliseconds(ours)
        # What is made ready for the next run is neither side's.
        time.sleep(PAUSE)
        pairs.append((took, milliseconds(peer)))
    took, base = (statistics.median(column) for column in zip(*pairs, strict=True))
    return Row(
        what, f"{took:.1f} ms", f"<= {1.5 * base:.1f} ms", took <= 1.5 * base, f"{peer}: {base:.1f} ms; bar 1.5 x"
    )


def command_rows() -> list[Row]:
    """`sbc run BUNDLE -- /bin/true`, whole process."""
    if shutil.which("bwrap") is None:
        return []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        file, work = bundle(folder), tree(folder)
        peer = _peer(sbc_runtime.load(file), work)
        ours = [sys.executable, "-m", "sbc.cli.main", "run", str(file), "-D", f"workdir={work}", "--", "/bin/true"]
        floor = [sys.executable, "-I", "-c", "import json, ctypes"]
        pairs = [(once(ours, folder), once(floor, folder) + milliseconds(peer)) for _ in range(RUNS)]
    took, base = (statistics.median(column) for column in zip(*pairs, strict=True))
    return [
        Row(
            "sbc run BUNDLE -- /bin/true, whole process",
            f"{took:.0f} ms",
            f"<= {1.5 * base:.0f} ms",
            took <= 1.5 * base,
            f"python -I -c 'import json, ctypes' and {peer}: {base:.0f} ms; bar 1.5 x",
        )
    ]
