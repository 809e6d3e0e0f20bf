"""`sbc` and `sbc_runtime` where Python has what it has on Windows: nothing fails for want of a module of Unix."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sbc_runtime.bundle import decode
from tests.runtime.support import stock
from tests.shared_data import ROOT
from tests.windows.support import KEY_TEXT, Site, shared_repository, stamp

STAND_IN = [
    sys.executable,
    str(Path(__file__).with_name("as_windows.py")),
    str(ROOT / "compiler"),
    str(ROOT / "runtime"),
]
BUILDER = str(ROOT / "profiles" / "builder.sbx")


def as_windows(*arguments: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*STAND_IN, "--", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": os.environ["PATH"], "LOCALAPPDATA": "/nothing", **environ},
    )


@pytest.mark.parametrize("backend", ["auto", "namespace", "bwrap", "seatbelt", "oci", "process"])
def test_run_refuses_whatever_the_backend(backend: str) -> None:
    file = {"auto": BUILDER, "process": str(stock("agent-check"))}.get(backend, "/nothing.sbx")
    done = as_windows("sbc", "run", file, "--backend", backend, "-D", "worktree=.", "--", "true")
    assert done.returncode == 125
    assert done.stdout == ""
    assert done.stderr.startswith("sbc run: containment_unavailable: there is no sandbox on Windows")
    assert len(done.stderr.splitlines()) == 1


def test_a_gate_is_refused_even_where_its_sandbox_is_switched_off() -> None:
    done = as_windows("sbc", "run", "/nothing.sbx", "--gate", "--", "true", SBC_SANDBOX_GATES="0")
    assert done.returncode == 125
    assert done.stderr.splitlines()[0] == "gate refused: sandboxing requested but unavailable"
    assert done.stderr.splitlines()[1].startswith("sbc run: containment_unavailable")


def test_a_refused_run_has_a_report(tmp_path: Path) -> None:
    place = tmp_path / "report.json"
    done = as_windows("sbc", "run", str(stock("builder")), "-D", "worktree=.", "--report", str(place), "--", "true")
    assert done.returncode == 125
    assert "containment_unavailable" in done.stderr
    made = json.loads(place.read_text())
    assert made["outcome"]["failure"]["step"] == "containment_unavailable"
    assert (made["level"], made["verified"], made["bypass"]) == ("none", False, None)


def test_the_compiler_works(tmp_path: Path) -> None:
    profile = tmp_path / "small.sbx"
    profile.write_text("sbx 1\nprofile small {\n  syscalls none\n  files { root host; read / }\n}\n")
    done = as_windows("sbc", "check", str(profile))
    assert done.returncode in {0, 1}, done.stderr
    done = as_windows("sbc", "compile", str(profile), "-o", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    made = (tmp_path / "out" / "small.sbb").read_bytes()
    assert decode(made).profile == "small"
    assert not [one for one in os.listdir(tmp_path / "out") if one.startswith(".")]
    done = as_windows("sbc", "compile", str(profile), "-o", str(tmp_path / "out" / "small.sbb"))
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_doctor_says_so() -> None:
    done = as_windows("sbc", "doctor", "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert (found["system"], found["auto"], found["ready"], found["uid"]) == ("Windows", None, False, None)
    assert "there is no sandbox on Windows" in as_windows("sbc", "doctor").stdout


def test_help_of_every_command_is_there() -> None:
    program = """
from sbc.cli.commands import COMMANDS
from sbc.cli.main import main
for command in COMMANDS:
    print("=", command.name, main([command.name, "--help"]))
"""
    done = as_windows("python", program)
    told = [line for line in done.stdout.splitlines() if line.startswith("= ")]
    assert "= run 0" in told, done.stderr
    assert all(line.endswith(" 0") for line in told)


def test_the_api_refuses() -> None:
    program = f"""
import sbc_runtime
from sbc_runtime import api, attestation, bypass, windows_job
profile = sbc_runtime.load({str(stock("builder"))!r})
for outcome in (
    profile.run(["true"], params={{"worktree": "."}}),
    profile.start(["true"], params={{"worktree": "."}}).wait(),
):
    print(outcome.kind, outcome.code, outcome.failure.step)
print(profile.start(["true"]).report().level)
"""
    done = as_windows("python", program)
    assert done.stdout.splitlines() == ["setup-failed 125 containment_unavailable"] * 2 + ["none"], done.stderr


def run_attested(site: Site, document: bytes, *options: str, **environ: str) -> "subprocess.CompletedProcess[str]":
    place = site.folder.parent / "attestation.json"
    place.write_bytes(document)
    return as_windows(
        "sbc", "run", str(stock("builder")), "-D", f"worktree={site.tree}", "--attestation", str(place), *options, "--",
        str(site.folder.parent / "tool.exe"), LOCALAPPDATA=str(site.folder.parent), **environ,
    )  # fmt: skip


@pytest.fixture
def site(tmp_path: Path) -> Site:
    (tmp_path / "tool.exe").touch()
    return Site(tmp_path / "sbc", shared_repository())


def test_an_attestation_needs_a_check_by_an_absolute_path(site: Site) -> None:
    done = run_attested(site, b"{}")
    assert done.returncode == 125
    assert "needs `--active-sandbox-check`" in done.stderr
    done = run_attested(site, b"{}", "--active-sandbox-check", "true")
    assert done.returncode == 125
    assert "absolute path" in done.stderr


def test_a_refused_attestation_never_shows_the_key(site: Site) -> None:
    done = run_attested(site, b"{}", "--active-sandbox-check", "/bin/true", SBC_ADMIN_KEY=KEY_TEXT)
    assert done.returncode == 125
    assert "`installationId` is missing" in done.stderr
    done = run_attested(site, b"{}", "--active-sandbox-check", "/bin/true", SBC_ADMIN_KEY=KEY_TEXT[:40])
    assert "`SBC_ADMIN_KEY` is no key" in done.stderr
    assert KEY_TEXT[:8] not in done.stderr
    done = run_attested(site, b"{}", "--active-sandbox-check", "/bin/true")
    assert "`SBC_ADMIN_KEY` is not set" in done.stderr
    done = as_windows(
        "sbc", "run", str(stock("builder")), "--attestation", "/nothing", "--active-sandbox-check", "/x", "--", "true"
    )
    assert (done.returncode, "/nothing" in done.stderr, "Traceback" in done.stderr) == (125, True, False)


_WHOLE = f"""
import sys, types
sys.path.insert(0, {str(ROOT)!r})
sys.modules["msvcrt"] = types.SimpleNamespace(get_osfhandle=lambda descriptor: descriptor)
from tests.windows.kernel import Kernel
from sbc_runtime import windows_job
windows_job.kernel32 = lambda: Kernel(code=0)
from sbc.cli.main import main
"""


def test_an_attested_run_of_the_whole_command(site: Site) -> None:
    """From the command line to the calls of kernel32, with the real clock, folder, git and check."""
    here, now = site.folder.parent, int(time.time())
    site.folder.mkdir(mode=0o700)
    (here / "git.exe").symlink_to(shutil.which("git") or "")
    check = here / "check"
    check.write_text(f"#!/bin/sh\nenv > {here}/seen\nexit $(cat {here}/status)\n")
    check.chmod(0o755)
    document, report = here / "attestation.json", here / "report.json"
    document.write_bytes(site.attested(timestamp=stamp(now), expiresAt=stamp(now + 600)))
    arguments = [
        "run", str(stock("builder")), "-D", f"worktree={site.tree}", "--attestation", str(document), "--run-id",
        "run-1", "--active-sandbox-check", str(check), "--report", str(report), "--", str(here / "tool.exe"), "a",
    ]  # fmt: skip

    def attempt(status: int) -> "subprocess.CompletedProcess[str]":
        (here / "status").write_text(str(status))
        return as_windows(
            "python", f"{_WHOLE}\nsys.exit(main({arguments!r}))", LOCALAPPDATA=str(here), SBC_ADMIN_KEY=KEY_TEXT,
            PATH=f"{here}:{os.environ['PATH']}",
        )  # fmt: skip

    done = attempt(1)
    assert (done.returncode, "active-sandbox check did not pass" in done.stderr) == (125, True), done.stderr
    assert "ADMIN" not in (here / "seen").read_text()
    done = attempt(0)
    assert done.returncode == 0, done.stderr
    assert "NO SANDBOX: isolation none, by an attestation of the administrator for run run-1" in done.stderr
    assert KEY_TEXT not in done.stdout + done.stderr + report.read_text()
    made = json.loads(report.read_text())
    assert (made["level"], made["verified"], made["bypass"]["run_id"]) == ("none", False, "run-1")
    done = attempt(0)
    assert (done.returncode, "`nonce` was used before" in done.stderr) == (125, True)


@pytest.mark.parametrize("option", [("--backend", "process"), ("--pty",), ("--cgroup-base", "/x")])
def test_what_needs_a_sandbox_does_not_go_with_an_attestation(site: Site, option: tuple[str, ...]) -> None:
    done = run_attested(site, b"{}", "--active-sandbox-check", "/bin/true", *option)
    assert done.returncode == 125
    assert f"`{option[0]}` needs a sandbox" in done.stderr


@pytest.mark.parametrize(
    "options", [("--attestation", "a.json"), ("--active-sandbox-check", "/bin/true"), ("--run-id", "x")]
)
def test_on_this_system_sbc_run_refuses_attestations(options: tuple[str, ...]) -> None:
    environ = {**os.environ, "PYTHONPATH": f"{ROOT / 'compiler'}{os.pathsep}{ROOT / 'runtime'}"}
    command = [sys.executable, "-m", "sbc.cli.main", "run", BUILDER, *options, "-D", "worktree=.", "--", "true"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environ)
    assert done.returncode == 125
    assert "sandbox bypass attestation is only supported on Windows" in done.stderr
