"""The figures of the runtime: `/bin/true` in a full sandbox, beside bubblewrap with the same mounts."""

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

from tests.bench.commands import ENVIRONMENT, once
from tests.bench.row import Row
from tests.shared_data import ROOT

RUNS = 40
PAUSE = 0.02
"""Seconds between a run and its yardstick."""

BWRAP = [
    "bwrap", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup", "--unshare-net",
    "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv",
    "--ro-bind", "/usr", "/usr", "--ro-bind-try", "/etc/alternatives", "/etc/alternatives",
    "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache",
    "--symlink", "usr/bin", "/bin", "--symlink", "usr/sbin", "/sbin", "--symlink", "usr/lib", "/lib",
    "--symlink", "usr/lib64", "/lib64", "--tmpfs", "/tmp", "--proc", "/proc", "--dev", "/dev",
]  # fmt: skip


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


def peer(folder: Path) -> list[str]:
    place = tree(folder) if not (folder / "tree").exists() else folder / "tree"
    return [*BWRAP, "--bind", str(place), "/work", "--chdir", "/work", "--", "/bin/true"]


def api_rows() -> list[Row]:
    """The API after its first call, in a small process and in one of 2 GiB with 50 threads."""
    if shutil.which("bwrap") is None:
        return [Row("run of /bin/true", "bubblewrap is not installed")]
    import sbc_runtime

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        profile, work = sbc_runtime.load(bundle(folder)), tree(folder)

        def ours() -> None:
            outcome = profile.run(["/bin/true"], params={"workdir": work})
            if not outcome.ok:
                raise RuntimeError(str(outcome.failure or outcome.kind))

        def theirs() -> None:
            subprocess.run(peer(folder), check=True, stdin=subprocess.DEVNULL)

        first = milliseconds(ours)
        rows = [Row("first run by the API (starts the helper)", f"{first:.1f} ms")]
        rows.append(_compared("run by the API", ours, theirs))
        ballast = bytearray(2 << 30)
        ballast[::4096] = b"\1" * len(ballast[::4096])
        stop = threading.Event()
        threads = [threading.Thread(target=stop.wait) for _ in range(50)]
        for one in threads:
            one.start()
        rows.append(_compared("run by the API, 2 GiB and 50 threads", ours, theirs))
        stop.set()
        for one in threads:
            one.join()
        del ballast
    return rows


def _compared(what: str, ours: Callable[[], None], theirs: Callable[[], None]) -> Row:
    pairs: list[tuple[float, float]] = []
    for _ in range(RUNS):
        took = milliseconds(ours)
        # What is made ready for the next run is neither side's.
        time.sleep(PAUSE)
        pairs.append((took, milliseconds(theirs)))
    took, base = (statistics.median(column) for column in zip(*pairs, strict=True))
    return Row(what, f"{took:.1f} ms", f"<= {1.5 * base:.1f} ms", took <= 1.5 * base, f"bwrap {base:.1f} ms; bar 1.5 x")


def command_rows() -> list[Row]:
    """`sbc run BUNDLE -- /bin/true`, whole process."""
    if shutil.which("bwrap") is None:
        return []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        file, work = bundle(folder), tree(folder)
        ours = [sys.executable, "-m", "sbc.cli.main", "run", str(file), "-D", f"workdir={work}", "--", "/bin/true"]
        floor = [sys.executable, "-I", "-c", "import json, ctypes"]
        pairs = [(once(ours, folder), once(floor, folder) + once(peer(folder), folder)) for _ in range(RUNS)]
    took, base = (statistics.median(column) for column in zip(*pairs, strict=True))
    return [
        Row(
            "sbc run BUNDLE -- /bin/true, whole process",
            f"{took:.0f} ms",
            f"<= {1.5 * base:.0f} ms",
            took <= 1.5 * base,
            f"python -I -c 'import json, ctypes' and bwrap: {base:.0f} ms; bar 1.5 x",
        )
    ]
