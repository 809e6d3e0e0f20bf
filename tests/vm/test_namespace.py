"""The namespace backend on other kernels and machines, where the filter really runs."""

import shutil
from pathlib import Path

import pytest

from tests.runtime.support import stock
from tests.vm.boot import run_in_guest

pytestmark = pytest.mark.vm

ROOT = Path(__file__).parent.parent.parent
JOB = Path(__file__).parent / "jobs" / "namespace"


@pytest.mark.parametrize("guest", ["amd64-bookworm", "amd64-trixie", "arm64-bookworm", "arm64-trixie"])
def test_the_reference_profile(guest: str, tmp_path: Path) -> None:
    job = tmp_path / "job"
    shutil.copytree(JOB, job)
    shutil.copytree(ROOT / "runtime" / "sbc_runtime", job / "sbc_runtime", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(stock("agent-check"), job / "agent.sbb")
    result = run_in_guest(guest, job)
    assert result.status == 0, result.output
    assert "failed: none" in result.output
