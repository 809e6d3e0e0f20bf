"""Runs on Windows, with the platform and the clock given, and a launcher that starts the program here."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import sbc_runtime
from sbc_runtime import bypass
from sbc_runtime.environment import build
from sbc_runtime.installation import nonce_hash
from sbc_runtime.loaded import Loaded
from sbc_runtime.loader import for_machine, read
from sbc_runtime.outcome import Outcome
from sbc_runtime.report import report, to_json
from sbc_runtime.report_text import to_text
from sbc_runtime.request import Request
from sbc_runtime.windows_job import End, Start
from sbc_runtime.windows_run import run
from tests.runtime.support import bundle, stock
from tests.windows.readers import arguments_of, variables_of
from tests.windows.support import KEY_TEXT, NONCE, NOW, Site, shared_repository


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path / "config", shared_repository())


@pytest.fixture
def tool(tmp_path: Path) -> Path:
    """A program that says what it got, by a name that Windows would take."""
    made = tmp_path / "tool.exe"
    made.write_text(
        f"#!{sys.executable}\nimport json, os, sys\n"
        "print(json.dumps([sys.argv[1:], dict(os.environ), os.getcwd(), sys.stdin.read()]))\n"
        'print("err", file=sys.stderr)\nsys.exit(int(sys.argv[1]))\n'
    )
    made.chmod(0o755)
    return made


class Launcher:
    """Starts the program here, with what Windows would be given; `started` is what was asked for."""

    def __init__(self, end: End | None = None) -> None:
        self.started: list[Start] = []
        self._end = end

    def __call__(self, start: Start) -> End:
        self.started.append(start)
        done = subprocess.run(
            [start.program, *arguments_of(start.command_line)[1:]],
            env=variables_of(start.environment),
            cwd=start.folder,
            stdin=start.streams[0],
            stdout=start.streams[1],
            stderr=start.streams[2],
            check=False,
        )
        return self._end or End("exited", done.returncode, 12, 4096, 0)


def loaded(name: str = "builder") -> Loaded:
    return for_machine(read(stock(name)), "win32", "", "little")


def attempt(
    site: Site, tool: Path, launcher: Launcher, request: bypass.Request | None, name: str = "builder", **other: object
) -> Outcome:
    host = site.host._replace(**{"environ": {**site.environ, "GITHUB_TOKEN": "t"}, **other})  # pyright: ignore[reportArgumentType]
    argv = (str(tool), "7", 'a "b"\\', "")
    params = {} if name == "test" else {"worktree": str(site.tree)}
    asked = Request(argv, params, stdin=b"in", bypass=request)
    if name == "agent-check":
        asked = asked._replace(params={"workdir": str(site.tree)})
    return run(loaded(name), asked, host, launcher)


@pytest.mark.parametrize("name", ["builder", "gate", "agent-check"])
def test_without_an_attestation_nothing_runs(site: Site, tool: Path, name: str) -> None:
    launcher = Launcher()
    outcome = attempt(site, tool, launcher, None, name)
    assert (outcome.kind, outcome.code, outcome.by) == ("setup-failed", 125, "sandbox")
    assert outcome.failure is not None
    assert outcome.failure.step == "containment_unavailable"
    assert "no sandbox on Windows" in outcome.failure.why
    assert launcher.started == []


@pytest.mark.parametrize("name", ["gate", "agent-check"])
def test_an_attestation_is_for_the_builder_alone(site: Site, tool: Path, name: str) -> None:
    launcher = Launcher()
    outcome = attempt(site, tool, launcher, site.request(), name)
    assert outcome.failure is not None
    assert outcome.failure.step == "containment_unavailable"
    assert launcher.started == []


def test_an_attested_run_says_loudly_what_it_is(site: Site, tool: Path) -> None:
    launcher = Launcher()
    outcome = attempt(site, tool, launcher, site.request())
    assert (outcome.kind, outcome.by, outcome.status, outcome.code) == ("exited", "command", 7, 7)
    arguments, environment, folder, stdin = json.loads(outcome.stdout.kept)
    assert arguments == ["7", 'a "b"\\', ""]
    assert stdin == "in"
    assert folder == str(site.tree.resolve())
    assert outcome.stderr.kept == b"err\n"
    assert {"SBC_ADMIN_KEY", "GITHUB_TOKEN"}.isdisjoint(environment)
    assert environment["PATH"] == site.environ["PATH"]
    assert KEY_TEXT not in repr((outcome, launcher.started))

    assert outcome.isolation is None
    assert outcome.bypass is not None
    assert (outcome.run_id, outcome.bypass.run_id, outcome.bypass.authorized_by) == (
        "run-1",
        "run-1",
        "the administrator",
    )
    lost = {one.text for one in outcome.losses}
    assert {"read /", "network host", "write ${worktree}", "containment required"} <= lost
    assert all(one.direction == "wider" for one in outcome.losses)

    made = report(outcome, loaded().bundle, {}, ())
    plain = json.loads(to_json(made))
    assert (plain["level"], plain["verified"], plain["backend"]) == ("none", False, None)
    assert plain["bypass"]["nonce_sha256"] == nonce_hash(NONCE)
    assert set(plain["protections"].values()) == {"unread"}
    assert plain["environment_digest"] is None
    assert NONCE not in to_json(made).decode()
    assert "NO SANDBOX: isolation none, by an attestation of the administrator for run run-1" in to_text(made)


def test_success_without_a_sandbox_is_not_ok(site: Site, tool: Path) -> None:
    outcome = attempt(site, tool, Launcher(End("exited", 0, 1, 1, 0)), site.request())
    assert (outcome.code, outcome.status) == (0, 0)
    assert not outcome.ok


def test_an_attestation_is_used_up(site: Site, tool: Path) -> None:
    launcher, request = Launcher(), site.request()
    assert attempt(site, tool, launcher, request).kind == "exited"
    again = attempt(site, tool, launcher, request)
    assert again.kind == "setup-failed"
    assert "`nonce` was used before" in str(again.failure)
    assert len(launcher.started) == 1


def test_on_another_platform_an_attestation_is_refused_before_anything_else(site: Site, tool: Path) -> None:
    launcher = Launcher()
    for name, argv_tool in (("builder", tool), ("gate", Path("/nothing"))):
        outcome = attempt(site, argv_tool, launcher, bypass.Request(b"", lambda: True, ""), name, platform="linux")
        assert outcome.failure is not None
        assert outcome.failure.why == "sandbox bypass attestation is only supported on Windows"
        assert (outcome.kind, outcome.code) == ("setup-failed", 125)
    assert launcher.started == []


def test_the_api_refuses_it_here(site: Site) -> None:
    profile = sbc_runtime.load(stock("builder"))
    outcome = profile.run(["true"], params={"worktree": str(site.tree)}, bypass=site.request())
    assert outcome.failure is not None
    assert outcome.failure.why == "sandbox bypass attestation is only supported on Windows"


def test_what_cannot_be_started_uses_no_attestation(site: Site, tmp_path: Path) -> None:
    launcher, request = Launcher(), site.request()
    outcome = attempt(site, tmp_path / "none.exe", launcher, request)
    assert (outcome.code, outcome.by) == (127, "sandbox")
    script = tmp_path / "script.cmd"
    script.touch()
    assert attempt(site, script, launcher, request).code == 126
    assert launcher.started == []
    assert not (site.folder / "used-nonces").exists()


@pytest.mark.parametrize(
    ("end", "told"),
    [
        (End("exited", 0xC0000005, 1, 1, 0), ("exited", 255, 255)),
        (End("exited", 256, 1, 1, 0), ("exited", 255, 255)),
        (End("timed-out", 137, 1, 1, 0), ("timed-out", 124, None)),
        (End("cpu-limit", 1816, 1, 1, 0), ("cpu-limit", 137, None)),
        (End("sandbox-failed", 0, 1, 1, 0), ("sandbox-failed", 125, None)),
    ],
)
def test_ends(site: Site, tool: Path, end: End, told: tuple[str, int, int | None]) -> None:
    outcome = attempt(site, tool, Launcher(end), site.request())
    assert (outcome.kind, outcome.code, outcome.status) == told
    assert outcome.bypass is not None
    to_json(report(outcome, loaded().bundle, {}, ()))


LIMITED = """sbx 1
profile builder {
  param worktree : dir
  files { root host; read /; write ${worktree} }
  network none
  environment { keep { SBC_* KEPT }; drop OTHER; on linux { keep LINUX; drop KEPT_NOT } }
  limits { wall 2s; cpu 1s; memory 64MiB; processes 9; output 1KiB; open-files 10; on linux { file-size 1KiB } }
}
"""


def test_limits_and_environment_of_a_builder_of_ones_own(site: Site, tool: Path) -> None:
    launcher = Launcher()
    environ = {**site.environ, "KEPT": "1", "LINUX": "1", "SBC_OTHER": "2"}
    asked = Request((str(tool), "0"), {"worktree": str(site.tree)}, stderr="null", timeout=1.5, bypass=site.request())
    mine = for_machine(read(bundle(LIMITED)), "win32", "", "little")
    outcome = run(mine, asked, site.host._replace(environ=environ), launcher)
    assert json.loads(outcome.stdout.kept)[1].items() >= {"KEPT": "1", "SBC_OTHER": "2"}.items()
    assert variables_of(launcher.started[0].environment) == {"KEPT": "1", "SBC_OTHER": "2"}
    limits = launcher.started[0].limits
    assert (limits.wall, limits.cpu, limits.memory, limits.processes) == (1500, 1000, 64 << 20, 9)
    how = {one.key: one.how for one in outcome.limits}
    assert how == {
        "wall": ("timer",), "cpu": ("job",), "memory": ("job",), "processes": ("job",), "output": ("none",),
        "open-files": ("none",),
    }  # fmt: skip


def test_the_clock_is_the_hosts(site: Site, tool: Path) -> None:
    outcome = attempt(site, tool, Launcher(), site.request(), now=lambda: NOW + 3600)
    assert "`expiresAt` has passed" in str(outcome.failure)


def test_no_profile_gives_a_command_the_key() -> None:
    patterns = read(bundle(ALL_KEPT)).plan.environment
    caller = {"SBC_ADMIN_KEY": KEY_TEXT, "sbc_admin_key": KEY_TEXT, "SBC_OTHER": "1"}
    assert build(patterns, caller, {}) == (("SBC_OTHER", "1"),)


ALL_KEPT = "syscalls none\nfiles { root host; read / }\nenvironment { keep { * SBC_ADMIN_KEY } }"
