"""cgroup v2 on real kernels, as root and as a user with a delegated folder: the job's checks make the calls."""

import shutil
from pathlib import Path

import pytest

from tests.runtime.support import bundle
from tests.vm.boot import run_in_guest

pytestmark = pytest.mark.vm

ROOT = Path(__file__).parent.parent.parent
JOB = Path(__file__).parent / "jobs" / "cgroup"


GUESTS = ("amd64-bookworm", "amd64-trixie", "arm64-bookworm", "arm64-trixie", "s390x-bookworm")

PROFILE = """
param memory : size
files { root private; read { /usr /bin /sbin /lib /lib64 } optional; devices minimal; start-in /usr }
network none
environment { set PATH = "/usr/bin" }
limits { memory ${memory}; processes 20; core-size 0 }
"""


@pytest.mark.parametrize("guest", GUESTS)
def test_cgroups(guest: str, tmp_path: Path) -> None:
    job = tmp_path / "job"
    shutil.copytree(JOB, job)
    shutil.copytree(ROOT / "runtime" / "sbc_runtime", job / "sbc_runtime", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(bundle(PROFILE), job / "limits.sbb")
    result = run_in_guest(guest, job, timeout=900)
    assert result.status == 0, result.output
    assert "failed: none" in result.output
