"""What a run costs while it goes on: the supervisor's share of a core, and the memory that output takes."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.commands import ENVIRONMENT
from tests.bench.row import Row
from tests.shared_data import ROOT

PROFILE = """\
sbx 1
profile held {
  files {
    root private; read { /usr /bin /lib /lib64 /etc/alternatives /etc/ld.so.cache } optional
    tmp /tmp size 64MiB; devices minimal; start-in /tmp
  }
  environment { set PATH = "/usr/bin:/bin" }
  network none
  limits { memory 1GiB; wall 2min%s }
}
"""
PROCESSES = 20
SECONDS = 3.0
HOLD = "import time; held = bytearray(%d << 20); print(flush=True); time.sleep(60)"
MOST = 8 << 10
"""KiB above an idle run."""


def bundle(folder: Path, name: str, limit: str = "") -> Path:
    """Compile the profile of these figures."""
    (folder / f"{name}.sbx").write_text(PROFILE % limit)
    command = [sys.executable, "-m", "sbc.cli.main", "compile", f"{name}.sbx", "-o", name]
    subprocess.run(command, cwd=folder, env=ENVIRONMENT, check=True, capture_output=True)
    return folder / name / "held.sbb"


def supervisors() -> list[int]:
    """Processes of that name below this one's helper."""
    from sbc_runtime.host import HOST

    helper = HOST._helper  # pyright: ignore[reportPrivateUsage]
    if helper is None:
        return []
    pid = helper._pid  # pyright: ignore[reportPrivateUsage]
    found: list[int] = []
    for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        try:
            if Path(f"/proc/{one}/comm").read_text() == "sbc-supervisor\n":
                found.append(int(one))
        except OSError:
            continue
    return found


def share(profile: Path, mebibytes: int) -> float:
    """Give the share of one core that the supervisor of a run of `PROCESSES` takes, each holding so much."""
    import sbc_runtime

    script = f"for i in $(seq {PROCESSES}); do python3 -c '{HOLD % mebibytes}' & done; wait"
    read, write = os.pipe()
    run = sbc_runtime.load(profile).start(["/bin/sh", "-c", script], stdout=write)
    os.close(write)
    try:
        lines = 0
        while lines < PROCESSES:
            part = os.read(read, 100)
            if not part:
                raise RuntimeError(str(run.wait().kind))
            lines += len(part)
        (pid,) = supervisors()
        before, begun = _nanoseconds(pid), time.monotonic()
        time.sleep(SECONDS)
        return (_nanoseconds(pid) - before) / 1e9 / (time.monotonic() - begun)
    finally:
        run.cancel()
        run.wait()
        os.close(read)


def _nanoseconds(pid: int) -> int:
    """What a process has spent on a processor (`Documentation/scheduler/sched-stats.rst`)."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])


def sampling_rows() -> list[Row]:
    """Sampling of 20 processes below and above half of the memory limit."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        profile = bundle(folder, "held")
        rows: list[Row] = []
        for what, each, bar in (("below", 2, 0.01), ("above", 22, 0.05)):
            seen = share(profile, each)
            title = f"sampling {PROCESSES} processes, {what} half of the limit"
            rows.append(Row(title, f"{seen:.1%} of a core", f"<= {bar:.0%}", seen <= bar))
        return rows


OUTPUT = """
import json, sys, threading, time
sys.path[:0] = json.loads(sys.argv[1])
from pathlib import Path
import sbc_runtime
from tests.bench.held import supervisors

def most(pid):
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    except OSError:
        pass
    return 0

def measured(bundle, script, stdout):
    seen = [0]
    def watch():
        while not done.is_set():
            for pid in supervisors():
                seen[0] = max(seen[0], most(pid))
            time.sleep(0.001)
    done = threading.Event()
    watcher = threading.Thread(target=watch)
    watcher.start()
    outcome = sbc_runtime.load(bundle).run(["/bin/sh", "-c", script], stdout=stdout)
    done.set()
    watcher.join()
    return outcome.kind, outcome.stdout.total, seen[0], most("self")

plain, limited, target = sys.argv[2:]
sbc_runtime.load(plain).run(["/bin/true"])
told = [measured(plain, "sleep 0.3", "capture")]
told.append(measured(limited, "sleep 0.2; head -c 200000000 /dev/zero", "capture"))
with open(target, "wb") as file:
    told.append(measured(plain, "head -c 1000000000 /dev/zero; sleep 0.2", file))
print(json.dumps(told))
"""


def memory_rows() -> list[Row]:
    """What output takes of the supervisor's and the host's memory, at most, over an idle run."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        bundles = [str(bundle(folder, "held")), str(bundle(folder, "limited", "; output 50KiB"))]
        paths = json.dumps([str(ROOT), str(ROOT / "compiler"), str(ROOT / "runtime")])
        command = [sys.executable, "-c", OUTPUT, paths, *bundles, str(folder / "out")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    idle, *measured = json.loads(done.stdout)
    rows: list[Row] = []
    for what, seen in zip(("200 MB, output limit of 50 KiB", "1 GB to a file"), measured, strict=True):
        supervisor, host = (max(0, after - before) for after, before in zip(seen[2:], idle[2:], strict=True))
        figure = f"supervisor +{supervisor / 1024:.1f} MiB, host +{host / 1024:.1f} MiB"
        peers = f"{seen[0]}, {seen[1]} bytes"
        rows.append(Row(f"memory for {what}", figure, "< 8 MiB", max(supervisor, host) < MOST, peers))
    return rows
