"""What gate and builder promise, and how a child profile may widen the builder."""

from pathlib import Path
from typing import get_args

import pytest

from sbc.analysis.explain.access import PATH_VERBS, PathVerb, explain_path
from sbc.analysis.explain.connection import explain_connection
from sbc.data import profiles_folder
from sbc.diagnostics.diagnostic import Severity
from sbc.policy.origin import System
from tests.analysis.lowered import lowered, shipped

SYSTEMS: tuple[System, ...] = get_args(System)
CREDENTIALS = ("~/.docker", "~/.kube", "~/_netrc", "~/.netrc", "~/.ssh", "~/.aws")
LOGINS = (
    "~/.git-credentials", "~/.config/git/credentials", "~/.cache/git/credential", "~/.npmrc",
    "~/.cargo/credentials.toml", "~/.config/containers/auth.json", "~/.pgpass",
)  # fmt: skip


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("profile", ["gate", "builder"])
def test_writes_only_where_work_is_done(profile: str, system: System) -> None:
    policy = shipped(profile)[0]
    writable = {
        str(rule.path) for rule in policy.files.rules if rule.access == "write" and rule.origin.on in (None, system)
    }
    assert writable == {"${worktree}"} | (
        {"/tmp", "/private/tmp", "${tmpdir}", "/private/var/folders"} if system == "macos" else set()
    )
    for path in ("${worktree}/.git/hooks/x", "${worktree}/node_modules/x", "/etc/x", "~/x", "/usr/local/bin/x"):
        assert not explain_path(policy, "write", path, system).allowed


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_gate_has_no_network(system: System) -> None:
    policy = shipped("gate")[0]
    for target in ("localhost:80", "example.org:443", "/run/docker.sock"):
        assert not explain_connection(policy, "connect", target, system).allowed


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("path", [*CREDENTIALS, *LOGINS])
def test_the_builder_sees_no_credentials(path: str, system: System) -> None:
    for below in (path, f"{path}/x"):
        for verb in ("read", "write", "exec"):
            assert not explain_path(shipped("builder")[0], verb, below, system).allowed


def test_the_builder_reaches_no_service_that_starts_programs() -> None:
    policy = shipped("builder")[0]
    for socket in ("/run/user/1000/bus", "/run/dbus/system_bus_socket", "/run/docker.sock", "/run/podman/podman.sock"):
        assert not explain_connection(policy, "connect", socket).allowed


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_builder_is_contained_as_the_gate_is(system: System) -> None:
    """It may do nothing to a path that the gate may not."""
    gate, builder = shipped("gate")[0], shipped("builder")[0]
    named = {str(rule.path) for policy in (gate, builder) for rule in policy.files.rules}
    verbs: tuple[PathVerb, ...] = get_args(PathVerb)
    assert verbs == PATH_VERBS
    for path in (*named, *(f"{path.rstrip('/')}/x" for path in named), "/dev/null", "/dev/tty", "/proc/sys/x", "/"):
        for verb in verbs:
            if explain_path(builder, verb, path, system).allowed:
                assert explain_path(gate, verb, path, system).allowed, (verb, path)
    assert builder.syscalls.filters == gate.syscalls.filters
    assert builder.environment == gate.environment


def test_a_child_may_grant_one_credential_by_name(tmp_path: Path) -> None:
    child = tmp_path / "mine.sbx"
    for name in ("builder", "gate"):
        (tmp_path / f"{name}.sbx").write_bytes((profiles_folder() / f"{name}.sbx").read_bytes())
    child.write_text('sbx 1\nuse "builder.sbx"\nprofile mine extends builder { files { read ~/.netrc } }\n')
    policy, diagnostics = lowered(child)
    assert explain_path(policy, "read", "~/.netrc").allowed
    assert not explain_path(policy, "write", "~/.netrc").allowed
    for path in set(CREDENTIALS) - {"~/.netrc"}:
        assert not explain_path(policy, "read", path).allowed
    assert {d.severity for d in diagnostics} == {Severity.NOTE}
    assert any(d.title().startswith("`read ~/.netrc` replaces") for d in diagnostics)
