"""The figures of the command: whole processes, beside what an interpreter that imports the same packages takes."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.row import Row
from tests.shared_data import ROOT

RUNS = 15
SMALL = """\
sbx 1
use <stock>
profile p{n} {{
  syscalls {{ abi x86_64; default allow; include @stock-denylist; deny EPERM ioctl when cmd == {n} }}
  files {{ root host; read / }}
}}
"""
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT / 'compiler'}{os.pathsep}{ROOT / 'runtime'}"}


def once(command: list[str], folder: Path) -> float:
    """Give the milliseconds that a process takes, from its start to its end."""
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, env=ENVIRONMENT, check=True, capture_output=True)
    return (time.perf_counter() - start) * 1000


def compile_rows() -> list[Row]:
    """`sbc compile profiles/agent-check.sbx`, warm, interleaved with its yardstick; medians."""
    profile = str(ROOT / "profiles" / "agent-check.sbx")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours = [sys.executable, "-m", "sbc.cli.main", "compile", profile]
        yardstick = [sys.executable, "-c", "import lark, jinja2"]
        once(ours, folder)
        pairs = [(once(ours, folder), once(yardstick, folder)) for _ in range(RUNS)]
    took, base = (statistics.median(column) for column in zip(*pairs, strict=True))
    bar = 1.3 * base + 60
    return [
        Row(
            "sbc compile agent-check, whole process",
            f"{took:.0f} ms",
            f"<= {bar:.0f} ms",
            took <= bar,
            f"import lark, jinja2: {base:.0f} ms; bar 1.3 x that + 60 ms",
        )
    ]


def check_rows() -> list[Row]:
    """`sbc check` on many small profiles: the time for each must not grow with their number."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(1000):
            (folder / f"p{number}.sbx").write_text(SMALL.format(n=number))
        files = sorted(path.name for path in folder.iterdir())
        command = [sys.executable, "-m", "sbc.cli.main", "check"]
        few, many = once([*command, *files[:250]], folder), once([*command, *files], folder)
    growth = many / few
    return [
        Row("sbc check, 250 profiles", f"{few:.0f} ms"),
        Row("sbc check, 1,000 profiles", f"{many:.0f} ms", "linear: <= 5 x 250", growth <= 5, f"{growth:.1f} x"),
    ]
