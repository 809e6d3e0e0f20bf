"""The committed tables are what the generator writes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shared_data import ROOT

DATA = ROOT / "compiler" / "sbc" / "kernel" / "data"
GENERATOR = ROOT / "compiler" / "kernel_tables" / "generate.py"


@pytest.mark.slow
def test_the_generator_writes_what_is_committed(tmp_path: Path) -> None:
    sources = Path(os.environ.get("SBC_KERNEL_SOURCES", "/nonexistent"))
    if not (sources / "linux-6.12").is_dir():
        pytest.skip("set SBC_KERNEL_SOURCES to the folder that compiler/kernel_tables/README.md describes")
    trees = [part for name in ("6.12", "7.2", "6.1") for part in ("--tree", str(sources / f"linux-{name}"))]
    headers = [part for name in ("6.12", "7.2") for part in ("--headers", str(sources / f"libc-dev-{name}"))]
    manual = ["--manual", str(sources / "manpages-dev/usr/share/man/man2/syscalls.2.gz")]
    command = [sys.executable, str(GENERATOR), *trees, *headers, *manual, "--output", str(tmp_path)]
    subprocess.run(command, check=True, capture_output=True)
    written = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert set(written) == {path.name for path in DATA.iterdir()}
    assert [name for name, text in written.items() if text != (DATA / name).read_text()] == []
