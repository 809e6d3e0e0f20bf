"""`--cgroup-base` and `SBC_CGROUP_BASE`: what cannot be used is said, by name, and nothing is claimed of it."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from sbc_runtime import cgroup
from sbc_runtime.cgroup_base import find_base
from tests.cli.test_run import ENVIRONMENT, SBC, Run, run, sandbox, tree
from tests.runtime.support import missing

__all__ = ["run", "sandbox", "tree"]

LIMITS = "limits { memory 256MiB; processes 50 }"


@pytest.mark.parametrize("way", ["option", "variable"])
def test_a_base_that_cannot_be_used(run: Run, tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run goes on with limits that are sampled, and the report says so and why."""
    options: tuple[str, ...] = ("--report", str(tmp_path / "report.json"))
    if way == "option":
        options = (*options, "--cgroup-base", str(tmp_path))
    else:
        monkeypatch.setitem(ENVIRONMENT, "SBC_CGROUP_BASE", str(tmp_path))
    done = run("true", more=LIMITS, options=options)
    assert done.returncode == 0, done.stderr
    made = json.loads((tmp_path / "report.json").read_text())
    assert f"no cgroup: {tmp_path} is no folder of cgroup v2" in made["notes"]
    assert made["cgroup"] is None
    how = {one["key"]: one["how"] for one in made["limits"]}
    assert how["memory"] == ["sampled", "rlimit"]
    assert how["processes"] == ["rlimit"]


def test_doctor_tries_it(tmp_path: Path) -> None:
    command = [*SBC, "doctor", "--cgroup-base", str(tmp_path), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=False)
    found = {one["name"]: one for one in json.loads(done.stdout)["checks"]}
    assert found["cgroup"]["ready"] is False
    assert found["cgroup"]["why"] == f"{tmp_path} is no folder of cgroup v2"
    assert "--cgroup-base" in found["cgroup"]["remedy"]
    assert os.listdir(tmp_path) == []


def test_a_base_that_works(run: Run, tmp_path: Path) -> None:
    ready = cgroup.probe(None)
    if not ready.ready:
        missing("cgroup", f"no usable cgroup base here: {ready.why}")
    base = find_base(None, {}, ("memory", "pids"))
    command = [*SBC, "doctor", "--cgroup-base", base, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, check=False)
    found = {one["name"]: one for one in json.loads(done.stdout)["checks"]}
    assert found["cgroup"]["ready"] is True, found["cgroup"]
    options = ("--report", str(tmp_path / "report.json"), "--cgroup-base", base)
    assert run("true", more=LIMITS, options=options).returncode == 0
    made = json.loads((tmp_path / "report.json").read_text())
    assert made["cgroup"].startswith(f"{base}/sbc-run-")
    assert {one["key"]: one["how"] for one in made["limits"]} == {"memory": ["cgroup"], "processes": ["cgroup"]}
    assert not Path(made["cgroup"]).exists()
