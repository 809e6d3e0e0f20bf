"""`sbc explain` of paths and connections."""

from pathlib import Path

import pytest

from sbc.analysis.explain.access import PathVerb, explain_path
from sbc.analysis.explain.connection import NetworkVerb, explain_connection
from sbc.analysis.explain.question import QuestionError
from sbc.analysis.explain.targets import on_targets
from sbc.backends.coverage import Cell, Coverage, Row
from sbc.policy.origin import System
from tests.analysis.lowered import of_text, shipped


@pytest.mark.parametrize(
    ("profile", "verb", "path", "allowed"),
    [
        ("agent-check", "write", "/work/x", True),
        ("agent-check", "exec", "/work/x", True),
        ("agent-check", "write", "/workshop", False),
        ("agent-check", "read", "/workshop", False),
        ("agent-check", "read", "/usr/bin/env", True),
        ("agent-check", "write", "/usr/bin/env", False),
        ("agent-check", "write", "/tmp", True),
        ("agent-check", "read", "/etc/passwd", False),
        ("agent-check", "read", "${workdir}/x", False),
        ("agent-check", "write", "/dev/null", True),
        ("agent-check", "read", "/dev/tty", False),
        ("agent-check", "read", "/dev/sda", False),
        ("agent-check", "read", "/proc/self/status", True),
        ("agent-check", "read", "/proc/sys/kernel/hostname", True),
        ("agent-check", "write", "/proc/sys/kernel/hostname", False),
        ("agent-check", "read", "/proc/kcore", False),
        ("gate", "write", "${worktree}/src/a.c", True),
        ("gate", "write", "${worktree}/.git/config", False),
        ("gate", "read", "${worktree}/.git/config", True),
        ("gate", "write", "${worktree}/.gitignore", True),
        ("gate", "read", "/etc/passwd", True),
        ("gate", "write", "/etc/passwd", False),
        ("gate", "read", "~/.ssh/id_ed25519", True),
        ("gate", "write", "~/.ssh/id_ed25519", False),
        ("gate", "write", "/dev/tty", True),
        ("builder", "read", "~/.ssh/id_ed25519", False),
        ("builder", "read", "~/.sshrc", True),
        ("builder", "write", "${worktree}/x", True),
        ("builder", "read", "/run/user/1000/bus", False),
    ],
)
def test_paths(profile: str, verb: PathVerb, path: str, allowed: bool) -> None:
    assert explain_path(shipped(profile)[0], verb, path).allowed is allowed


@pytest.mark.parametrize(
    ("path", "system", "allowed"),
    [
        ("/private/tmp/x", "macos", True),
        ("/private/tmp/x", "linux", False),
        ("${tmpdir}/x", "macos", True),
        ("/proc/x", "macos", False),
    ],
)
def test_each_system_has_its_statements(path: str, system: System, allowed: bool) -> None:
    assert explain_path(shipped("gate")[0], "write", path, system).allowed is allowed


def test_the_form_of_an_answer() -> None:
    answer = explain_path(shipped("gate")[0], "write", "${worktree}/.git/config").json()
    assert answer["verdict"] == "deny"
    assert answer["rule"]["file"] == "gate.sbx"
    assert answer["rule"]["text"] == "read { ${worktree}/.git ${worktree}/node_modules } optional"
    assert answer["rule"]["reason"] == "A command that could change these could change what later commands run."


def test_a_parameter_may_cover_a_literal_path() -> None:
    answer = explain_path(shipped("gate")[0], "write", "/home/me/tree/x")
    assert not answer.allowed
    assert [origin.text for origin in answer.unless] == ["write ${worktree}"]


def test_the_deciding_statement_on_each_target() -> None:
    policy = shipped("builder")[0]
    hide = explain_path(policy, "read", "~/.ssh/id_ed25519")
    assert hide.origin is not None
    table = Coverage(
        ("bwrap", "runtime"), (Row(hide.origin, (Cell("wider", "not there yet"), Cell("not applicable"))),)
    )
    assert on_targets(hide, table).json()["targets"] == {
        "bwrap": "wider: not there yet", "runtime": "not applicable"
    }  # fmt: skip
    other = explain_path(policy, "write", "${worktree}/x")
    assert on_targets(other, table).json()["targets"] == {}


def test_noexec(tmp_path: Path) -> None:
    text = "profile case { files { root private; read /usr; read /usr/share noexec; tmp /scratch noexec } }"
    policy, _ = of_text(tmp_path, text)
    assert [explain_path(policy, "exec", path).allowed for path in ("/usr/bin/x", "/usr/share/x", "/scratch/x")] == [
        True, False, False
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("work/x", "`work/x` is not an absolute path"),
        ("", "`` is not an absolute path"),
        ("${workdri}/x", "unknown parameter `${workdri}`"),
        ("/work/../etc", "`/work/../etc` goes up: `..` means nothing before links are resolved"),
        ("${workdir}x", "`${workdir}x` is not an absolute path"),
    ],
)
def test_wrong_paths(path: str, message: str) -> None:
    with pytest.raises(QuestionError) as error:
        explain_path(shipped("agent-check")[0], "read", path)
    assert str(error.value) == message


NETWORKS = {
    "none": "network none",
    "none-listed": "network none { connect localhost:5432; bind localhost:*; unix /run/db.sock }",
    "host": "network host",
    "host-listed": "network host { connect localhost:5432 }",
}


@pytest.mark.parametrize(
    ("network", "verb", "target", "allowed"),
    [
        ("none", "connect", "localhost:80", False),
        ("none", "bind", "localhost:80", False),
        ("none", "connect", "example.org:443", False),
        ("none", "connect", "/run/db.sock", False),
        ("none-listed", "connect", "localhost:5432", True),
        ("none-listed", "connect", "127.0.0.1:5432", True),
        ("none-listed", "connect", "localhost:80", False),
        ("none-listed", "bind", "localhost:80", True),
        ("none-listed", "connect", "/run/db.sock", True),
        ("none-listed", "connect", "/run/other.sock", False),
        ("none-listed", "unix", "/run/db.sock", True),
        ("none-listed", "unix", "/run/other.sock", False),
        ("none-listed", "connect", "example.org:443", False),
        ("host", "connect", "localhost:80", True),
        ("host", "connect", "example.org:443", True),
        ("host", "connect", "/usr/db.sock", True),
        ("host", "connect", "/run/db.sock", False),
        ("host-listed", "connect", "localhost:5432", True),
        ("host-listed", "connect", "example.org:443", False),
        ("host-listed", "connect", "/usr/db.sock", False),
    ],
)
def test_connections(tmp_path: Path, network: str, verb: NetworkVerb, target: str, allowed: bool) -> None:
    policy, _ = of_text(tmp_path, f"profile case {{ files {{ root private; read /usr }}; {NETWORKS[network]} }}")
    assert explain_connection(policy, verb, target).allowed is allowed


@pytest.mark.parametrize("target", ["localhost", "localhost:", ":80", "localhost:0", "localhost:65536", "localhost:x"])
def test_wrong_targets(target: str) -> None:
    with pytest.raises(QuestionError, match="is not a place to connect to"):
        explain_connection(shipped("gate")[0], "connect", target)
