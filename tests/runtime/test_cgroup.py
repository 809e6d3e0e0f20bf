"""Which cgroup base is refused and why, on whatever this machine has; real limits are tested in guests (`tests/vm`)."""

import os
import signal
from pathlib import Path

import pytest

from sbc_runtime import cgroup
from sbc_runtime.cgroup_base import CONTROLLERS, find_base, folder_of, hierarchies
from sbc_runtime.cgroup_files import refused
from sbc_runtime.errors import SetupFailed
from sbc_runtime.prepared import LimitValue, Mount

BOTH = tuple(CONTROLLERS.values())


def why(named: str) -> str:
    with pytest.raises(SetupFailed) as caught:
        find_base(named, {}, BOTH)
    return caught.value.failure.why


def test_a_base_that_is_no_cgroup_is_refused(tmp_path: Path) -> None:
    assert why(str(tmp_path)) == f"{tmp_path} is no folder of cgroup v2"
    assert why(f"{tmp_path}/x") == f"{tmp_path}/x: No such file or directory"
    assert why("x") == "the base `x` is no absolute path"


def test_files_of_the_right_names_make_no_cgroup(tmp_path: Path) -> None:
    for name in ("cgroup.procs", "cgroup.controllers", "cgroup.subtree_control"):
        (tmp_path / name).write_text("memory pids\n")
    assert why(str(tmp_path)) == f"{tmp_path} is no folder of cgroup v2"


def test_the_option_goes_before_the_variable(tmp_path: Path) -> None:
    with pytest.raises(SetupFailed, match="/a: No such file"):
        find_base(f"{tmp_path}/a", {"SBC_CGROUP_BASE": f"{tmp_path}/b"}, BOTH)
    with pytest.raises(SetupFailed, match="/b: No such file"):
        find_base(None, {"SBC_CGROUP_BASE": f"{tmp_path}/b"}, BOTH)


def test_every_refusal_says_what_to_do(tmp_path: Path) -> None:
    ready = cgroup.probe(str(tmp_path))
    assert not ready.ready
    assert "--cgroup-base" in ready.remedy


@pytest.mark.parametrize("controller", BOTH)
def test_controllers_of_cgroup_v1_are_named(controller: str) -> None:
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    if not any(controller in line.split(":")[1].split(",") for line in lines):
        pytest.skip(f"{controller} is not mounted as cgroup v1 here")
    for hierarchy in hierarchies():
        found = why(hierarchy.folder)
        assert found.startswith(f"{hierarchy.folder}/cgroup.controllers does not list ")
        assert f"`{controller}`" in found.partition(": ")[2]


def test_the_callers_own_folder_is_found() -> None:
    if not hierarchies():
        pytest.skip("cgroup v2 is not mounted here")
    folder = folder_of()
    if folder is None:
        pytest.skip("the caller's cgroup lies outside of what is mounted here")
    assert str(os.getpid()) in Path(folder, "cgroup.procs").read_text().split()


def test_what_the_kernel_refuses_names_the_file() -> None:
    denied = refused("/x/cgroup.procs", "1", PermissionError(13, "denied")).failure
    assert denied.why == f"/x/cgroup.procs may not be written by uid {os.geteuid()}: Permission denied"
    busy = refused("/x/cgroup.subtree_control", "+pids", OSError(16, "busy")).failure
    assert "has processes of its own" in busy.why
    assert busy.errno == 16


def bound(source: str, device: int, *, read_only: bool = False) -> Mount:
    return Mount("bind", "/place", source, device, 1, True, read_only, False, 0, 0, "p.sbx:7")


@pytest.mark.parametrize("source", ["/", "/sys", "/sys/fs", "/sys/fs/cgroup/base", "/sys/fs/cgroup/base/"])
def test_a_base_inside_of_a_writable_path_is_refused(source: str) -> None:
    base = "/sys/fs/cgroup/base"
    with pytest.raises(SetupFailed, match="the command can write to"):
        cgroup.check_outside(base, [bound(source, 0)])
    cgroup.check_outside(base, [bound(source, 0, read_only=True)])


def test_a_writable_path_beside_the_base_is_not_refused(tmp_path: Path) -> None:
    cgroup.check_outside("/sys/fs/cgroup/base", [bound(str(tmp_path), tmp_path.stat().st_dev), bound("/sys/fs/cgr", 0)])


def test_another_mount_of_the_same_hierarchy_is_refused() -> None:
    if not hierarchies():
        pytest.skip("cgroup v2 is not mounted here")
    with pytest.raises(SetupFailed, match="the command can write to /elsewhere"):
        cgroup.check_outside("/sys/fs/cgroup/base", [bound("/elsewhere", hierarchies()[0].device)])


def test_a_run_here() -> None:
    """Where this machine has a usable base: a process goes in, is killed, and nothing is left."""
    ready = cgroup.probe(None)
    if not ready.ready:
        pytest.skip(f"no usable cgroup base here: {ready.why}")
    group = cgroup.create("test", None, LimitValue(memory=1 << 30, processes=16))
    pid = os.fork()
    if pid == 0:
        os.closerange(3, 1024)
        signal.pause()
        os._exit(0)
    group.add(pid)
    group.remove()
    assert group.removed
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
