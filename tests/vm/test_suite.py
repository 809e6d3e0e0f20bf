"""The runtime's own tests on other kernels and machines, where namespaces, cgroup v2 and the filter really run."""

import importlib.util
import json
import shutil
from pathlib import Path

import pytest

from tests.shared_data import ROOT
from tests.vm.boot import run_in_guest

pytestmark = pytest.mark.vm

JOB = Path(__file__).parent / "jobs" / "suite"
GUESTS = ("amd64-bookworm", "amd64-trixie", "arm64-bookworm", "arm64-trixie")
NEEDED = "pytest _pytest py pluggy iniconfig packaging pygments lark"
"""What the tests import beside the standard library: all of it is Python alone, so that it runs on every machine."""

SUITES = {
    "inside": "agent_check network mount_table taken_over setuid untold_sockets",
    "guard": "statements guard protected handed",
    "outcomes": "outcomes hogs",
    "paths": "paths closed_folders host_sockets",
    "bwrap": "bwrap bwrap_laws",
    "process": "process process_runs process_sockets landlock cgroup doctor",
    "cli": "run terminal cgroup_base",
}
"""Each takes QEMU ten minutes or so where it has a processor to itself."""


def files_of(suite: str) -> list[str]:
    """Give a suite's files, as the checkout has them."""
    folder = "cli" if suite == "cli" else "runtime"
    return [f"tests/{folder}/test_{name}.py" for name in SUITES[suite].split()]


def checkout(folder: Path) -> None:
    """Copy what the tests need: the sources, the profiles, and the tests themselves."""
    ignored = shutil.ignore_patterns("__pycache__", "*.so", "golden", "kernel_tables")
    for name in ("compiler", "runtime", "grammar", "profiles", "tests"):
        shutil.copytree(ROOT / name, folder / "checkout" / name, ignore=ignored)
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(ROOT / name, folder / "checkout")
    for name in NEEDED.split():
        found = importlib.util.find_spec(name)
        assert found is not None, name
        assert found.origin is not None, name
        if found.submodule_search_locations is None:
            shutil.copy(found.origin, folder / "site")
        else:
            shutil.copytree(Path(found.origin).parent, folder / "site" / name, ignore=ignored)


@pytest.mark.parametrize("guest", GUESTS)
@pytest.mark.parametrize("suite", SUITES)
def test_on_another_kernel(guest: str, suite: str, tmp_path: Path) -> None:
    job = tmp_path / "job"
    shutil.copytree(JOB, job)
    checkout(job)
    (job / "job.json").write_text(json.dumps({"arguments": files_of(suite)}))
    result = run_in_guest(guest, job, timeout=3000, memory=1536)
    assert result.status == 0, result.output
